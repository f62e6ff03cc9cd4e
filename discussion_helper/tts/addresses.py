"""Addresses: URLs, e-mail, domains, paths and identifiers as they are read out."""

import re

from discussion_helper.tts.vocabulary import Vocabulary

__all__ = ["read_addresses", "read_dots"]

_URL = re.compile(r"(?<![\w])(?:[a-zA-Z][a-zA-Z0-9+.-]{1,15}://|www\.(?=\w)|mailto:)([^\s<>\"']*)")
_TRAILING = ".,;:!?)]}…"
_EMAIL = re.compile(r"(?<![\w.+-])([\w.+-]{1,64})@(\w[\w-]{0,62}(?:\.[\w-]{1,63}){1,8})")
_HANDLE = re.compile(r"(?<!\S)@(?=\w)")
_PATH = re.compile(
    r"(?<![\w/.~])(?:[~.]{1,2}/|/)?\w[\w.-]{0,99}(?:/[\w.-]{1,100}){1,30}/?|(?<![\w/.~])(?:~/|/)\w[\w.-]{0,99}/?"
)
_DOTTED = re.compile(r"(?<=[^\W_])\.(?=[^\W\d_])")
_SENTENCE_GLUE = re.compile(r"(?<=[a-zà-ÿ]{2}[.!?])(?=[A-ZÀ-Þ][a-zà-ÿ])")
_UNDERSCORES = re.compile(r"_+")


def read_addresses(text: str, words: Vocabulary | None) -> str:
    """`text` with its addresses in words: the host of a URL, paths with their slashes, "snake_case" as two words."""
    dot, slash, at = (f" {words.dot} ", f" {words.slash} ", f" {words.at} ") if words else (" ", " ", " ")
    text = _SENTENCE_GLUE.sub(" ", text)
    if "://" in text or "www." in text or "mailto:" in text:
        text = _URL.sub(lambda match: _url(match[1], dot, at), text)
    if "@" in text:
        text = _EMAIL.sub(lambda match: match[1].replace(".", dot) + at + match[2].replace(".", dot), text)
        text = _HANDLE.sub(at.lstrip(), text)
    if "/" in text:
        text = _PATH.sub(lambda match: _path(match[0], dot, slash), text)
    return _UNDERSCORES.sub(" ", text)


def read_dots(text: str, words: Vocabulary | None) -> str:
    """`text` with the full stops inside names ("example.com", "main.py") in words, abbreviations being gone."""
    if "." not in text:
        return text
    return _DOTTED.sub(f" {words.dot} " if words else " ", text)


def _url(address: str, dot: str, at: str) -> str:
    kept = address.rstrip(_TRAILING)
    host = re.split(r"[/?#]", kept, maxsplit=1)[0]
    if "@" in host and "://" not in address:
        host = host.replace("@", at, 1)
    host = host.split(":")[0].removeprefix("www.")
    if not host:
        return address  # a file's path
    return host.replace(".", dot) + address[len(kept) :]


def _path(path: str, dot: str, slash: str) -> str:
    end = "." if path.endswith(".") else ""
    path = path.removesuffix(".")
    parts = path.split("/")
    if path.replace("/", "").isdigit():
        return path + end  # a fraction or a date
    if len(parts) == 2 and "." not in path and all(parts):
        return path + end  # "and/or", "km/h"
    return slash.join(parts).strip().replace(".", dot) + end

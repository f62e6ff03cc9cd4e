"""Numbers in words, in the languages that have a vocabulary; elsewhere the phonemiser reads the digits."""

import re
from dataclasses import dataclass
from functools import lru_cache

from discussion_helper.tts.vocabulary import Vocabulary, base_language

__all__ = ["read_decades", "read_numbers"]

_NUMBER = re.compile(r"(?<![\w])(?<!\d[.,])\d++(?:[.,]\d++|[ ]\d{3}(?![\w.,]))*+(?!\w)|(?<![\w.])[.](?=\d)\d++(?!\w)")
_ORDINAL = {
    "en": re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d{1,9})(?:st|nd|rd|th)(?!\w)"),
    "fr": re.compile(r"(?<![\w.,])(\d{1,9})(?:er|re|ère|e|ème)(?!\w)"),
    "nl": re.compile(r"(?<![\w.,])(\d{1,9})(?:ste|de|e)(?!\w)"),
    **dict.fromkeys(("es", "it", "pt"), re.compile(r"(?<![\w.,])(\d{1,9})\.?([ºª])(?!\w)")),
}
_GERMAN_DAY = re.compile(
    r"(?:(?<!\w)(am|vom|zum|dem|den|des|im|seit|der|die|das)[ ])?(?<![\w.,])(\d{1,2})\."
    r"(?=[ ](?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jahrhundert)\b)",
    re.IGNORECASE,
)
_DECADE = re.compile(r"(?<![\w.,$€£])'?((?:1[1-9]|20)?[1-9]0)'?s(?!\w)")
_LONGEST = 15
"""Digits; a longer number is read digit by digit."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a language writes and reads a number."""

    language: str
    decimal: str
    group: str
    point: str
    dot: str


def read_numbers(text: str, language: str, words: Vocabulary | None) -> str:
    """`text` with its numbers in words. `words` is the vocabulary of `language`."""
    if words is None:
        return text
    base = base_language(language)
    if base == "de":
        text = _GERMAN_DAY.sub(lambda match: _german_day(match, language), text)
    if pattern := _ORDINAL.get(base):
        text = pattern.sub(lambda match: _ordinal(match, language), text)
    reading = _Reading(
        language=language,
        decimal="," if words.comma_decimals else ".",
        group="." if words.comma_decimals else ",",
        point=words.point,
        dot=words.dot,
    )
    return _NUMBER.sub(lambda match: _number(match[0], reading), text)


def read_decades(text: str, language: str) -> str:
    """`text` with the English "1990s" and "'80s" in words: before units, for which "s" is a second."""
    return _DECADE.sub(lambda match: _decade(match, language), text) if base_language(language) == "en" else text


def _number(token: str, reading: _Reading) -> str:
    if " " in token and not re.fullmatch(r"\d{1,3}(?: \d{3})+(?:[.,]\d+)?", token):
        return " ".join(_plain(part, reading) for part in token.split(" "))
    return _plain(token.replace(" ", ""), reading)


def _plain(token: str, reading: _Reading) -> str:
    """One number without spaces. Either mark may part decimals where the digits leave no doubt."""
    decimal, group = reading.decimal, reading.group
    if re.fullmatch(rf"\d{{1,3}}(?:\{group}\d{{3}})+(?:\{decimal}\d+)?", token):
        token = token.replace(group, "")
    if token.isdigit():
        return _whole(token, reading.language)
    if re.fullmatch(r"\d*[.,]\d+", token):
        return _decimal(token.replace(",", "."), reading)
    separator = f" {reading.dot} " if "." in token else ", "
    return separator.join(_whole(part, reading.language) for part in re.split(r"[.,]", token) if part)


def _decimal(token: str, reading: _Reading) -> str:
    whole, _, fraction = token.partition(".")
    digits = " ".join(_whole(digit, reading.language) for digit in fraction)
    return f"{_whole(whole, reading.language) if whole else ''} {reading.point} {digits}".strip()


def _whole(digits: str, language: str) -> str:
    if len(digits) > _LONGEST or (digits[0] == "0" and len(digits) > 1):
        return " ".join(_spell(digit, language, "cardinal") or digit for digit in digits)
    if len(digits) == 4 and (1600 <= int(digits) < 2000 or 2010 <= int(digits) < 2100):
        return _spell(digits, language, "year") or digits
    return _spell(digits, language, "cardinal") or digits


def _decade(match: re.Match[str], language: str) -> str:
    spoken = _spell(match[1], language, "year" if len(match[1]) == 4 else "cardinal") or match[1]
    return f"{spoken[:-1]}ies" if spoken.endswith("y") else f"{spoken}s"


def _ordinal(match: re.Match[str], language: str) -> str:
    spoken = _spell(match[1].replace(",", ""), language, "ordinal")
    if spoken is None:
        return match[0]
    return re.sub(r"o\b", "a", spoken) if match[0].endswith("ª") else spoken


def _german_day(match: re.Match[str], language: str) -> str:
    ordinal = _spell(match[2], language, "ordinal")
    if ordinal is None:
        return match[0]
    article = (match[1] or "").lower()
    ending = "r" if not article else "" if article in {"der", "die", "das"} else "n"
    return f"{match[1] + ' ' if match[1] else ''}{ordinal}{ending}"


@lru_cache(maxsize=1024)
def _spell(number: str, language: str, kind: str) -> str | None:
    """The whole `number` in words; None where the library has no such form.

    Only whole numbers, and only languages with a vocabulary: for others the library may read a fraction wrong, or
    never return (num2words 0.5.14, Amharic).
    """
    from num2words import CONVERTER_CLASSES, num2words

    base, _, region = language.replace("-", "_").partition("_")
    regional = f"{base.lower()}_{region.upper()}"
    code = regional if regional in CONVERTER_CLASSES else base.lower()
    try:
        # The commas of "one thousand, two hundred" would be pauses.
        return str(num2words(int(number), lang=code, to=kind)).replace(",", "").strip()
    except (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError):
        return None

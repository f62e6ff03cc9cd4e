"""Text for a terminal: harmless, and wrapped at its width."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from prompt_toolkit.utils import get_cwidth

__all__ = ["Fragment", "Line", "cells", "printable", "shortened", "wrap"]

Fragment = tuple[str, str]
"""A style and a text, as prompt_toolkit takes them."""
Line = list[Fragment]

_MERGING = re.compile(
    r"(?<=[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d|[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff]"
)
"""What makes one picture of several characters, in a width on which terminals do not agree."""
_FLAG = range(0x1F1E6, 0x1F200)
"""Letters that make a flag in pairs."""
_BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
"""Marks that turn the direction of what follows, also of what is not part of the text."""


def printable(text: str) -> str:
    """The text on one line, without a character that a terminal would obey instead of showing it.

    Line breaks and tabs become spaces, other control characters and lone surrogates U+FFFD; marks that change the
    direction of text go. Emoji come apart, and flags become their letters, so that every terminal takes the same number
    of columns for it.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_harmless, _MERGING.sub("", text)))


def _harmless(character: str) -> str:
    category = unicodedata.category(character)
    if character.isspace():
        return " "
    if category in ("Cc", "Cs"):
        return "\ufffd"
    if ord(character) in _FLAG:
        return chr(ord("A") + ord(character) - _FLAG.start)
    return "" if unicodedata.bidirectional(character) in _BIDI else character


def cells(fragments: Iterable[Fragment]) -> int:
    """The columns that fragments take."""
    return sum(get_cwidth(text) for _, text in fragments)


def shortened(text: str, width: int) -> str:
    """The beginning of the text, in `width` columns at most."""
    if get_cwidth(text) <= width:
        return text
    kept, used = "", 1  # the ellipsis
    for character in text:
        used += get_cwidth(character)
        if used > width:
            break
        kept += character
    return kept + "…" if width > 0 else ""


def wrap(fragments: Iterable[Fragment], width: int, *, indent: int = 0) -> list[Line]:
    """Lines of `width` columns at most, the second and later ones indented where there is room for that.

    Breaks between words, and inside those that are longer than a line, as whole sentences of some languages are.
    """
    width = max(1, width)
    room = width - indent
    filling = _Filling(width, indent if room >= max(indent, 2) else 0)  # no character is wider than 2
    for style, text in fragments:
        for word in re.findall(r" +|[^ ]+", text):
            filling.add(style, word)
    return filling.lines


class _Filling:
    """Lines that fill up word by word."""

    def __init__(self, width: int, indent: int) -> None:
        self.lines: list[Line] = [[]]
        self._width = width
        self._indent = indent
        self._used = 0

    def add(self, style: str, word: str) -> None:
        size = get_cwidth(word)
        if self._used + size <= self._width:
            self._put(style, word, size)
        elif word.isspace():
            return  # the line break that must follow stands for it
        elif size <= self._width - self._indent:
            self._begin_line()
            self._put(style, word, size)
        else:
            self._add_in_pieces(style, word)

    def _add_in_pieces(self, style: str, word: str) -> None:
        for piece, size in _pieces(word, self._width - self._used, self._width - self._indent):
            if self._used + size > self._width and self._used > self._indent:
                self._begin_line()
            self._put(style, piece, size)

    def _put(self, style: str, text: str, size: int) -> None:
        if text.isspace() and len(self.lines) > 1 and self._used == self._indent:
            return
        self.lines[-1].append((style, text))
        self._used += size

    def _begin_line(self) -> None:
        self.lines.append([("", " " * self._indent)] if self._indent else [])
        self._used = self._indent


def _pieces(word: str, first: int, room: int) -> Iterator[tuple[str, int]]:
    """The word in pieces of `first`, then `room` columns at most; one character at least in each."""
    piece, used = "", 0
    for character in word:
        size = get_cwidth(character)
        if piece and used + size > first:
            yield piece, used
            piece, used, first = "", 0, room
        piece, used = piece + character, used + size
    if piece:
        yield piece, used

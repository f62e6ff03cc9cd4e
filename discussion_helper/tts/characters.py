"""Characters: which of a text's can be spoken, and the plain forms of the others."""

import re
import unicodedata

__all__ = ["clean", "drop_symbols"]

_FULL_WIDTH = "".join(map(chr, (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))))
_PLAIN = str.maketrans({
    **{letter: chr(ord(letter) - 0xFEE0) for letter in _FULL_WIDTH},
    "’": "'", "‘": "'", "ʼ": "'", "′": "'", "`": "`",
    "‐": "-", "‑": "-", "−": "-", "﹣": "-", "－": "-",
    "‼": "!", "⁉": "?", "⁇": "?", "⁈": "?", "‽": "?",
    "…": "...", "℃": "°C", "℉": "°F", "％": "%", "＄": "$", "￡": "£", "￥": "¥", "￦": "₩",
    "＆": "&", "＋": "+", "＝": "=",
    "\r": "\n", "\u2028": "\n", "\u2029": "\n", "\t": " ", "\x0b": "\n", "\x0c": "\n",
    "№": "#",
})  # fmt: skip

_FULL_WIDTH_MARK = re.compile(r"(?<=\d)[，．：](?=\d)")

_JOINERS = "\u200c\u200d"
_KEPT_SYMBOLS = frozenset("$€£¥₹₩₽₺₴₫₪฿%°+=<>^`|~×÷±≤≥≠≈√∞→⇒←¢²³µΩ¬")


def clean(text: str) -> str:
    """`text` without control characters, bidi marks and emoji; look-alikes of plain characters are made plain."""
    text = unicodedata.normalize("NFC", text).translate(_PLAIN)
    text = _FULL_WIDTH_MARK.sub(lambda match: chr(ord(match[0]) - 0xFEE0), text)
    if text.isascii():
        return "".join(filter(_sayable, text)) if not text.isprintable() else text
    return "".join(_kept(text))


def drop_symbols(text: str, kept: str = "") -> str:
    """`text` without any symbol or bracket that is left, except those in `kept`."""
    if text.isalpha():
        return text
    return "".join(
        character if character in kept or unicodedata.category(character)[0] != "S" else " " for character in text
    )


def _kept(text: str) -> list[str]:
    kept: list[str] = []
    for character in text:
        if character in _JOINERS:
            # A joiner is spelling between letters of Indic and Arabic scripts, and glue in an emoji.
            if kept and unicodedata.category(kept[-1])[0] in "LM":
                kept.append(character)
        elif _sayable(character):
            kept.append(" " if character.isspace() and character != "\n" else character)
        elif kept and not kept[-1].isspace() and unicodedata.category(character) == "So":
            kept.append(" ")
    return kept


def _sayable(character: str) -> bool:
    if character == "\n" or character in _KEPT_SYMBOLS:
        return True
    category = unicodedata.category(character)
    if category in {"So", "Sk", "Me", "Sm"} or category[0] == "C":
        return False
    return not ("\ufe00" <= character <= "\ufe0f" or character in "\ufffc\ufffd〰")

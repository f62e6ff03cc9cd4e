"""Punctuation of many scripts: what ends a sentence, what ends a clause, what opens and closes."""

import re
import unicodedata

__all__ = [
    "CLOSERS",
    "EM_DASHES",
    "SOFT_AT_ONCE",
    "SOFT_BEFORE_SPACE",
    "STOPS_AT_ONCE",
    "is_joined",
    "is_spaceless",
    "open_marks",
    "width",
    "word_count",
]

STOPS_AT_ONCE = frozenset(
    "!?"  # Latin, Cyrillic
    "。！？｡．"  # Chinese, Japanese
    "।॥"  # Devanagari, Bengali and their neighbours
    "؟۔"  # Arabic, Urdu
    "\u037e"  # Greek question mark
    "։"  # Armenian
    "።፧፨"  # Ethiopic
    "။"  # Burmese
    "។៕"  # Khmer
    "།༎"  # Tibetan
    "᠃᠉"  # Mongolian
    "‼⁇⁈⁉‽"
)
"""Marks that end a sentence whatever follows."""

SOFT_AT_ONCE = frozenset("，、；：،؛፣፤፥၊·\u0387")
"""Marks that end a clause and never stand inside a number or a word."""

SOFT_BEFORE_SPACE = frozenset(",;:")
"""Marks that end a clause only when white space follows: "1,000", "14:30"."""

EM_DASHES = frozenset("—―")
"""Dashes that part clauses even between two letters."""

_PAIRS = {
    "(": ")", "[": "]", "{": "}", "“": "”", "‘": "’", "«": "»", "‹": "›", "„": "“", "‚": "‘",
    "「": "」", "『": "』", "（": "）", "【": "】", "《": "》", "〈": "〉", "〔": "〕",
}  # fmt: skip

CLOSERS = frozenset([*_PAIRS.values(), '"', "'", "*", "_", "`", "~"])
"""Marks that belong to the sentence they follow; Markdown's emphasis is among them."""

# Scripts written without spaces between words. Characters to a word: about 2 for Han, kana and 5 for the others.
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_SOUTH_EAST = re.compile(r"[\u0e00-\u0eff\u0f40-\u0fbc\u1000-\u109f\u1780-\u17d3]")
_SPACED_WORD = re.compile(r"[^\W_]+(?:['’.,:/@-][^\W_]+)*")


def is_spaceless(character: str) -> bool:
    """Whether `character` belongs to a script written without spaces between words."""
    return bool(_HAN.match(character) or _SOUTH_EAST.match(character))


def width(character: str) -> int:
    """How much of a clause's length `character` uses: 3 for a Han or kana character, which is spoken longer."""
    return 3 if _HAN.match(character) else 1


def is_joined(character: str) -> bool:
    """Whether `character` is drawn together with the one before it: an accent, a joiner, a skin tone."""
    return unicodedata.category(character)[0] == "M" or character in "\u200c\u200d" or "🏻" <= character <= "🏿"


def word_count(text: str) -> int:
    """Words in `text`, estimated by character count where a script has no spaces."""
    han, south_east = len(_HAN.findall(text)), len(_SOUTH_EAST.findall(text))
    if han or south_east:
        text = _SOUTH_EAST.sub(" ", _HAN.sub(" ", text))
    return len(_SPACED_WORD.findall(text)) + (han + 1) // 2 + (south_east + 4) // 5


def open_marks(text: str, carried: str = "") -> str:
    """The closing marks that `text` still owes, innermost last, at most 16; `carried` is owed before it."""
    owed = list(carried)
    for index, mark in enumerate(text):
        before = text[index - 1] if index else " "
        after = text[index + 1] if index + 1 < len(text) else " "
        if mark == before and mark in "*_":
            continue  # "**" is one mark
        if mark in owed and _closes(mark, after):
            del owed[len(owed) - 1 - owed[::-1].index(mark) :]
        elif mark in _PAIRS:
            owed.append(_PAIRS[mark])
        elif mark == '"' or (mark in "'*_" and not _is_word(before) and not after.isspace()):
            owed.append(mark)
    return "".join(owed[-16:])


def _closes(mark: str, after: str) -> bool:
    return mark not in "'’_" or not _is_word(after)


def _is_word(character: str) -> bool:
    return character.isalnum()

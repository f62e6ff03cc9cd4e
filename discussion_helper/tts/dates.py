"""Dates and times of day, in the order and the words of speech; their numbers stay digits."""

import re

from discussion_helper.tts.vocabulary import Vocabulary

__all__ = ["ordinal_suffix", "read_dates"]

_ISO = re.compile(r"(?<![\w.-])(\d{4})-(\d{2})-(\d{2})(?:[T ](?=\d{2}:)|(?![\w-]))")
_TIME = re.compile(
    r"(?<![\w:.,])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,9})?)?Z?(?!\w|[:.,]\d)"
    r"(?:[ ]?([aApP])[mM]\b|[ ](?:Uhr|heures|uur)\b)?"
)
_LETTERED_TIME = re.compile(r"(?<![\w:.,])([01]?\d|2[0-4])[ ]?h[ ]?([0-5]\d)(?!\w)")
_WRITTEN_DATES = {
    "de": re.compile(r"(?<![\w.,/-])(\d{1,2})\.[ ]?(\d{1,2})\.[ ]?(\d{4})(?![\w])"),
    "nl": re.compile(r"(?<![\w.,/-])(\d{1,2})[-/](\d{1,2})[-/](\d{4})(?![\w/-])"),
    **dict.fromkeys(("fr", "es", "it", "pt"), re.compile(r"(?<![\w.,/-])(\d{1,2})[/.](\d{1,2})[/.](\d{4})(?![\w/-])")),
}
"""Day, month, year. In English the order tells nobody which is which, so the numbers are read as they stand."""
_DOTTED_TIMES = {
    "de": re.compile(r"(?<![\w:.,])([01]?\d|2[0-4])\.([0-5]\d)(?=[ ]Uhr\b)"),
    "nl": re.compile(r"(?<![\w:.,])([01]?\d|2[0-4])\.([0-5]\d)(?=[ ]uur\b)"),
    "it": re.compile(r"(?<=\bore[ ])([01]?\d|2[0-4])\.([0-5]\d)(?![\w.,])"),
}
_FIRST_OF = re.compile(
    r"(?<![\w.,])1°[ ](?=(?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio"
    r"|agosto|settembre|ottobre|novembre|dicembre)\b)"
)
"""An Italian date; elsewhere "1°" is a degree."""
_HOUR = re.compile(r"(?<![\w:.,])(1[0-2]|[1-9])[ ]?([aApP])\.?[mM]\b(\.?)")
_DAY = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December)[ ]"
    r"(3[01]|[12]\d|[1-9])(?=[,.;:!?)](?!\d)|$|[ ](?:at|is|was|and|or|to|until|through|from|in|with|when|we|I|the)\b)"
)


def read_dates(text: str, language: str, words: Vocabulary | None) -> str:
    """`text` with ISO dates and times of day as they are said in `language`, whose vocabulary is `words`."""
    if words is None:
        return text
    text = _ISO.sub(lambda match: _iso(match, words), text)
    if language == "en":
        text = _HOUR.sub(_hour, text)
        text = _DAY.sub(lambda match: match[0] + ordinal_suffix(int(match[2])), text)
    if pattern := _WRITTEN_DATES.get(language):
        text = pattern.sub(lambda match: _date(match, words), text)
    if language == "it":
        text = _FIRST_OF.sub("1º ", text)
    if pattern := _DOTTED_TIMES.get(language):
        text = pattern.sub(r"\1:\2", text)
    if language in ("fr", "pt"):
        text = _LETTERED_TIME.sub(r"\1:\2", text)
    return _TIME.sub(lambda match: _time(match, language, words), text)


def ordinal_suffix(number: int) -> str:
    """English: "st" of 1, "th" of 11."""
    if 11 <= number % 100 <= 13:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _iso(match: re.Match[str], words: Vocabulary) -> str:
    year, month, day = (int(part) for part in match.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return match[0]
    name, suffix = words.months[month - 1], ordinal_suffix(day)
    return words.date.format(day=day, month=name, year=year, suffix=suffix) + (", " if match[0][-1] in "T " else "")


def _date(match: re.Match[str], words: Vocabulary) -> str:
    day, month, year = (int(part) for part in match.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return match[0]
    return words.date.format(day=day, month=words.months[month - 1], year=year, suffix="")


def _hour(match: re.Match[str]) -> str:
    return f"{match[1]} {match[2].upper()}M" + ("." if match.end() == len(match.string) and match[3] else "")


def _time(match: re.Match[str], language: str, words: Vocabulary) -> str:
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
    if language == "en":
        spoken = _english_time(hour, minute, half=(match[4] or "").upper())
    else:
        spoken = " ".join(filter(None, (str(hour), words.clock, str(minute) if minute else "")))
    return f"{spoken} {words.and_} {second}" if second else spoken


def _english_time(hour: int, minute: int, *, half: str) -> str:
    if minute:
        spoken = f"{hour} {minute}" if minute >= 10 else f"{hour} oh {minute}"
    elif half:
        spoken = str(hour)
    elif 1 <= hour <= 12:
        spoken = f"{hour} o'clock"
    else:
        spoken = f"{hour} hundred" if hour else "midnight"
    return f"{spoken} {half}M" if half else spoken

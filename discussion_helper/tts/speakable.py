"""Speakable text: what a synthesiser can say of a written clause."""

import re

from discussion_helper.tts.abbreviations import expand_abbreviations
from discussion_helper.tts.addresses import read_addresses, read_dots
from discussion_helper.tts.characters import clean, drop_symbols
from discussion_helper.tts.dates import read_dates
from discussion_helper.tts.markdown import unmark
from discussion_helper.tts.money import read_money
from discussion_helper.tts.numbers import read_decades, read_numbers
from discussion_helper.tts.rules import Rule, has_digits, rewrite
from discussion_helper.tts.signs import read_signs
from discussion_helper.tts.units import read_units
from discussion_helper.tts.vocabulary import base_language, vocabulary

__all__ = ["speakable"]

_ROUNDS = 4
"""Passes until nothing changes; ordinary text needs one, and a second to know."""

_SPACES = re.compile(r"\s+")
_ARROWS = Rule("→⇒←<>", r"[ ]?(?:[-=]{1,2}>|<[-=]{1,2}|[→⇒←])[ ]?", ", ")

_RAISED = Rule("ºª", r"(?<=\d)\.(?=[ºª])", "")
_NUMBER_MARK = re.compile(r"(?<!\w)[nN]\.?[º°](?=[ ]?\d)")

_TIDY = (
    Rule(".", r"[ ]?\.\.+[ ]?(?=([^\W\d_])?)", lambda match: ", " if (match[1] or "").islower() else ". "),
    Rule("—–―-", r"[ ](?:[—–―]|--?)[ ]|[—―]|(?<=\w)[ ]?–[ ]?(?=[^\W\d])|---?", ", "),
    Rule(
        "(",
        r"(?<=[\w.,;:!?%])[ ]\(([^()]{1,300})\)(?=([ ]\w)?)",
        lambda match: f", {match[1]}{',' if match[2] else ''}",
    ),
    Rule('()[]{}<>"“”„«»‹›「」『』《》〈〉【】〔〕（）‚', r"[()\[\]{}<>\"“”„«»‹›「」『』《》〈〉【】〔〕（）‚]", " "),
    Rule("'", r"(?<!\w)'|'(?!\w)", ""),
    Rule("#*_`~|^\\§¶†‡•·", r"[#*_`~|^\\§¶†‡•·]+", " "),
    Rule("@/&", r"[@/&]+(?!\w)|//+", " "),
    Rule("+=%", r"(?<!\w)[+=%](?!\w)", " "),
    Rule("$€£¥", r"(?<!\d)[$€£¥](?!\d)", " "),
    Rule("/", r":(?=/)", " "),
    Rule("-", r"(?<!\w)-+|-+(?!\w)", " "),
)
_PUNCTUATION = (
    Rule(" ", r"[ ]+(?=[,.;:!?。、，！？])", ""),
    Rule(",;:、，", r"[,;:、，][ ,;:、，]*(?=[,;:.!?。！？、，])", ""),
    Rule("!?.。！？", r"([!?.。！？])(?:[ ]?[!?.。！？,;:、，])+", r"\1"),
)


def speakable(text: str, language: str = "en") -> str:
    """`text` as it is to be spoken: no markup, no emoji, numbers and signs in words; "" if there is nothing to say.

    A fenced block of code becomes a short note. Never raises; time is linear in the text. Where `language` has no
    table here, its signs and numbers are left to the phonemiser.
    """
    spoken = text
    for _ in range(_ROUNDS):
        before, spoken = spoken, _pass(spoken, language)
        if spoken == before:
            return spoken
    return _SPACES.sub(" ", "".join(c if c.isalpha() or c in " '" else " " for c in spoken)).strip()


def _pass(text: str, language: str) -> str:
    base, words = base_language(language), vocabulary(language)
    text = unmark(clean(text), code=words.code if words else "")
    text = clean(_ARROWS.apply(text))
    text = _RAISED.apply(text)
    if words is not None and base != "en":
        text = _NUMBER_MARK.sub(words.number, text)
    text = read_addresses(text, words)
    text = read_dots(expand_abbreviations(text, language), words)
    if has_digits(text):
        text = read_decades(read_money(read_dates(text, base, words), base, words), language)
        text = read_units(text, base, words)
    text = read_signs(text, base, words)
    if has_digits(text):
        text = read_numbers(text, language, words)
    return _tidy(text)


def _tidy(text: str) -> str:
    text = drop_symbols(rewrite(text, _TIDY), "$€£¥₹₩₽%+=°")
    text = rewrite(_SPACES.sub(" ", text), _PUNCTUATION)
    text = text.lstrip(" ,.;:!?。、，！？…'-").rstrip(" -")
    return text if any(map(str.isalnum, text)) else ""

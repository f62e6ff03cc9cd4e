"""Signs between and before words and numbers: arithmetic, ranges, fractions, "&", "#", in words."""

import re
from functools import cache

from discussion_helper.tts.rules import Rule, has_digits, rewrite
from discussion_helper.tts.vocabulary import Vocabulary

__all__ = ["read_signs"]

_AMOUNT = r"\d++(?:[.,]\d++)*+"
_PER = "hour|hr|day|week|month|mo|year|yr|minute|min|second|sec|person|unit|user|night"
_PHONE = re.compile(
    r"(?<![\w.,-])(?:(?:\+\d{1,3}[ -]?)?(?:\(\d{2,4}\)[ -]?)?\d{2,4}(?:-\d{2,4}){1,3}-\d{3,4}"
    r"|\d{3}-\d{4}|\+\d{1,3}(?:[ -]\d{2,4}){2,5})(?![\w-])"
)
_OPERATOR = (
    r"(?<=[\w)!])[ ]?(<=|>=|==|!=|[=×÷≤≥≠≈])[ ]?(?=[\w(√-])"
    r"|(?<=[\w)])[ ]?(\+)[ ]?(?=[\w(])"
    r"|(?<=[\w)])[ ]([<>])[ ](?=[\w(])"
    r"|(?<=\d)[ ]([xX/])[ ](?=\d)"
    r"|(?<=\d)([<>])(?=\d)"
)
_DENOMINATORS = {
    2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth", 10: "tenth",
    12: "twelfth", 16: "sixteenth", 20: "twentieth", 32: "thirty-second", 64: "sixty-fourth", 100: "hundredth",
}  # fmt: skip
_PLAIN_FRACTIONS = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5", "⅘": "4/5",
    "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8",
}  # fmt: skip
_VULGAR = "".join(_PLAIN_FRACTIONS)


def read_signs(text: str, language: str, words: Vocabulary | None) -> str:
    """`text` with its signs in words; `words` is the vocabulary of `language`."""
    text = _UNVULGAR.apply(text)
    if has_digits(text):
        text = _PHONE.sub(_phone, text)
    if words is None:
        return text
    if language == "en":
        text = rewrite(text, _ENGLISH)
    return rewrite(text, _rules(words))


@cache
def _rules(words: Vocabulary) -> tuple[Rule, ...]:
    return (
        Rule("#", r"#[ ]?(?=\d)", f"{words.number} "),
        Rule("~", r"~[ ]?(?=[\d$€£])", f"{words.about} "),
        Rule("&", r"[ ]?&[ ]?", f" {words.and_} "),
        Rule("@", r"(?<=\S)[ ]?@[ ]?(?=\S)", f" {words.at} "),
        Rule("=", r"(?<=[\w)])[ ]-[ ](?=[\w(][^=\n]{0,40}=)", f" {words.minus} "),
        Rule(
            "-–—",
            rf"(?<![\w.,/-])({_AMOUNT})[ ]?[-–—][ ]?(?={_AMOUNT}(?:[ ]?[a-zA-Z%°]|[^\w/-]|$))",
            rf"\1 {words.to} ",
        ),
        Rule("+=×÷≤≥≠≈<>xX/", _OPERATOR, lambda match: f" {_operator(match, words)} "),
        Rule("/", r"(?<=[^\W\d_])/(?=[^\W\d_])", " "),
        Rule("+", r"(?<=\d)\+(?!\w)", f" {words.plus}"),
        Rule("-", r"(?<![\w.,)\]])-(?=\.?\d)", f"{words.minus} "),
    )


def _operator(match: re.Match[str], words: Vocabulary) -> str:
    sign = next(group for group in match.groups() if group)
    equal = words.equals
    return {
        "+": words.plus, "=": equal, "==": equal, "×": words.times, "x": words.times, "X": words.times,
        "÷": words.divided, "/": words.divided, "<": words.less, ">": words.more, "≈": words.about,
        "<=": words.at_most, "≤": words.at_most, ">=": words.at_least, "≥": words.at_least,
        "!=": words.unequal, "≠": words.unequal,
    }[sign]  # fmt: skip


def _phone(match: re.Match[str]) -> str:
    groups = re.findall(r"\d+", match[0])
    return ", ".join(" ".join(group) for group in groups)


def _fraction(match: re.Match[str]) -> str:
    if match[0] == "24/7":
        return "24 7"
    top, bottom = int(match[2]), int(match[3])
    whole = f"{match[1]} and " if match[1] else ""
    if bottom not in _DENOMINATORS or top >= bottom * 3 or not top:
        return f"{whole}{match[2]} over {match[3]}" if (bottom and not whole) else match[0].replace("/", " ")
    name = _DENOMINATORS[bottom]
    if top == 1:
        return f"{whole}a {name}" if whole else f"1 {name}"
    return f"{whole}{top} {'halves' if bottom == 2 else name + 's'}"


def _unvulgar(match: re.Match[str]) -> str:
    return f"{match[1] + ' ' if match[1] else ''}{_PLAIN_FRACTIONS[match[2]]}"


_UNVULGAR = Rule(_VULGAR, rf"(\d)?([{_VULGAR}])", _unvulgar)

_ENGLISH = (
    Rule("+", r"\b([A-Z])\+\+", r"\1 plus plus"),
    Rule("#", r"\b([A-Z])#", r"\1 sharp"),
    Rule("^²", r"(?<=[\w)])(?:\^2(?!\d)|²)", " squared"),
    Rule("^³", r"(?<=[\w)])(?:\^3(?!\d)|³)", " cubed"),
    Rule("^", r"(?<=[\w)])\^(?=[\w(-])", " to the power of "),
    Rule("√", r"√[ ]?(?=[\w(])", "the square root of "),
    Rule("±", r"[ ]?±[ ]?", " plus or minus "),
    Rule("∞", r"∞", " infinity "),
    Rule("xX", rf"(?<![\w.,])({_AMOUNT})[xX](?!\w)", r"\1 times"),
    Rule("/", rf"(?<=\w)[ ]?/[ ]?(?=(?:{_PER})\b)", " per "),
    Rule("v", r"\bv\.?[ ]?(?=\d++(?:\.\d++)++)", "version "),
    Rule("/", r"(?<![\w./,])(?:(\d{1,3})[ ])?(\d{1,2})/(\d{1,3})(?![\w/]|[.,]\d)", _fraction),
)

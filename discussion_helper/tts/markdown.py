"""Markdown and HTML: the words of a marked-up text, without the marks."""

import html
import re
from collections.abc import Iterable, Iterator

__all__ = ["unmark"]

_FENCE = re.compile(r"[ \t]{0,12}(```|~~~)")
_RULE = re.compile(r"(?:[-*_=][ \t]*){3,}|=+|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
_QUOTE = re.compile(r"(?:[ \t]*>)+[ \t]?")
_BLOCK = re.compile(r"[ \t]*(?:#{1,6}[ \t]+|[-*+•‣◦▪–][ \t]+(?:\[[ xX]\][ \t]+)?)")
_NUMBERED = re.compile(
    r"^[ \t]*(\d{1,3})[.)][ \t]+"
    r"(?!(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b)(?=\S)"
)
"""A list's number; a German date begins the same way."""

# Every repetition is bounded or cannot overlap with what follows, so that time is linear in the text.
_AUTOLINK = re.compile(r"<((?:[a-zA-Z][a-zA-Z0-9+.-]{1,15}:|[\w.+-]{1,64}@)[^<>\s]{1,2000})>")
_LINK = re.compile(
    r"!?\[([^\[\]]{0,500})\]"
    r"(?:\([ ]?[^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200}){0,3}(?:[ ][\"'][^\"'\n]{0,200}[\"'])?\)"
    r"|\[[^\[\]]{0,200}\])"
)
_NOTE_MARK = re.compile(r"\[(?:\^[^\[\]\n]{1,50}|\d{1,3})\]|【[^【】\n]{0,50}】")
_COMMENT = re.compile(r"<!--[^<>]{0,500}-->")
_BREAK = re.compile(r"</?(?:br|p|div|li|ul|ol|td|th|tr|table|hr|h[1-6])\b[^<>\n]{0,300}>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,300}>")
_PRODUCT = re.compile(r"(?<=\d)[ ]?\*[ ]?(?=\d)")
_MARKS = re.compile(r"\*+|`+|~~+|\\(?=[^\w\s])|\|")
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]{1,40})\}\{([^{}]{1,40})\}")
_FORMULA = re.compile(r"\$(?=\S)([^$\n]{0,200}[\\^_{}=<>+][^$\n]{0,200})(?<=\S)\$(?!\d)")
_COMMANDS = {
    "times": "×", "cdot": "×", "div": "÷", "leq": "≤", "geq": "≥", "neq": "≠", "approx": "≈", "pm": "±", "sqrt": "√",
}  # fmt: skip
_COMMAND = re.compile(r"\\([a-zA-Z]{2,20})")

_BLANKS = re.compile(r"[ \t]{2,}")
_ENDED = re.compile(r"[.,;:!?…。！？，；：।؟۔]['\")\]»”’]*$")


def unmark(text: str, *, code: str = "") -> str:
    """The words of `text` on one line, `code` in place of each fenced block.

    Headings, list items and table rows get a full stop where they have none: they are read as sentences.
    """
    return " ".join(line for line in _lines(text.split("\n"), code) if line)


def _lines(lines: Iterable[str], code: str) -> Iterator[str]:
    fence, content = "", False
    for line in lines:
        match = _FENCE.match(line)
        if match and (fence == match[1] or (not fence and match[1] not in line[match.end() :])):
            if fence and content:
                yield code
            fence, content = "" if fence else match[1], False
        elif fence:
            content = content or not line.isspace()
        elif line:
            yield _line(line)
    if fence and content:
        yield code


def _line(line: str) -> str:
    if match := _QUOTE.match(line):
        line = line[match.end() :]
    if _RULE.fullmatch(line.strip()):
        return ""
    row = line.strip().startswith("|")
    block = _BLOCK.match(line)
    if row:
        line = ", ".join(cell.strip() for cell in line.split("|") if cell.strip())
    elif block:
        line = line[block.end() :].rstrip("# \t")
    line, numbered = _NUMBERED.subn(r"\1, ", line)
    line = _inline(line)
    return line + "." if (row or block or numbered) and line and not _ENDED.search(line[-8:]) else line


def _inline(text: str) -> str:
    text = _AUTOLINK.sub(r"\1", text)
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", text))  # twice: an image may be a link's text
    text = _NOTE_MARK.sub("", text)
    text = _TAG.sub("", _BREAK.sub(" ", _COMMENT.sub("", text)))
    text = html.unescape(text)
    text = _PRODUCT.sub("×", text)
    text = _FORMULA.sub(r"\1", text)
    text = _FRACTION.sub(r"\1/\2", text)
    text = _COMMAND.sub(lambda match: f" {_COMMANDS.get(match[1], match[1])} ", text)
    text = _MARKS.sub("", text)
    return _BLANKS.sub(" ", text).strip()

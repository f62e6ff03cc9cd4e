"""Markdown as lines of styled text for a terminal, also while it streams in."""

import io
from itertools import pairwise
from typing import TYPE_CHECKING

from discussion_helper.commands.wrap import Line, cells, printable, wrap

if TYPE_CHECKING:
    from rich.segment import Segment
    from rich.style import Style

__all__ = ["NARROW", "StreamedMarkdown", "clean_lines", "markdown_lines"]

NARROW = 12
"""Columns below which Markdown is shown as it is written: no list, table or code fits."""
_LONGEST = 10_000
"""Characters of a block, and what is longer is shown as it is written: a code block of that length takes 150 ms."""
_LONGEST_LIVE = 3000
"""The same for a block that is still growing, which is drawn again and again."""
_TAB = 4
_ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse", "strike")
_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "gray")
_BRIGHT = ("brightblack", *(f"bright{name}" for name in _COLOURS[1:-1]), "white")


def clean_lines(text: str) -> list[str]:
    """The lines of a text, each without a character that a terminal would obey. Tabs are spaces."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [printable(line.expandtabs(_TAB)) for line in lines]


def markdown_lines(text: str, width: int) -> list[Line]:
    """A whole Markdown text, in `width` columns."""
    return StreamedMarkdown().lines(text, width, whole=True)


class StreamedMarkdown:
    """A Markdown text that grows. Blocks that are complete are made into lines once, the last one each time.

    Every top-level block is drawn for itself, with an empty line between two.
    """

    def __init__(self) -> None:
        self._width = 0
        self._done = ""
        """Of the text, what is in `_lines`."""
        self._lines: list[Line] = []
        self._look_at = 0
        """The length of the rest at which it is worth looking for complete blocks in it."""

    def goes_on_with(self, text: str, width: int) -> bool:
        """Whether some of this text was made into lines already."""
        return bool(self._done) and width == self._width and text.startswith(self._done)

    def lines(self, text: str, width: int, *, whole: bool = False) -> list[Line]:
        """The text so far; `whole`: nothing comes after it."""
        if width < NARROW:
            return _as_written(text, width)
        if not self.goes_on_with(text, width):
            self._width, self._done, self._lines, self._look_at = width, "", [], 0
        rest = text[len(self._done) :]
        if not whole and len(rest) >= self._look_at:
            rest = self._take_complete(rest)
        lines = self._lines
        for block in _blocks(rest) if whole or len(rest) <= _LONGEST_LIVE else [rest]:
            lines = _joined(lines, _rendered(block, width, longest=_LONGEST if whole else _LONGEST_LIVE))
        return lines

    def _take_complete(self, rest: str) -> str:
        """What is left: the last block, and a line that is not complete, of which nobody knows what it will be."""
        *complete, last = _blocks(rest[: rest.rfind("\n") + 1])
        for block in complete:
            self._lines = _joined(self._lines, _rendered(block, self._width, longest=_LONGEST))
            self._done += block
        self._look_at = len(last) + len(last) // 8 if len(last) > _LONGEST_LIVE else 0
        return rest[sum(map(len, complete)) :]


def _joined(before: list[Line], after: list[Line]) -> list[Line]:
    return [*before, *([[]] if before and after else []), *after]


def _blocks(text: str) -> list[str]:
    """The sources of its top-level blocks, which make up the text; at least one."""
    from rich.markdown import Markdown

    try:
        tokens = Markdown(text).parsed
    except Exception:  # whatever a model wrote, it is shown
        return [text]
    starts = [token.map[0] for token in tokens if token.level == 0 and token.map and token.nesting >= 0]
    lines = io.StringIO(text, newline="").readlines()  # ends where Markdown sees an end, and kept
    edges = [0, *starts[1:], len(lines)]
    return ["".join(lines[start:end]) for start, end in pairwise(edges)]


def _as_written(text: str, width: int) -> list[Line]:
    return [row for line in clean_lines(text.strip("\r\n")) for row in wrap([("", line)], width)]


def _rendered(source: str, width: int, *, longest: int) -> list[Line]:
    lines = clean_lines(source)
    if not any(lines):
        return []
    if len(source) > longest:
        return _as_written(source, width)
    try:
        rows = [_line_of(row) for row in _rows("\n".join(lines), width)]
    except Exception:  # rich stumbles over some nestings and widths; the text is worth more than its looks
        return _as_written(source, width)
    while rows and not _says(rows[-1]):
        rows.pop()
    while rows and not _says(rows[0]):
        rows.pop(0)
    return rows


def _rows(text: str, width: int) -> "list[list[Segment]]":
    from rich.console import Console

    from discussion_helper.commands.chat_blocks import ChatMarkdown

    console = Console(width=width, file=io.StringIO(), color_system=None, legacy_windows=False, markup=False)
    markdown = ChatMarkdown(text, code_theme="ansi_dark", hyperlinks=False)
    return console.render_lines(markdown, console.options.update(width=width), pad=False)


def _line_of(row: "list[Segment]") -> Line:
    """Once more made harmless: entities such as `&#8238;` are characters only now."""
    return [(_style_of(segment.style), printable(segment.text)) for segment in row if not segment.control]


def _says(line: Line) -> bool:
    return cells(line) > 0 and any(not text.isspace() for _, text in line)


def _style_of(style: "Style | None") -> str:
    """A style in prompt_toolkit's words. No background: the terminal's own is the one that can be read on."""
    if style is None:
        return ""
    words = [name for name in _ATTRIBUTES if getattr(style, name)]
    if style.color is not None and not style.color.is_default:
        number = style.color.number
        named = number is not None and number < 16
        words.append(f"ansi{(*_COLOURS, *_BRIGHT)[number or 0]}" if named else style.color.get_truecolor().hex)
    return " ".join(words)

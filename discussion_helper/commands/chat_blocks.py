"""Markdown as the chat draws it: headings at the left, numbers with their dots."""

from collections.abc import Mapping
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, ListItem, Markdown, MarkdownElement
from rich.segment import Segment

__all__ = ["ChatMarkdown"]


class _Heading(Heading):
    """In the middle of a line, or in a frame, it would be apart from what it is above."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text.copy()
        text.justify = "left"
        yield text


class _Item(ListItem):
    """A number looks as it was written."""

    def render_number(self, console: Console, options: ConsoleOptions, number: int, last_number: int) -> RenderResult:
        width = len(str(last_number)) + 3
        lines = console.render_lines(self.elements, options.update(width=options.max_width - width), style=self.style)
        style = console.get_style("markdown.item.number", default="none")
        beside = f"{number}. ".rjust(width)
        for line in lines:
            yield Segment(beside, style)
            yield from line
            yield Segment("\n")
            beside = " " * width


class ChatMarkdown(Markdown):
    """Without what rich adds to the looks of two blocks."""

    elements: ClassVar[Mapping[str, type[MarkdownElement]]] = {  # type: ignore[assignment]
        **Markdown.elements,
        "heading_open": _Heading,
        "list_item_open": _Item,
    }

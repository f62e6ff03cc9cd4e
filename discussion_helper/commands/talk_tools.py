"""The tools of a talk as lines: what the model called, and what came of it."""

from discussion_helper.commands.wrap import printable
from discussion_helper.events import Event

__all__ = ["LONGEST_DETAIL", "called_line", "done_line"]

LONGEST_DETAIL = 160
"""Characters of the arguments and of a result; two lines of a usual terminal."""


def called_line(event: Event) -> str:
    """That a tool runs, from its `tool` event."""
    return f"calls {_call(event)} …"


def done_line(event: Event) -> str:
    """What it gave, or that it failed, and how long that took."""
    data = event.data
    verb = "fails" if data.get("is_error") else "gives"
    took = f" ({data['took_s']:.1f} s)" if "took_s" in data else ""
    return f"{_call(event)} {verb} {_detail(data.get('result', ''))}".rstrip() + took


def _call(event: Event) -> str:
    name, arguments = str(event.data.get("name", "")), _detail(event.data.get("arguments", ""))
    return f"{name} {arguments}".strip()


def _detail(value: object) -> str:
    """On one line, its beginning."""
    text = " ".join(printable(str(value)[: 4 * LONGEST_DETAIL]).split())
    return text if len(text) <= LONGEST_DETAIL else f"{text[: LONGEST_DETAIL - 1]}…"

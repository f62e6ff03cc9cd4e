"""A talk as lines of text, where there is no terminal to draw on."""

import os
import stat
from collections.abc import AsyncIterator
from typing import TextIO

import anyio

from discussion_helper.commands.late_machine import change_line
from discussion_helper.commands.screen import complain
from discussion_helper.commands.talk_state import error_of, moved_of, problem_of, turn_of, waits_of
from discussion_helper.commands.talk_wishes import Say, Wishes
from discussion_helper.events import Event

__all__ = ["LONGEST_LINE", "PlainFace", "event_line", "typed_lines"]

_CHUNK = 4096
LONGEST_LINE = 100_000
"""Bytes of a typed line; what is longer is several turns."""


class PlainFace:
    """One line on `stream` for each event but the levels; typed turns come from the lines of `typed`."""

    def __init__(self, wishes: Wishes, *, stream: TextIO | None = None, typed: int | None = None) -> None:
        """`stream`: stderr unless given. `typed`: a file descriptor, or None."""
        self._wishes = wishes
        self._stream = stream
        self._typed = typed
        self._partial: Event | None = None
        self._unsaid: list[str] = []
        """Lines that were read and wait for room."""

    def take(self, event: Event) -> None:
        """Follow one event. What the user has said so far waits for the next one, which mostly says the same."""
        if not (line := event_line(event)):
            return
        if self._partial is not None and _repeats(event, self._partial):
            self._partial = None
        self._write_partial()
        if event.kind == "partial" and event.data.get("speaker", "user") == "user":
            self._partial = event
        else:
            complain(line, self._stream)

    def tell(self, text: str) -> None:
        """Write a line."""
        self._write_partial()
        complain(text, self._stream)

    def _write_partial(self) -> None:
        partial, self._partial = self._partial, None
        if partial is not None:
            complain(event_line(partial), self._stream)

    def note(self, text: str) -> None:
        """Write a line too."""
        self.tell(text)

    def left_out(self, text: str, why: str) -> None:
        """Write why a typed turn is not answered."""
        self.tell(f"{why}: {text}")

    async def suspend(self) -> None:
        """Nobody asks for it: without the live view the terminal itself stops a job."""

    def farewell(self) -> list[str]:
        """The events' lines are there; what is left is what was read and could not be said."""
        number = len(self._unsaid)
        more = f" (and {number - 1} lines more)" if number > 1 else ""
        return [f"Not said: {line}{more}" for line in self._unsaid[:1]]

    async def run(self) -> None:
        """Take typed turns, until there are no more."""
        if self._typed is None:
            return
        async for lines in typed_lines(self._typed):
            self._unsaid = [line for line in lines if line.strip()]
            while self._unsaid:
                await self._wishes.room()
                self._wishes.put(Say(self._unsaid.pop(0), waits=True))


def _repeats(event: Event, partial: Event) -> bool:
    return (event.kind, event.data.get("speaker"), event.data.get("text")) == (
        "utterance",
        "user",
        partial.data["text"],
    )


def event_line(event: Event) -> str:
    """What there is to say about an event; "" for nothing."""
    data = event.data
    match event.kind:
        case "utterance":
            text = f"{'you' if data['speaker'] == 'user' else 'agent'}: {turn_of(event)}"
        case "timing":
            text = str(waits_of(event))
        case "device" if told := problem_of(event) or moved_of(event):
            text = told
        case "shed":
            text = change_line(event)
        case "floor":
            text = f"floor: {data['floor']}"
        case "partial" if not data["text"]:
            return ""
        case "partial":
            text = f"{data.get('speaker', 'user').replace('user', 'you')} ... {data['text']}"
        case "ended":
            error = error_of(event)
            text = f"ended: reason={data['reason']}" + (f"  error={error}" if error else "")
        case "level":
            return ""
        case kind:
            text = f"{kind}: " + "  ".join(f"{key}={value}" for key, value in data.items() if value != "")
    return f"{event.at_s:8.3f}  {text}"


async def typed_lines(descriptor: int) -> AsyncIterator[list[str]]:
    """The lines of a pipe, a socket or a file as they come, without holding up the event loop, and without a thread.

    Where a pipe cannot be waited for (Windows) there are none.
    """
    held = b""
    while chunk := await _read(descriptor):
        *lines, held = (held + chunk).split(b"\n")
        if len(held) > LONGEST_LINE:
            lines, held = [*lines, held[:LONGEST_LINE]], held[LONGEST_LINE:]
        yield [piece.decode(errors="replace") for line in lines for piece in _pieces(line)]
    if held:
        yield [held.decode(errors="replace")]


def _pieces(line: bytes) -> list[bytes]:
    return [line[at : at + LONGEST_LINE] for at in range(0, len(line), LONGEST_LINE)]


async def _read(descriptor: int) -> bytes:
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            await anyio.wait_readable(descriptor)
    except PermissionError:  # a device that is always ready, such as /dev/null
        pass
    except OSError:
        return b""
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""

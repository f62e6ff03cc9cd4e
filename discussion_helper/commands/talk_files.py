"""A talk with recorded speech as the user: one recording a turn."""

from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

import anyio

from discussion_helper.audio.handover import LoopHandover
from discussion_helper.discussion import OWED_S
from discussion_helper.event_loop import start_in
from discussion_helper.events import Event, Subscription

__all__ = [
    "ANOTHER_TURN_S",
    "ENDS_WITHIN_S",
    "FOLLOWED",
    "HELD_TURN_S",
    "NOTICED_S",
    "PUT_OFF_S",
    "UNDERSTOOD_WITHIN_S",
    "RecordedTurns",
    "Sayer",
]

UNDERSTOOD_WITHIN_S = 30.0
"""After the end of a recording: a turn takes 1 s to end and 1 s to be recognised; 14 s were seen on a busy machine."""
NOTICED_S = 0.5
"""After the end of a recording: how long a voice at its very end may take to be noticed, 0.1 to 0.2 s. Where none was
by then, and nothing that was heard waits to be read, nobody spoke, and no turn is waited for."""
ENDS_WITHIN_S = 2.0
"""After a recording that was cut off: how long the end of the session is waited for, which is what cut it then."""
HELD_TURN_S = 0.3
"""How long one more turn is waited for otherwise: one that was heard during the answer comes at once after it."""
FOLLOWED = ("floor", "utterance", "decision", "device", "ended")
ANOTHER_TURN_S = 2.0
"""How long one more turn is waited for after a recording of which a turn was answered, or said to be not understood,
before its end: it held a pause."""
PUT_OFF_S = 2 * OWED_S + 1.0
"""How long an answer is waited for that was put off, since its turn seemed to go on: at the end of a recording it goes
on with nothing. The silence is counted anew once, where the voice was still being judged."""


class Sayer(Protocol):
    """A microphone that says recordings."""

    def say(self, clip: int, /) -> "Future[Any]":
        """Say one; done when its last sample was delivered. Raises RuntimeError when the device is closed."""
        ...


class RecordedTurns:
    """Says `names` one after another, each once the answer to the one before is over.

    `events` are those of the kinds FOLLOWED, from before the session's start.
    """

    def __init__(
        self,
        sayer: Sayer,
        names: Sequence[str],
        events: Subscription[Event],
        tell: Callable[[str], None],
        *,
        heard_out: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """`tell` is told of recordings in which nothing was understood.

        `heard_out` returns once no turn can come any more of what was said so far; None = that is not known.
        """
        self._sayer = sayer
        self._names = names
        self._events = events
        self._tell = tell
        self._heard_out = heard_out
        self._turns = 0
        """User turns since the recording under way began."""
        self._unclear = 0
        """Those that were said to be not understood."""
        self._floor = "idle"
        self._open = False
        """The microphone is; what is said before is not heard."""
        self._put_off = False
        """The last answer was, before anything of it was spoken."""
        self._ended = False

    async def hold(self) -> int:
        """Return when the last answer is over, or the session: how many recordings were understood."""
        understood = 0
        for number, name in enumerate(self._names):
            await self._until(lambda: self._open and self._floor == "listening")
            if self._ended:
                self._tell(f"The talk ended before {_listed(self._names[number:])} said.")
                break
            if await self._say(number):
                understood += 1
            elif not self._ended:
                self._tell(f"Nothing was understood in {name}.")
        return understood

    async def _say(self, number: int) -> bool:
        """Say one recording and wait for the answer; whether anything was understood."""
        self._turns = self._unclear = 0
        if not await self._said(number):
            with anyio.move_on_after(ENDS_WITHIN_S):
                await self._until(lambda: False)
            return self._turns > 0
        in_pieces = self._turns + self._unclear > 0
        if not in_pieces and not await self._read():
            return False
        while await self._goes_on(ANOTHER_TURN_S if in_pieces else HELD_TURN_S):
            pass
        return self._turns > 0

    async def _read(self) -> bool:
        """Wait for the first turn of a recording that is over, understood or not; whether it came."""
        with anyio.move_on_after(UNDERSTOOD_WITHIN_S):
            async with anyio.create_task_group() as tasks:
                if self._heard_out is not None:
                    start_in(tasks, self._no_longer, self._heard_out, tasks.cancel_scope)
                await self._until(lambda: self._turns + self._unclear > 0)
                tasks.cancel_scope.cancel()
        return self._turns + self._unclear > 0

    async def _no_longer(self, heard_out: Callable[[], Awaitable[object]], scope: anyio.CancelScope) -> None:
        """Cancel the wait for a turn where none is to come."""
        await anyio.sleep(NOTICED_S)
        await heard_out()
        await anyio.sleep(HELD_TURN_S)
        scope.cancel()

    async def _goes_on(self, within_s: float) -> bool:
        """Wait for the end of the answer, and then `within_s` seconds for one more turn or answer; whether it came."""
        await self._until(lambda: not self._answering)
        before = self._turns
        with anyio.move_on_after(PUT_OFF_S if self._put_off else within_s):
            await self._until(lambda: self._answering or self._turns > before)
        return not self._ended and (self._answering or self._turns > before)

    async def _said(self, number: int) -> bool:
        """Say it, and follow the events meanwhile; False when the session or the device ended before its end."""
        try:
            future = self._sayer.say(number)
        except RuntimeError:  # the device is closed
            self._ended = True
            return False
        handover, done = LoopHandover(), anyio.Event()
        future.add_done_callback(lambda _: handover.call(done.set))
        try:
            async with anyio.create_task_group() as tasks:
                start_in(tasks, self._end, tasks.cancel_scope)
                await done.wait()
                tasks.cancel_scope.cancel()
        finally:
            handover.close()
            future.cancel()
        return future.done() and not future.cancelled() and future.exception() is None

    async def _end(self, scope: anyio.CancelScope) -> None:
        await self._until(lambda: False)
        scope.cancel()

    async def _until(self, reached: Callable[[], bool]) -> None:
        """Follow the events until then, or to the end of the session."""
        while not reached() and not self._ended:
            event = await anext(self._events, None)
            if event is None or event.kind == "ended":
                self._ended = True
            else:
                self._follow(event)

    @property
    def _answering(self) -> bool:
        return self._floor in ("thinking", "speaking")

    def _follow(self, event: Event) -> None:
        if event.kind == "utterance" and event.data["speaker"] == "user":
            self._turns += 1
        elif event.kind == "decision" and event.data.get("what") == "unclear":
            self._unclear += 1
        elif event.kind == "floor":
            before, self._floor = self._floor, event.data["floor"]
            self._put_off = before == "thinking" and self._floor == "listening"
        elif event.kind == "device" and event.data.get("which") == "microphone":
            self._open = event.data.get("state") == "open"


def _listed(names: Sequence[str]) -> str:
    first, *others = names
    return f"{first} was" if not others else f"{first} and {len(others)} more were"

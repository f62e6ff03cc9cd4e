"""Turns on their way from sound to text."""

from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from discussion_helper.stt.base import Recognised, Recogniser
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnResumed
from discussion_helper.voice.notes import Turn, WordsWanted

__all__ = ["NOTES_HELD", "TurnReader"]

NOTES_HELD = 256
"""Notes about turns that wait for the recogniser; the oldest go, which only a stuck recogniser can bring about."""


@dataclass(slots=True, eq=False)
class _Recognition:
    """One piece of work for the recogniser; the one for a pause is thrown away when the user goes on."""

    end: int
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)
    result: Recognised | None = None


class TurnReader:
    """Recognition begins in the silence after `early_s` of the endpointer and is thrown away if the user goes on.

    So the text is mostly there when the turn ends. For the event loop's thread.
    """

    def __init__(
        self,
        recogniser: Recogniser,
        *,
        read: Callable[[Recognised, float, bool], object],
        finished: Callable[[Turn, Recognised], Coroutine[None, None, None]],
    ) -> None:
        """`read(result, voiced_s, final)` is told of everything recognised, `finished` of every turn, with its text."""
        self._recogniser = recogniser
        self._read = read
        self._finished = finished
        self._notes: deque[Turn | WordsWanted] = deque(maxlen=NOTES_HELD)
        self._changed = anyio.Event()
        self._peek: anyio.CancelScope | None = None

    def add(self, note: Turn | WordsWanted) -> None:
        """Behind those that wait."""
        self._notes.append(note)
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def run(self) -> None:
        """Read turns, for ever. Raises what the recogniser fails with."""
        early: _Recognition | None = None
        async with anyio.create_task_group() as tasks:
            while True:
                note = await self._next()
                if isinstance(note, WordsWanted):
                    tasks.start_soon(self._peek_at, note)
                else:
                    early = await self._follow(note, early, tasks)

    async def _next(self) -> Turn | WordsWanted:
        while not self._notes:
            await self._changed.wait()
        return self._notes.popleft()

    async def _peek_at(self, wanted: WordsWanted) -> None:
        """For a turn that goes on; what pauses or ends in the meantime is read as it is then."""
        with anyio.CancelScope() as self._peek:
            result = await self._recogniser.recognise(wanted.samples, voiced_s=wanted.voiced_s)
            self._read(result, wanted.voiced_s, False)

    async def _follow(self, note: Turn, early: _Recognition | None, tasks: TaskGroup) -> _Recognition | None:
        match note.event:
            case TurnPaused() | TurnEnded() if note.own:
                if early is not None:
                    early.scope.cancel()
                if isinstance(note.event, TurnEnded):
                    await self._finish(note, Recognised("", refused="echo"), tasks)
            case TurnPaused() as pause:
                return self._begin(pause, tasks)
            case TurnResumed() if early is not None:
                early.scope.cancel()
            case TurnEnded() as turn:
                if early is None or early.end != turn.end:
                    early = self._begin(turn, tasks)
                await early.done.wait()
                assert early.result is not None
                await self._finish(note, early.result, tasks)
            case _:
                return early
        return None

    async def _finish(self, note: Turn, result: Recognised, tasks: TaskGroup) -> None:
        """In order; only a turn that may be none keeps nobody waiting."""
        if note.ignored or note.undecided:
            tasks.start_soon(self._finished, note, result)
        else:
            await self._finished(note, result)

    def _begin(self, turn: TurnPaused | TurnEnded, tasks: TaskGroup) -> _Recognition:
        if self._peek is not None:
            self._peek.cancel()
        recognition = _Recognition(turn.end)
        tasks.start_soon(self._recognise, recognition, turn)
        return recognition

    async def _recognise(self, recognition: _Recognition, turn: TurnPaused | TurnEnded) -> None:
        with recognition.scope:
            recognition.result = await self._recogniser.recognise(turn.samples, voiced_s=turn.voiced_s)
            self._read(recognition.result, turn.voiced_s, True)
        recognition.done.set()

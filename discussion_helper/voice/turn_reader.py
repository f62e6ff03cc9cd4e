"""Turns on their way from sound to text."""

from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from discussion_helper.stt.base import Recognised, Recogniser
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnResumed
from discussion_helper.voice.notes import InterimWanted, Turn, WordsWanted

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
        partial: Callable[[int, Recognised, bool], object] = lambda *_: None,
    ) -> None:
        """`read(result, voiced_s, final)` is told of what is recognised for a decision, `finished` of every turn, with
        its text. `partial(start, result, complete)` is told of every reading of the turn that begins at sample `start`.
        """
        self._recogniser = recogniser
        self._read = read
        self._finished = finished
        self._partial = partial
        self._notes: deque[Turn | WordsWanted | InterimWanted] = deque(maxlen=NOTES_HELD)
        self._changed = anyio.Event()
        self._peek: anyio.CancelScope | None = None
        self._interim: anyio.CancelScope | None = None
        self._interim_from_s = 0.0
        self.interim = True
        """Whether a turn is read while it goes on, for its words to be seen; a machine that is late does without."""

    def add(self, note: Turn | WordsWanted | InterimWanted) -> None:
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
                    self._drop_interim()
                    tasks.start_soon(self._peek_at, note)
                elif isinstance(note, InterimWanted):
                    if early is None and self._may_read_meanwhile():
                        self._interim = anyio.CancelScope()
                        tasks.start_soon(self._read_meanwhile, note, self._interim)
                else:
                    early = await self._follow(note, early, tasks)

    async def _next(self) -> Turn | WordsWanted | InterimWanted:
        while not self._notes:
            await self._changed.wait()
        return self._notes.popleft()

    async def _peek_at(self, wanted: WordsWanted) -> None:
        """For a turn that goes on; what pauses or ends in the meantime is read as it is then."""
        with anyio.CancelScope() as scope:
            self._peek = scope
            result = await self._recogniser.recognise(wanted.samples, voiced_s=wanted.voiced_s)
            self._read(result, wanted.voiced_s, False)
            self._partial(wanted.start, result, False)
        if self._peek is scope:
            self._peek = None

    def _may_read_meanwhile(self) -> bool:
        """One at a time, behind all that waits, and only half of the time, however slow the recogniser is."""
        alone = self._peek is None and self._interim is None and not self._notes
        return self.interim and alone and anyio.current_time() >= self._interim_from_s

    async def _read_meanwhile(self, wanted: InterimWanted, scope: anyio.CancelScope) -> None:
        began_s = anyio.current_time()
        try:
            with scope:
                result = await self._recogniser.recognise(wanted.samples, voiced_s=wanted.voiced_s)
                self._partial(wanted.start, result, False)
        finally:
            ended_s, self._interim = anyio.current_time(), None
            self._interim_from_s = ended_s + (ended_s - began_s)

    def _drop_interim(self) -> None:
        if self._interim is not None:
            self._interim.cancel()

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
        self._drop_interim()
        if self._peek is not None:
            self._peek.cancel()
        recognition = _Recognition(turn.end)
        tasks.start_soon(self._recognise, recognition, turn)
        return recognition

    async def _recognise(self, recognition: _Recognition, turn: TurnPaused | TurnEnded) -> None:
        with recognition.scope:
            recognition.result = await self._recogniser.recognise(turn.samples, voiced_s=turn.voiced_s)
            self._read(recognition.result, turn.voiced_s, True)
            self._partial(turn.start, recognition.result, True)
        recognition.done.set()

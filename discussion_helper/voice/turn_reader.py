"""Turns on their way from sound to text."""

from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from discussion_helper.audio.frames import Samples
from discussion_helper.clock import now
from discussion_helper.event_loop import start_in
from discussion_helper.not_understood import SLOW_S
from discussion_helper.stt.base import Recognised, Recogniser
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnResumed
from discussion_helper.voice.notes import InterimWanted, Turn, WordsWanted
from discussion_helper.voice.tail import with_tail

__all__ = ["GIVE_UP_S", "NOTES_HELD", "TurnReader"]

GIVE_UP_S = 20.0
"""After the end of a turn its text is waited for so long; then it is as good as not understood, or nobody would be
answered any more. The longest turn, 60 s, takes a larger model some 10 s on two cores."""

NOTES_HELD = 256
"""Notes about turns that wait for the recogniser; the oldest go, which only a stuck recogniser can bring about."""


@dataclass(slots=True, eq=False)
class _Recognition:
    """One piece of work for the recogniser; the one for a pause is thrown away when the user goes on."""

    turn: TurnPaused | TurnEnded
    again: bool = False
    """It is to be read once more, with what was said before."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)
    result: Recognised | None = None

    def is_of(self, turn: TurnEnded) -> bool:
        return self.turn.end == turn.end

    async def is_done(self, *, within_s: float) -> bool:
        with anyio.move_on_after(within_s):
            await self.done.wait()
        return self.done.is_set()

    def drop(self) -> None:
        self.again = False
        self.scope.cancel()


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
        whole: Callable[[TurnPaused | TurnEnded], tuple[Samples, int, float]] | None = None,
        slow: Callable[[], object] = lambda: None,
    ) -> None:
        """`read(result, voiced_s, final)` is told of what is recognised for a decision, `finished` of every turn, with
        its text. `partial(start, result, complete)` is told of every reading of the turn that begins at sample `start`.

        `whole` gives what is to be recognised of a turn: samples, where they begin, seconds of voice in them. `slow` is
        told where somebody waits for an answer to a turn whose text is not there SLOW_S after its end.
        """
        self._recogniser = recogniser
        self._read = read
        self._finished = finished
        self._partial = partial
        self._whole = whole or _alone
        self._slow = slow
        self._tasks: TaskGroup | None = None
        self._early: _Recognition | None = None
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
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            while True:
                note = await self._next()
                if isinstance(note, WordsWanted):
                    self._drop_interim()
                    start_in(tasks, self._peek_at, note)
                elif isinstance(note, InterimWanted):
                    if self._early is None and self._may_read_meanwhile():
                        self._interim = anyio.CancelScope()
                        start_in(tasks, self._read_meanwhile, note, self._interim)
                else:
                    self._early = await self._follow(note, self._early, tasks)

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
                    early.drop()
                if isinstance(note.event, TurnEnded):
                    await self._finish(note, Recognised("", refused="echo"), tasks)
            case TurnPaused() as pause:
                return self._begin(pause, tasks)
            case TurnResumed() if early is not None:
                early.drop()
            case TurnEnded() as turn:
                if early is None or not early.is_of(turn):
                    early = self._early = self._begin(turn, tasks)
                await self._finish(note, await self._result_of(early, note), tasks)
            case _:
                return early
        return None

    async def _result_of(self, recognition: _Recognition, note: Turn) -> Recognised:
        slow_s = min(SLOW_S, max(0.0, note.decided_at_s + SLOW_S - now()))
        if not await recognition.is_done(within_s=slow_s):
            if not (note.ignored or note.undecided):
                self._slow()
            await recognition.is_done(within_s=GIVE_UP_S - slow_s)
        if recognition.result is not None and recognition.done.is_set():
            return recognition.result
        recognition.drop()
        return Recognised("", refused="not understood")

    async def _finish(self, note: Turn, result: Recognised, tasks: TaskGroup) -> None:
        """In order; only a turn that may be none keeps nobody waiting."""
        if note.ignored or note.undecided:
            start_in(tasks, self._finished, note, result)
        else:
            await self._finished(note, result)

    def _begin(self, turn: TurnPaused | TurnEnded, tasks: TaskGroup) -> _Recognition:
        self._drop_interim()
        if self._peek is not None:
            self._peek.cancel()
        recognition = _Recognition(turn)
        start_in(tasks, self._recognise, recognition)
        return recognition

    def read_again(self) -> None:
        """What was read in a pause, or is being read, is part of something longer now."""
        early = self._early
        if early is None or self._tasks is None:
            return
        if early.done.is_set():
            early.done, early.scope = anyio.Event(), anyio.CancelScope()
            start_in(self._tasks, self._recognise, early)
        else:
            early.again = True
            early.scope.cancel()

    async def _recognise(self, recognition: _Recognition) -> None:
        await self._recognise_once(recognition)
        while recognition.again:
            recognition.again, recognition.scope = False, anyio.CancelScope()
            await self._recognise_once(recognition)
        recognition.done.set()

    async def _recognise_once(self, recognition: _Recognition) -> None:
        """Of what is joined to something nothing is offered for a decision: that is about the new alone."""
        turn = recognition.turn
        with recognition.scope:
            samples, start, voiced_s = self._whole(turn)
            recognition.result = await self._recogniser.recognise(with_tail(samples), voiced_s=voiced_s)
            if start == turn.start:
                self._read(recognition.result, voiced_s, True)
            self._partial(start, recognition.result, True)


def _alone(turn: TurnPaused | TurnEnded) -> tuple[Samples, int, float]:
    return turn.samples, turn.start, turn.voiced_s

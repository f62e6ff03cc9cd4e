"""The listener: turns from the audio thread become text, and onsets become interruptions."""

from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from discussion_helper.audio.devices import muted_fix
from discussion_helper.background import Background
from discussion_helper.clock import now
from discussion_helper.parts import Reporter
from discussion_helper.stt.base import Recognised, Recogniser
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnResumed, TurnStarted
from discussion_helper.types import SpokenUtterance, Utterance
from discussion_helper.voice.echo_text import is_echo
from discussion_helper.voice.hearing import Level, Muted, Note, Onset, Turn

__all__ = ["NOTES_HELD", "Microphone", "MicrophoneListener"]

NOTES_HELD = 256
"""Notes about turns that wait for the recogniser; the oldest go, which only a stuck recogniser can bring about."""


class Microphone(Protocol):
    """What the listener needs of the audio engine."""

    async def open_microphone(self, ears: "MicrophoneListener") -> str:
        """Open it; its name."""
        ...

    async def close_microphone(self) -> None:
        """Close it; idempotent."""
        ...


@dataclass(slots=True, eq=False)
class _Recognition:
    """One piece of work for the recogniser; the one for a pause is thrown away when the user goes on."""

    end: int
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)
    result: Recognised | None = None


class MicrophoneListener:
    """A `Listener` on the microphone.

    Recognition begins in the silence after `early_s` of the endpointer and is thrown away if the user goes on, so
    that the text is mostly there when the turn ends. The device is open from the first `utterances()` to `aclose()`.
    """

    def __init__(
        self, recogniser: Recogniser, microphone: Microphone, *, spoken: Callable[[], list[str]] = list
    ) -> None:
        """`spoken`: what the agent said lately, against which a turn is checked for being its echo."""
        self._recogniser = recogniser
        self._microphone = microphone
        self._spoken = spoken
        self._reporter: Reporter | None = None
        self._notes: deque[Turn] = deque(maxlen=NOTES_HELD)
        self._heard: deque[Utterance] = deque(maxlen=NOTES_HELD)
        self._changed = anyio.Event()
        self._onset = anyio.Event()
        self._open_turns = 0
        self._failure: Exception | None = None
        self._worker: Background[None] = Background(self._work, name="recognition")
        self._muted = False
        self._closed = False

    def attach(self, reporter: Reporter) -> None:
        """Take the session's clock."""
        self._reporter = reporter

    async def warmup(self) -> None:
        """Load the recogniser."""
        await self._recogniser.warmup()

    # -- the port

    async def utterances(self) -> AsyncIterator[Utterance]:
        """Finished turns; one with text "" where something was heard that held no words. Raises DeviceError."""
        if not self._muted:
            await self._open()
        self._worker.start()
        while True:
            while self._heard:
                yield self._heard.popleft()
            if self._failure is not None:
                raise self._failure
            if self._closed:
                return
            await self._changed.wait()

    async def speech_started(self) -> None:
        """Return when enough was said to be an interruption, or at once while such a turn is going on."""
        await self._onset.wait()

    async def mute(self, on: bool) -> None:
        """Close the microphone, or open it again. A turn that is open ends as it is."""
        if on == self._muted or self._closed:
            return
        self._muted = on
        await (self._microphone.close_microphone() if on else self._open())
        self._report("device", which="microphone", state="muted" if on else "open")

    async def aclose(self) -> None:
        """Close the microphone and release the recogniser. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._notify()
        if self._worker.started:
            self._worker.cancel()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._microphone.close_microphone)
            tasks.start_soon(self._recogniser.aclose)

    async def _open(self) -> None:
        name = await self._microphone.open_microphone(self)
        self._report("device", which="microphone", state="open", name=name)

    # -- told by the audio engine, on the event loop

    def noted(self, note: Note) -> None:
        """Something was heard."""
        match note:
            case Level():
                self._report("level", dbfs=round(note.dbfs, 1))
            case Muted():
                self._tell_muted(note.on)
            case Onset():
                self._onset.set()
            case Turn():
                self._open_turns += isinstance(note.event, TurnStarted)
                self._notes.append(note)
                self._notify()

    def device(self, which: str, state: str, **more: str) -> None:
        """A device went away, or is back."""
        self._report("device", which=which, state=state, **more)

    def lost(self, error: Exception) -> None:
        """A device is gone for good, or the audio thread failed: the listener fails with that."""
        self._failure = error
        self._notify()

    def _tell_muted(self, on: bool) -> None:
        fix = muted_fix() if on else ""
        self._report("device", which="microphone", state="silent" if on else "open", **({"fix": fix} if fix else {}))

    # -- recognising

    async def _work(self) -> None:
        early: _Recognition | None = None
        try:
            async with anyio.create_task_group() as tasks:
                while True:
                    early = await self._follow(await self._next_note(), early, tasks)
        except Exception as failure:  # raised by utterances(), whose reader is the loop
            self._failure = failure
            self._notify()

    async def _next_note(self) -> Turn:
        while not self._notes:
            await self._changed.wait()
        return self._notes.popleft()

    async def _follow(self, note: Turn, early: _Recognition | None, tasks: TaskGroup) -> _Recognition | None:
        match note.event:
            case TurnPaused() | TurnEnded() if note.own:
                if early is not None:
                    early.scope.cancel()
                if isinstance(note.event, TurnEnded):
                    self._finish(note, Recognised("", refused="echo"))
            case TurnPaused() as pause:
                return self._begin(pause, tasks)
            case TurnResumed() if early is not None:
                early.scope.cancel()
            case TurnEnded() as turn:
                if early is None or early.end != turn.end:
                    early = self._begin(turn, tasks)
                await early.done.wait()
                assert early.result is not None
                self._finish(note, early.result)
            case _:
                return early
        return None

    def _begin(self, turn: TurnPaused | TurnEnded, tasks: TaskGroup) -> _Recognition:
        recognition = _Recognition(turn.end)
        tasks.start_soon(self._recognise, recognition, turn)
        return recognition

    async def _recognise(self, recognition: _Recognition, turn: TurnPaused | TurnEnded) -> None:
        with recognition.scope:
            recognition.result = await self._recogniser.recognise(turn.samples, voiced_s=turn.voiced_s)
            if recognition.result.text:
                self._report("partial", speaker="user", text=recognition.result.text)
        recognition.done.set()

    def _finish(self, note: Turn, result: Recognised) -> None:
        text = self._checked(result)
        self._heard.append(
            SpokenUtterance(
                "user",
                text,
                self._of(note.started_at_s),
                self._of(note.voiced_until_s),
                endpoint_s=max(0.0, note.decided_at_s - note.voiced_until_s),
                recognise_s=max(0.0, now() - note.decided_at_s),
            )
        )
        self._open_turns = max(0, self._open_turns - 1)
        if not self._open_turns:
            self._onset = anyio.Event()
        self._notify()

    def _checked(self, result: Recognised) -> str:
        """The text, unless it is the agent's own; a `decision` says why a turn gives none."""
        if result.text and is_echo(result.text, self._spoken()):
            self._report("decision", what="ignored", why="the agent's own words", text=result.text)
            return ""
        if not result.text:
            self._report("decision", what="ignored", why=result.refused or "no words")
        return result.text

    # -- telling

    def _of(self, monotonic_s: float) -> float:
        return 0.0 if self._reporter is None else self._reporter.of(monotonic_s)

    def _report(self, kind: str, /, **data: object) -> None:
        if self._reporter is not None:
            self._reporter.report(kind, **data)

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

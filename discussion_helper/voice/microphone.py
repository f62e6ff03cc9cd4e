"""The listener: turns from the audio thread become text, and onsets become interruptions."""

from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio

from discussion_helper.audio.devices import muted_fix
from discussion_helper.background import Background
from discussion_helper.clock import now
from discussion_helper.event_loop import LoopAffinity, start_in
from discussion_helper.parts import Reporter
from discussion_helper.stt.base import Recognised, Recogniser
from discussion_helper.turn.turns import TurnStarted
from discussion_helper.types import SpokenUtterance, Utterance
from discussion_helper.voice.awaited_verdict import AwaitedVerdict
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.decision import of_turn, of_verdict
from discussion_helper.voice.echo_text import LATELY_S, SHARE, is_echo, overlap_of
from discussion_helper.voice.heard_turns import HeardTurns
from discussion_helper.voice.interim import StablePrefix
from discussion_helper.voice.loop_breaker import LoopBreaker
from discussion_helper.voice.not_understood import ECHO_S, OWN_WORDS, SLOW, why_unclear
from discussion_helper.voice.notes import Decided, Ducked, InterimWanted, Level, Muted, Note, Onset, Turn, WordsWanted
from discussion_helper.voice.onset_flag import OnsetFlag
from discussion_helper.voice.ports import Microphone
from discussion_helper.voice.session_language import language_change
from discussion_helper.voice.turn_reader import NOTES_HELD, TurnReader
from discussion_helper.voice.verdict import RESPONSE, WITHOUT_WORDS

__all__ = ["ANSWER", "ANSWER_S", "LOOP", "LOOP_FIX", "OWN_VOICE", "MicrophoneListener"]

ANSWER_S = 1.0
"""A listener's response after which the agent falls silent so soon was an answer: "yes" to a question at its end."""
ANSWER = "an answer to the agent's last words"
OWN_VOICE = "the agent's own voice"
LOOP = "three turns in a row were the agent's own words"
LOOP_FIX = """Use headphones, or turn the loudspeaker down. Until the microphone is opened again only a loud voice, \
typing and the interrupt key are heard over the agent."""


class MicrophoneListener:
    """A `Listener` on the microphone.

    What is said over the agent is a turn only where it was decided to be one. The device is open from the first
    `utterances()` to `aclose()`.

    It belongs to the event loop that it was made on: elsewhere every coroutine raises RuntimeError, touching nothing.
    """

    def __init__(
        self,
        recogniser: Recogniser,
        microphone: Microphone,
        *,
        spoken: Callable[[float, float], list[str]] = lambda *_: [],
        only_stops: Callable[[str], bool] = lambda _: False,
        muted_fix: Callable[[], str] = muted_fix,
    ) -> None:
        """`spoken(from_s, until_s)`: what was heard of the agent between two moments, of which a turn may be the echo.
        `only_stops`: whether a text that cut the agent off says nothing more than that. Raises RuntimeError off a loop.
        """
        self._affinity = LoopAffinity()
        self._only_stops, self._muted_fix = only_stops, muted_fix
        self._recogniser = recogniser
        self._microphone = microphone
        self._spoken = spoken
        self._reporter: Reporter | None = None
        self._heard = HeardTurns(NOTES_HELD)
        self._rejoining = self._heard.rejoining
        self._reader = TurnReader(
            recogniser,
            read=self._offer,
            finished=self._finish,
            partial=self._tell_partial,
            whole=self._rejoining.whole,
            slow=lambda: self._report("decision", what="waiting", why=SLOW),
        )
        self._changed = anyio.Event()
        self._breaker = LoopBreaker()
        self._prefix = StablePrefix()
        self._onset = OnsetFlag()
        self._verdict = AwaitedVerdict()
        self._open_turns = 0
        self._failure: Exception | None = None
        self._worker: Background[None] = Background(self._read_turns, name="recognition")
        self._muted = self._opened = self._closed = False
        self._switching = anyio.Lock()
        self.readings: deque[float] = deque(maxlen=NOTES_HELD)
        """Seconds that the newest readings took; whoever looks takes them."""

    def attach(self, reporter: Reporter) -> None:
        """Take the session's clock."""
        self._reporter = reporter

    async def warmup(self) -> None:
        """Load the recogniser."""
        self._check_here()
        await self._recogniser.warmup()

    # -- the port

    async def utterances(self) -> AsyncIterator[Utterance]:
        """Finished turns; one with text "" where something was heard that held no words. Raises DeviceError."""
        self._check_here()
        async with self._switching:
            if not (self._muted or self._opened or self._closed):
                await self._open()
        self._worker.start()
        while True:
            while self._heard:
                yield self._heard.take()
            if self._failure is not None:
                raise self._failure
            if self._closed:
                return
            await self._changed.wait()

    async def speech_started(self) -> None:
        """Return when enough was said to be an interruption, or at once while such a turn is going on."""
        self._check_here()
        await self._onset.wait()

    async def resumed(self) -> None:
        """Return when somebody speaks after the turn given last, or does so already."""
        self._check_here()
        await self._rejoining.resumed()

    async def rested(self) -> None:
        """Return when no turn is open, and none waits for its text."""
        self._check_here()
        while self._open_turns:
            await self._changed.wait()

    def reopen(self, *, within_s: float) -> bool:
        """What is being said goes on with the turn given last, if it began within so long after that one's end.

        Not "stop" and no more, for that is about the agent.
        """
        self._check_here()
        told = self._verdict.note
        if told is not None and self._rejoining.is_newest(told.started_at_s) and self._only_stops(told.text):
            return False
        goes_on, over = self._heard.reopen(within_s)
        if over is not None:
            self._open_turns += 1
            self._reader.add(over)
        elif goes_on:
            self._reader.read_again()
        return goes_on

    @property
    def interim(self) -> bool:
        """Whether the words of a turn are read while it goes on; may be set at any time."""
        return self._reader.interim

    @interim.setter
    def interim(self, on: bool) -> None:
        self._reader.interim = on

    async def mute(self, on: bool) -> None:
        """Close the microphone, or open it again. A turn that is open ends as it is."""
        self._check_here()
        async with self._switching:
            if on == self._muted or self._closed:
                return
            await (self._microphone.close_microphone() if on else self._open())
            self._muted, self._opened = on, self._opened and not on
        self._report("device", which="microphone", state="muted" if on else "open")

    async def aclose(self) -> None:
        """Close the microphone and release the recogniser. Idempotent."""
        self._check_here()
        if self._closed:
            return
        self._closed = True
        self._notify()
        if self._worker.started:
            self._worker.cancel()
        async with anyio.create_task_group() as tasks:
            start_in(tasks, self._microphone.close_microphone)
            start_in(tasks, self._recogniser.aclose)

    def _check_here(self) -> None:
        self._affinity.check("the listener")

    async def _open(self) -> None:
        self._rejoining.reset()
        if name := await self._microphone.open_microphone(self):  # else the talk has ended meanwhile
            self._opened = True
            self._breaker.reset()
            self._report("device", which="microphone", state="open", name=name)

    # -- told by the audio engine, on the event loop

    def noted(self, note: Note) -> None:
        """Something was heard."""
        match note:
            case Level():
                self._report("level", dbfs=round(note.dbfs, 1))
            case Muted(on=on):
                told = {"state": "silent", "fix": self._muted_fix()} if on else {"state": "open"}
                self._report("device", which="microphone", **told)
            case Onset():
                self._onset.begin(lasts=self._open_turns > 0)
            case Ducked():
                self._verdict = self._verdict.next()
                self._onset.end()  # what the user says has yet to be decided
            case Decided():
                self._tell_decided(note)
            case Turn() | WordsWanted() | InterimWanted():
                if isinstance(note, Turn) and isinstance(note.event, TurnStarted):
                    self._open_turns += 1
                    self._rejoining.begins(note)
                self._reader.add(note)

    def device(self, which: str, state: str, **more: str) -> None:
        """A device went away, or is back."""
        self._report("device", which=which, state=state, **more)

    def lost(self, error: Exception) -> None:
        """A device is gone for good, or the audio thread failed: the listener fails with that."""
        self._failure = error
        self._notify()

    def _tell_decided(self, note: Decided) -> None:
        self._verdict.told(note)
        if not note.again:
            self._report("decision", **of_verdict(note, self._of))

    # -- recognised

    async def _read_turns(self) -> None:
        try:
            await self._reader.run()
        except Exception as failure:  # raised by utterances(), whose reader is the loop
            self._failure = failure
            self._notify()

    def _tell_partial(self, start: int, result: Recognised, complete: bool) -> None:
        """Words that were told as stable stay."""
        self.readings.append(result.took_s)
        if result.text:
            partial = self._prefix.read(start, result.text, complete=complete)
            read = {"pause": result.text} if complete else {}
            self._report("partial", speaker="user", text=partial.text, stable=partial.stable, **read)

    def _offer(self, result: Recognised, voiced_s: float, final: bool) -> None:
        """To the audio thread, which decides."""
        self._verdict.was_read |= final
        until_s = now()
        score = overlap_of(result.text, self._spoken(until_s - result.took_s - voiced_s - LATELY_S, until_s))
        words = Words(
            text=result.text,
            final=final,
            voiced_s=voiced_s,
            echo=score >= SHARE,
            score=score,
            refused=result.refused,
            doubt=result.no_speech_probability - result.average_logprob,
            language=result.language,
        )
        self._microphone.words(words)

    async def _finish(self, note: Turn, result: Recognised) -> None:
        """What was ignored has cut nothing and is no turn, not even one without words, which lets a cut reply go on."""
        if note.undecided or (note.ignored in WITHOUT_WORDS and result.text):
            note = await self._with_verdict(note, result)
        spoken = self._spoken(note.started_at_s - LATELY_S, note.voiced_until_s)
        loops = self._breaker.turn(result.text, spoken, own=note.own)
        if loops:
            self._microphone.go_half_duplex()
        if not note.ignored or not await self._is_no_answer(note.ignored):
            self._hear(note, result, spoken, loops=loops)
        elif loops or not note.decided:
            self._tell(note, result, spoken, what="ignored", why=note.ignored, loops=loops)
        is_told = self._heard.over(note)
        self._open_turns = max(0, self._open_turns - 1)
        if not self._open_turns:
            self._onset.end()
            if not is_told and self._prefix.drop():
                self._report("partial", speaker="user", text="", stable="")
        self._notify()

    async def _with_verdict(self, note: Turn, result: Recognised) -> Turn:
        """Its words may have been read before the agent was turned down for it, when there was nothing to decide."""
        if not (self._verdict.was_read or note.own):
            self._offer(result, getattr(note.event, "voiced_s", 0.0), True)
        return await self._verdict.about(note)

    async def _is_no_answer(self, ignored: str) -> bool:
        """ "Yes" over the agent's last words is an answer if it has nothing more to say."""
        if ignored != RESPONSE:
            return True
        await anyio.sleep(ANSWER_S)
        return self._microphone.speaking

    def _hear(self, note: Turn, result: Recognised, spoken: list[str], *, loops: bool) -> None:
        echo = is_echo(result.text, spoken) or self._breaker.is_loop(result.text, spoken)
        text = "" if echo else self._rejoining.text(note, result.text)
        interrupts = note.decided and not note.ignored
        answers = bool(note.ignored and text)
        if loops or answers or not note.decided:
            why = OWN_WORDS if echo else result.refused or ("words" if text else "no words")
            why = ANSWER if answers else OWN_VOICE if note.own else why
            self._tell(note, result, spoken, what="turn" if text else "ignored", why=why, loops=loops)
        if note.own and not interrupts:
            return  # it has cut nothing
        if text and (change := language_change(self._recogniser, result)):
            self._report("decision", **change)
        utterance = SpokenUtterance(
            "user",
            text,
            self._of(note.started_at_s),
            self._of(note.voiced_until_s),
            endpoint_s=max(0.0, note.decided_at_s - note.voiced_until_s),
            recognise_s=max(0.0, now() - note.decided_at_s),
            wants_answer=not (interrupts and self._only_stops(text)),
            decided=note.decided,
            unclear="" if text or self._hears_agent(note) else why_unclear(result, note),
            measured=self._measured(note, result, spoken),
        )
        self._heard.put(note, utterance, self._of)

    def _hears_agent(self, note: Turn) -> bool:
        return bool(self._spoken(note.started_at_s - ECHO_S, note.voiced_until_s))

    def _tell(self, note: Turn, result: Recognised, spoken: list[str], *, what: str, why: str, loops: bool) -> None:
        """What a turn is, and why, if nobody has told it; of the last one of a loop the way out of that."""
        reason = {"what": "half duplex", "why": LOOP, "fix": LOOP_FIX} if loops else {"what": what, "why": why}
        self._report("decision", **self._measured(note, result, spoken), **reason)

    def _measured(self, note: Turn, result: Recognised, spoken: list[str]) -> dict[str, Any]:
        return of_turn(note, result, self._of, score=overlap_of(result.text, spoken))

    # -- telling

    def _of(self, monotonic_s: float) -> float:
        return 0.0 if self._reporter is None else self._reporter.of(monotonic_s)

    def _report(self, kind: str, /, **data: object) -> None:
        if self._reporter is not None:
            self._reporter.report(kind, **data)

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

"""The voice: clauses synthesised one ahead, played without a gap, stopped at once."""

from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import anyio
import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.player import Player
from discussion_helper.clock import now
from discussion_helper.errors import SynthesisError
from discussion_helper.event_loop import LoopAffinity, start_in
from discussion_helper.responder.clauses import clauses_of
from discussion_helper.tts.base import Speech, Synthesiser
from discussion_helper.tts.heard import heard_of, heard_words
from discussion_helper.types import SpokenSentence
from discussion_helper.voice.at_rate import speech_in_parts, speech_of
from discussion_helper.voice.marks import Mark, Marks
from discussion_helper.voice.spoken import Spoken

__all__ = ["SpeakerVoice"]

_WAITS = 64


@dataclass(slots=True, eq=False)
class _Clause:
    """One sentence on its way; `start` and `end` are its place in the reply, in samples, once it was written.

    `speech` is at the loudspeaker's rate.
    """

    text: str
    ready: anyio.Event = field(default_factory=anyio.Event)
    """Its first samples are there, or never will be."""
    whole: anyio.Event = field(default_factory=anyio.Event)
    """So are its last ones."""
    failure: Exception | None = None
    """What kept the rest from being made."""
    preparing: bool = False
    first: bool = False
    """It was prepared while nothing was spoken: a reply begins with it, if it is spoken at all."""
    speech: Speech | None = None
    start: int = 0
    end: int = -1
    generation: int = 0
    left: int = 0
    """Of its samples those that had no room in the queue yet."""

    @property
    def written(self) -> bool:
        return self.end >= 0


class SpeakerVoice:
    """A `Voice` that looks ahead and knows when it is heard.

    It belongs to the event loop that it was made on: elsewhere every coroutine raises RuntimeError, touching nothing.
    Each reply is a generation of the playback, so nothing of a reply that was stopped can ever be played.
    """

    def __init__(
        self,
        synthesiser: Synthesiser,
        playback: Player,
        marks: Marks,
        *,
        close: Callable[[], Coroutine[None, None, None]],
        language: str = "en",
        is_read: Callable[[], bool] = lambda: False,
        cut: Callable[[int], object] = lambda _: None,
    ) -> None:
        """`marks` are told of what is played; `close` releases the loudspeaker. Raises RuntimeError off a loop.

        `cut` is told which reply is stopped, by its generation.
        `is_read`: nobody listens now, and what is said is read: each sentence has then arrived as soon as it is there.
        """
        self._affinity = LoopAffinity()
        self._language = language
        self._synthesiser = synthesiser
        self._playback = playback
        self._marks = marks
        self._close = close
        self._is_read = is_read
        self._cut = cut
        self._generation = 0
        self._audible = anyio.Event()
        self._begin_reply()
        self._prepared: deque[_Clause] = deque()
        self._current: _Clause | None = None
        self._waiting: anyio.CancelScope | None = None
        self._failure: Exception | None = None
        self._closed = False
        self.waits: deque[float] = deque(maxlen=_WAITS)
        """How long clauses were waited for that were to be ready, seconds; whoever looks takes them."""
        self.spoken = Spoken()
        """What was heard of it, and when."""

    async def warmup(self) -> None:
        """Load the synthesiser."""
        self._check_here()
        await self._synthesiser.warmup()

    # -- speaking

    async def speak(self, sentence: str) -> SpokenSentence:
        """Say one sentence; returns when its last sample was handed to the device, or at once when stopped.

        A lost loudspeaker stops it as well, for what was heard is to be told; the next call then raises DeviceError.
        Raises SynthesisError.
        """
        self._check_here()
        self._raise_failure()
        if self._is_read():
            return await self._show(sentence)
        began = now()
        clause = self._current = self._take(sentence)
        first: list[Mark] = []
        try:
            with anyio.CancelScope() as self._waiting:
                await self._play(clause, first)
        except SynthesisError:
            if not self._was_stopped:  # else the stop itself broke off the synthesis
                raise
        except BaseException:
            self._halt()
            raise
        finally:
            self._current = self._waiting = None
            self.spoken.end(now())
        return self._result(clause, began, first)

    async def _show(self, sentence: str) -> SpokenSentence:
        self._prepared.clear()
        self._audible.set()
        await anyio.lowlevel.checkpoint()
        return SpokenSentence(sentence, heard=sentence)

    async def _play(self, clause: _Clause, first: list[Mark]) -> None:
        await self._get_ready(clause)
        self._write(clause)
        if clause.end > clause.start:
            due = self._marks.set(self._generation, clause.start - 1)
            first.append(self._marks.set(self._generation, clause.start))
            await due.reached.wait()
            self._audible.set()
            await first[0].reached.wait()
            if (at_s := first[0].at_s) is not None:
                self.spoken.begin(clause.text, at_s)
            await self._write_rest(clause)
            last = self._marks.set(self._generation, clause.end - 1)
            await last.reached.wait()

    async def _write_rest(self, clause: _Clause) -> None:
        """What is there, and then what is still being made, which is written as it comes."""
        while clause.left or not clause.whole.is_set():
            await (self._write_more(clause) if clause.left else clause.whole.wait())
        if clause.failure is not None:
            raise clause.failure

    def _result(self, clause: _Clause, began: float, first: list[Mark]) -> SpokenSentence:
        count = clause.end - clause.start if clause.written else 0
        played = min(max(0, self._stopped_at - clause.start), count) if self._was_stopped else count
        at_s = first[0].at_s if first else None
        was_cut = self._was_stopped and (played < count or not clause.written or not clause.whole.is_set())
        heard = self._heard(clause, played, count) if was_cut else clause.text
        cut = was_cut and not (clause.written and _is_measured(clause) and heard == clause.text)  # else it was a pause
        return SpokenSentence(
            clause.text,
            first_audio_s=max(0.0, at_s - began) if at_s is not None else 0.0,
            played_s=played / self._playback.rate,
            cut=cut,
            heard=heard if cut else None,
            estimated=cut and not _is_measured(clause),
        )

    def _heard(self, clause: _Clause, played: int, count: int) -> str:
        """The words whose audio was handed to the device: what it holds is still heard, whenever it is stopped."""
        if clause.speech is not None and clause.speech.words is not None:
            return heard_of(clause.text, clause.speech.words, played)
        rate = self._playback.rate
        return heard_words(clause.text, played / rate, count / rate, language=self._language)

    def clauses(self, text: str) -> list[str]:
        """A long text in the pieces in which a reply comes: the first sound is early, and a cut loses little."""
        return clauses_of(text)

    async def prepare(self, sentence: str) -> None:
        """Synthesise the sentence that comes next; it follows the one being played without a gap."""
        self._check_here()
        if self._is_read():
            return
        clause = _Clause(sentence, preparing=True, first=self._current is None)
        self._prepared = deque(other for other in self._prepared if other.written)
        self._prepared.append(clause)
        generation = self._generation
        try:
            async with aclosing(speech_in_parts(self._synthesiser, sentence, self._playback.rate)) as parts:
                async for part in parts:
                    self._add(clause, part, generation)
        except SynthesisError as error:
            if clause.speech is not None:
                clause.failure = error
            if not self._was_stopped:
                raise
        finally:
            if clause.speech is not None and not clause.whole.is_set():
                clause.failure = clause.failure or SynthesisError("The voice was stopped in mid-sentence.")
            clause.ready.set()
            clause.whole.set()

    def _add(self, clause: _Clause, part: Speech, generation: int) -> None:
        """A part of it is there: it is written behind what was, if that is written; else behind the clause before."""
        before = clause.speech
        samples = part.samples if before is None else np.concatenate((before.samples, part.samples))
        clause.speech = replace(before or part, samples=samples)
        if not part.more:
            clause.whole.set()
        clause.ready.set()
        if clause.written:
            self._extend(clause, part.samples)
        elif self._follows(clause) and generation == self._generation and len(samples) <= self._playback.room:
            self._write(clause)

    def _follows(self, clause: _Clause) -> bool:
        """What is being played is written to its end, and this comes next."""
        current = self._current
        if current is None or clause not in self._prepared:
            return False
        return current.written and not current.left and current.whole.is_set()

    def _extend(self, clause: _Clause, samples: Samples) -> None:
        room = 0 if clause.left else self._playback.room
        if self._playback.write(clause.generation, samples[:room]) is not None:
            clause.left += max(0, len(samples) - room)
        clause.end += len(samples)

    async def audible(self) -> None:
        """Return when the first sample of what is being spoken was handed to the device, or would have been.

        A reply that was turned down before its first sample can be cut as well as one that was heard.
        """
        self._check_here()
        await self._audible.wait()

    def _take(self, sentence: str) -> _Clause:
        """The clause that was prepared for a sentence, or a new one; a new reply when nothing is being played."""
        same = bool(self._prepared) and self._prepared[0].text == sentence
        clause = self._prepared.popleft() if same else _Clause(sentence, first=True)
        if not same:
            self._prepared.clear()
        if clause.first and not clause.written and not self._playback.pending(self._generation):
            self._begin_reply()
        return clause

    def _begin_reply(self) -> None:
        self._generation += 1
        if self._audible.is_set():  # who waits already waits for this reply
            self._audible = anyio.Event()
        self._was_stopped = False
        self._stopped_at = 0

    async def _get_ready(self, clause: _Clause) -> None:
        if clause.preparing:
            began = now()
            await clause.ready.wait()
            self.waits.append(now() - began)
        if clause.speech is None:
            clause.speech = await speech_of(self._synthesiser, clause.text, self._playback.rate)
            clause.whole.set()

    def _write(self, clause: _Clause) -> None:
        if clause.written or clause.speech is None:
            return
        samples = clause.speech.samples
        part = samples[: self._playback.room]
        end = self._playback.write(self._generation, part)
        if end is not None:
            clause.start, clause.left, clause.generation = end - len(part), len(samples) - len(part), self._generation
            clause.end = clause.start + len(samples)

    async def _write_more(self, clause: _Clause) -> None:
        """Of what is longer than the queue: once half of what waits was played."""
        assert clause.speech is not None
        until = clause.end - clause.left
        half = self._marks.set(self._generation, until - self._playback.pending(self._generation) // 2 - 1)
        await half.reached.wait()
        part = clause.speech.samples[len(clause.speech.samples) - clause.left :][: self._playback.room]
        end = self._playback.write(self._generation, part)
        clause.left = 0 if end is None else clause.left - len(part)

    # -- stopping

    async def stop(self) -> None:
        """Silence within one block; what is queued is discarded. Idempotent, safe when idle."""
        self._check_here()
        self._halt()
        await anyio.lowlevel.checkpoint()

    def _halt(self) -> None:
        self._was_stopped = True
        self._stopped_at = self._playback.halt(self._generation).samples
        self._cut(self._generation)
        self._prepared.clear()
        self._marks.release_all()
        if self._waiting is not None:
            self._waiting.cancel()

    def fail(self, error: Exception) -> None:
        """The loudspeaker is lost: what is being spoken is cut, and whatever comes later raises `error`."""
        self._failure = error
        self._halt()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _check_here(self) -> None:
        self._affinity.check("the voice")

    async def aclose(self) -> None:
        """Stop, and release the synthesiser and the loudspeaker. Idempotent."""
        self._check_here()
        self._halt()
        if self._closed:
            return
        self._closed = True
        async with anyio.create_task_group() as tasks:
            start_in(tasks, self._close)
            start_in(tasks, self._synthesiser.aclose)


def _is_measured(clause: _Clause) -> bool:
    return clause.speech is not None and clause.speech.words is not None

"""One reply: sentences are generated ahead of the voice and spoken one by one, until the end or a cut."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import anyio

from discussion_helper.background import LET_GO_S, Background, CancelledWithin, isolated
from discussion_helper.clock import now
from discussion_helper.event_loop import start_in
from discussion_helper.generation import Generation
from discussion_helper.parts import Audible, LooksAhead, Voice
from discussion_helper.types import SpokenSentence, unheard_in

__all__ = ["CHARACTERS_PER_S", "CUT_LIMIT_S", "RETURN_LIMIT_S", "Reply", "estimate_heard"]

CUT_LIMIT_S = 0.2
"""How long a voice may take to stop before the loop goes on without it."""
RETURN_LIMIT_S = 0.06
"""How long a voice that has stopped may take to return from `speak`; then it is cancelled."""
CHARACTERS_PER_S = 15.0
"""Rate of read speech, about 150 words of 6 characters a minute: only for voices that cannot say what was heard."""


def estimate_heard(sentence: str, played_s: float) -> str:
    """The beginning of `sentence`, of whole words, that fits into `played_s` seconds at a usual speaking rate."""
    room = played_s * CHARACTERS_PER_S
    end = 0
    for word in re.finditer(r"\S+", sentence):
        room -= len(word[0]) + 1
        if room < 0:
            break
        end = word.end()
    return sentence[:end]


class Reply:
    """What is generated, spoken. Owned by the discussion's loop.

    After a cut it may be begun again: it goes on with the words that were not heard.
    """

    def __init__(
        self, generation: Generation, voice: Voice, *, begins: Callable[[str], None], ahead: bool = False
    ) -> None:
        """`begins` is told of each sentence when the voice gets it. `ahead`: it was begun before the turn was over."""
        self.generation = generation
        self.ahead = ahead
        self._voice = voice
        self._begins = begins
        self.begin()

    def begin(self) -> None:
        """Nothing of it was spoken yet, or what is left is to be spoken now."""
        self._waiting: anyio.CancelScope | None = None
        self._speaking: Background[SpokenSentence] | None = None
        self._begun = anyio.Event()
        self._said: list[str] = []
        self._was_put_back = False
        self._cut_at: float | None = None
        self._silenced = False
        self.cut_by: str | None = None
        self.results: list[SpokenSentence] = []
        self.first_audio_at: float | None = None

    # -- speaking

    async def speak(self) -> None:
        """Say what there is to say, until the end or a cut. Raises what the responder or the voice failed with.

        Returns in silence. Being cancelled is a cut: the voice is stopped and what was heard is kept.
        """
        async with anyio.create_task_group() as tasks:
            if isinstance(self._voice, LooksAhead):
                start_in(tasks, self._prepare_ahead, self._voice)
            try:
                await self._speak_all()
            except anyio.get_cancelled_exc_class():
                self.cut("cancelled")
                raise
            finally:
                await self.silence()
            tasks.cancel_scope.cancel()

    async def _speak_all(self) -> None:
        while self.cut_by is None:
            with anyio.CancelScope() as self._waiting:
                await self.generation.ready()
            if self.cut_by is not None or not self.generation.ahead:
                return
            await self._speak_one(self.generation.take())

    async def _speak_one(self, sentence: str) -> None:
        # A task of its own, because only Voice.stop() makes a voice tell what was heard: no cancellation gets there.
        speaking = Background(partial(self._call_voice, sentence), name="the voice").start()
        self._speaking, began = speaking, now()
        self._said.append(sentence)
        try:
            with anyio.CancelScope() as self._waiting:
                await speaking.finished()
        except anyio.get_cancelled_exc_class():
            self.cut("cancelled")
            raise
        finally:
            self.generation.release()
            await self._settle(speaking, sentence, began)

    async def _call_voice(self, sentence: str) -> SpokenSentence:
        self._begun.set()  # whoever waits for it runs when the voice has begun, and not before
        self._begins(sentence)
        return await self._voice.speak(sentence)

    async def _settle(self, speaking: Background[SpokenSentence], sentence: str, began: float) -> None:
        try:
            await self.silence()
        finally:
            result = speaking.result
            told = isinstance(result, SpokenSentence) and (result.cut or not speaking.cancelled)
            if result is None or not told:
                result = SpokenSentence(sentence, played_s=self._played_s(began), cut=True)
            self.results.append(replace(result, text=sentence))
            if result.cut:
                self._put_back(self.results[-1])
        self._check(speaking)
        if result.cut:
            self.cut("voice")

    def _put_back(self, cut: SpokenSentence) -> None:
        """What was not heard is to be said when the reply goes on.

        That is all of the sentence where a guess would decide, or the voice told words of which it is not made: a few
        words twice annoy, and words left out mislead.
        """
        known = None if cut.heard is None or cut.estimated else unheard_in(cut.text, cut.heard)
        rest = cut.text if known is None else known
        if rest:
            self.generation.put_back(rest)
            self._was_put_back = True

    def _check(self, speaking: Background[SpokenSentence]) -> None:
        """Raises what the voice failed with; a voice that was cut may end by a cancellation and without a result."""
        was_cut = self.cut_by is not None
        if speaking.error is not None and not (was_cut and isinstance(speaking.error, CancelledWithin)):
            raise speaking.error
        if not was_cut and not isinstance(speaking.result, SpokenSentence):
            raise TypeError(f"the voice's speak returned {speaking.result!r} where a SpokenSentence was due")

    def _played_s(self, began: float) -> float:
        """For a voice that did not tell."""
        if self.first_audio_at is None:
            return 0.0
        return max(0.0, (now() if self._cut_at is None else self._cut_at) - max(began, self.first_audio_at))

    async def _prepare_ahead(self, voice: LooksAhead) -> None:
        await self._begun.wait()
        prepared = 0
        while True:
            # One ahead: the sentence being spoken is in `_said`, the next one is the first ahead.
            ahead = self.generation.ahead
            if ahead and prepared < len(self._said):
                prepared = len(self._said)
                await isolated(partial(voice.prepare, ahead[0]), name="preparing a sentence")
            else:
                await self.generation.change()

    async def audible(self) -> None:
        """Wait for the reply's first audio and note its time; the call of `speak` where the voice cannot tell."""
        await self._begun.wait()
        if isinstance(self._voice, Audible):
            await isolated(self._voice.audible, name="waiting for the voice's first audio")
        self.first_audio_at = now()
        self.generation.release()

    # -- cutting

    def cut(self, by: str) -> bool:
        """The reply is over, at whichever moment it is; whoever speaks it silences the voice. False = it was before.

        The one path of button, microphone and stop.
        """
        if self.cut_by is not None:
            return False
        self.cut_by, self._cut_at = by, now()
        if self._waiting is not None:
            self._waiting.cancel()
        return True

    async def silence(self) -> None:
        """If it was cut: stop the voice and give `speak` a moment to tell what was heard. Bounded, shielded, once."""
        if self.cut_by is None or self._silenced:
            return
        self._silenced = True
        with anyio.CancelScope(shield=True):
            stopping = Background(self._voice.stop, name="stopping the voice").start()
            if not await stopping.ends(within_s=CUT_LIMIT_S):
                await stopping.stop(within_s=LET_GO_S)
            speaking = self._speaking
            if speaking is not None and not await speaking.ends(within_s=RETURN_LIMIT_S):
                await speaking.stop(within_s=LET_GO_S)
        if stopping.error is not None:
            raise stopping.error

    # -- what became of it

    @property
    def heard(self) -> str:
        """The words whose audio left the device since it was begun."""
        return _joined(map(_heard, self.results))

    @property
    def late(self) -> Background[SpokenSentence] | None:
        """The call of a voice that holds on to a sentence though it was stopped and cancelled."""
        return self._speaking if self._speaking is not None and self._speaking.running else None

    @property
    def is_mute(self) -> bool:
        """It is over, and there was nothing in it that could be pronounced."""
        return self.cut_by is None and bool(self.results) and not any(map(str.isalnum, self.said))

    @property
    def said(self) -> str:
        """What was to be said since it was begun: all that was generated. What was heard is its beginning."""
        return _joined([*self._said, *self.generation.ahead[self._was_put_back :]])


def _joined(texts: Iterable[str]) -> str:
    return " ".join(text for text in texts if text.strip())


def _heard(result: SpokenSentence) -> str:
    if not result.cut:
        return result.text
    return estimate_heard(result.text, result.played_s) if result.heard is None else result.heard

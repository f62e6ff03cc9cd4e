"""One reply: sentences are generated ahead of the voice and spoken one by one, until the end or a cut."""

from collections import deque
from collections.abc import AsyncIterator

import anyio

from discussion_helper.clock import now
from discussion_helper.iteration import closing
from discussion_helper.parts import Audible, LooksAhead, Voice
from discussion_helper.types import SpokenSentence

__all__ = ["CHARACTERS_PER_S", "CUT_LIMIT_S", "SENTENCES_AHEAD", "Reply", "estimate_heard"]

CUT_LIMIT_S = 0.25
"""How long a voice may take to stop, and then to return from `speak`, before the loop goes on without it."""
SENTENCES_AHEAD = 64
"""Bound of the text generated and not yet spoken; the responder then waits."""
CHARACTERS_PER_S = 15.0
"""Rate of read speech, about 150 words of 6 characters a minute: only for voices that cannot say what was heard."""


def estimate_heard(sentence: str, played_s: float) -> str:
    """The whole words that fit into `played_s` seconds at a usual speaking rate."""
    room = played_s * CHARACTERS_PER_S
    words: list[str] = []
    for word in sentence.split():
        room -= len(word) + 1
        if room < 0:
            break
        words.append(word)
    return " ".join(words)


class Reply:
    """Owned by the discussion's loop. `generate` and `speak` run as two of its tasks.

    After a cut `speak` may be called again: it goes on with the sentence that was cut.
    """

    def __init__(self, sentences: AsyncIterator[str], voice: Voice, *, max_sentences: int = 0) -> None:
        self._sentences = sentences
        self._voice = voice
        self._max = max_sentences
        self._ahead: deque[str] = deque()
        self._changed = anyio.Event()
        self._complete = False
        self._failure: Exception | None = None
        self._generation: anyio.CancelScope | None = None
        self._abandoned = False
        self._waiting: anyio.CancelScope | None = None
        self._speaking: anyio.CancelScope | None = None
        self._begun = anyio.Event()
        self._said: list[str] = []
        self.results: list[SpokenSentence] = []
        self.cut_by: str | None = None
        self.first_sentence_at: float | None = None
        self.first_audio_at: float | None = None

    # -- generating

    async def generate(self) -> None:
        """Pull sentences from the responder until it ends, the cap is reached, or `abandon` is called."""
        try:
            with anyio.CancelScope() as self._generation:
                if not self._abandoned:
                    await self._pull()
        except Exception as failure:  # the loop raises it once what came before has been spoken
            self._failure = failure
        finally:
            self._complete = True
            self._notify()

    async def _pull(self) -> None:
        count = 0
        async with closing(self._sentences, within_s=CUT_LIMIT_S) as sentences:
            async for sentence in sentences:
                if not sentence.strip():
                    continue
                await self._put(sentence)
                count += 1
                if count == self._max:
                    return

    async def _put(self, sentence: str) -> None:
        if self.first_sentence_at is None:
            self.first_sentence_at = now()
        self._ahead.append(sentence)
        self._notify()
        while len(self._ahead) >= SENTENCES_AHEAD:
            await self._changed.wait()

    def abandon(self) -> None:
        """Stop generating; the request is cancelled."""
        self._abandoned = True
        if self._generation is not None:
            self._generation.cancel()

    # -- speaking

    async def first_sentence(self) -> bool:
        """Wait for something to say; False when the reply ends without a sentence. Raises the responder's error."""
        while not self._ahead and not self._complete:
            await self._changed.wait()
        if not self._ahead and self._failure is not None:
            raise self._failure
        return bool(self._ahead)

    async def speak(self) -> None:
        """Say what there is to say, until the end or a cut. Raises what the responder or the voice failed with.

        When it is cancelled, the voice is silenced first and what was heard is kept.
        """
        self.cut_by, self.results, self._said = None, [], []
        self._begun, self.first_audio_at = anyio.Event(), None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._silence_when_cancelled)
            if isinstance(self._voice, LooksAhead):
                tasks.start_soon(self._prepare_ahead, self._voice)
            await self._speak_all()
            tasks.cancel_scope.cancel()
        if self._failure is not None and self.cut_by is None:
            raise self._failure

    async def _speak_all(self) -> None:
        while self.cut_by is None:
            sentence = await self._next()
            if sentence is None:
                return
            await self._speak_one(sentence)

    async def _next(self) -> str | None:
        with anyio.CancelScope() as self._waiting:
            while not self._ahead and not self._complete:
                await self._changed.wait()
        if self.cut_by is not None or not self._ahead:
            return None
        sentence = self._ahead.popleft()
        self._notify()
        return sentence

    async def _speak_one(self, sentence: str) -> None:
        self._said.append(sentence)
        result = SpokenSentence(sentence, cut=True)  # stands if the voice never comes back
        # Shielded, because only Voice.stop() makes a voice tell what was heard; a cancellation arrives through
        # _silence_when_cancelled, which stops the voice and sets this scope's deadline.
        with anyio.CancelScope(shield=True) as self._speaking:
            self._begun.set()
            result = await self._voice.speak(sentence)
        self._speaking = None
        self.results.append(result)
        if result.cut:
            self.cut_by = self.cut_by or "voice"
            self._ahead.appendleft(sentence)

    async def _silence_when_cancelled(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            if self._speaking is not None:
                await self.cut("cancelled")

    async def _prepare_ahead(self, voice: LooksAhead) -> None:
        await self._begun.wait()
        prepared = 0
        while True:
            # One ahead: the sentence being spoken is in `_said`, the next one is the first in `_ahead`.
            if self._ahead and prepared < len(self._said):
                prepared = len(self._said)
                await voice.prepare(self._ahead[0])
            else:
                await self._changed.wait()

    async def audible(self) -> None:
        """Wait for the reply's first audio and note its time; the call of `speak` where the voice cannot tell."""
        await self._begun.wait()
        if isinstance(self._voice, Audible):
            await self._voice.audible()
        if self.first_audio_at is None:
            self.first_audio_at = now()

    async def cut(self, by: str) -> None:
        """The reply is over, at whichever moment it is: the one path of button, microphone and stop.

        Returns when the voice has stopped, at the latest after CUT_LIMIT_S.
        """
        if self.cut_by is None:
            self.cut_by = by
        if self._waiting is not None:
            self._waiting.cancel()
        try:
            with anyio.move_on_after(CUT_LIMIT_S, shield=True):
                await self._voice.stop()
        except Exception as failure:  # told by the loop, which owns the reply
            self._failure = failure
        if self._speaking is not None:
            self._speaking.deadline = now() + CUT_LIMIT_S

    # -- what became of it

    @property
    def heard(self) -> str:
        """The words whose audio left the device in the last `speak`."""
        return " ".join(filter(None, map(_heard, self.results)))

    @property
    def said(self) -> str:
        """What the last `speak` was to say: all that was generated."""
        waiting = self._ahead if not (self.results and self.results[-1].cut) else list(self._ahead)[1:]
        return " ".join([*self._said, *waiting])

    @property
    def has_more(self) -> bool:
        """Something is left to say, or may still come."""
        return bool(self._ahead) or not self._complete

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


def _heard(result: SpokenSentence) -> str:
    if not result.cut:
        return result.text
    return estimate_heard(result.text, result.played_s) if result.heard is None else result.heard

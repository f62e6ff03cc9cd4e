"""The text of one reply: pulled from the responder ahead of the voice."""

from collections import deque
from collections.abc import AsyncIterator, Coroutine

import anyio
from anyio.lowlevel import checkpoint

from discussion_helper.background import isolated
from discussion_helper.clock import now
from discussion_helper.iteration import closing
from discussion_helper.waiters import Waiters

__all__ = ["CLOSE_REPLY_S", "LONG", "SENTENCES_AHEAD", "Generation"]

CLOSE_REPLY_S = 0.25
"""How long the responder's iterator may take to close."""
SENTENCES_AHEAD = 64
"""Bound of the text generated and not yet spoken; the responder then waits."""

LONG = 20
"""Characters of a sentence that takes longer to say, 1.3 s at 15 a second, than the next one to be got ready."""


class Generation:
    """`run` is a task of the discussion's loop; who speaks takes sentence after sentence, and may put one back."""

    def __init__(
        self,
        sentences: AsyncIterator[str],
        *,
        max_sentences: int = 0,
        ahead: int = SENTENCES_AHEAD,
        holds: bool = False,
    ) -> None:
        """`max_sentences`: 0 = no cap. `ahead`: sentences that may wait to be spoken, until `commit`.

        `holds`: after the first sentence, if it is `LONG`, no more is asked for until `release`: until it is heard it
        needs the processor for itself.
        """
        self._sentences = sentences
        self._max = max_sentences
        self._limit = ahead
        self._holds = holds
        self._pulling = False
        self._asked_at: float | None = None
        self._worked_s = 0.0
        self._ahead: deque[str] = deque()
        self._changed = Waiters()
        self._complete = False
        self._scope = anyio.CancelScope()
        self._failure: Exception | None = None
        self.first_at: float | None = None
        """When the first sentence came, on the event loop's clock."""
        self.count = 0
        """Sentences that came."""
        self.broken_off = False
        """It was abandoned before its end: the responder might have said more."""
        self.closed = anyio.Event()
        """Nothing of the request is left; of a responder that does not let go, later than `run` returns."""

    async def run(self) -> None:
        """Pull sentences from the responder until it ends, the cap is reached, or `abandon` is called."""
        try:
            with self._scope:
                await isolated(self._pull, name="the responder's reply")
        except Exception as failure:  # for whoever waits for the next sentence
            self._failure = failure
        finally:
            self._complete = True
            if not self._pulling:
                self.closed.set()
            self._changed.wake()

    async def _pull(self) -> None:
        self._pulling = True
        try:
            self._check()
            async with closing(self._sentences, within_s=CLOSE_REPLY_S) as sentences:
                await self._take_from(sentences)
        finally:
            self._pulling = False
            self.closed.set()

    async def _take_from(self, sentences: AsyncIterator[str]) -> None:
        self._asked_at = now()
        try:
            async for sentence in sentences:
                self._worked()
                if not isinstance(sentence, str):
                    raise TypeError(f"the responder gave {sentence!r} where a sentence was due")
                if not sentence.strip():
                    await checkpoint()  # one that gives nothing for ever keeps nobody else from running
                else:
                    self.count += 1
                    await self._put(sentence)
                    if self.count == self._max:
                        return
                self._asked_at = now()
        finally:
            self._worked()

    def _worked(self) -> None:
        self._worked_s, self._asked_at = self.worked_s, None

    @property
    def worked_s(self) -> float:
        """Seconds in which the responder was waited for."""
        return self._worked_s + (0.0 if self._asked_at is None else now() - self._asked_at)

    def _check(self) -> None:
        if isinstance(self._sentences, AsyncIterator):
            return
        if isinstance(self._sentences, Coroutine):
            self._sentences.close()  # nobody will await it
            raise TypeError("the responder's reply is a coroutine: make it an async generator, with `yield sentence`")
        raise TypeError(f"the responder's reply gave {self._sentences!r} where an async iterator was due")

    async def _put(self, sentence: str) -> None:
        if self.first_at is None:
            self.first_at = now()
        self._ahead.append(sentence)
        self._holds = self._holds and len(sentence) >= LONG
        self._changed.wake()
        while self._holds or len(self._ahead) >= self._limit:
            await self._changed.wait()

    def release(self) -> None:
        """The first sentence is being heard, or nobody works on it: the others may come. Idempotent."""
        self._holds = False
        self._changed.wake()

    def commit(self) -> None:
        """It is to be spoken: as much of it may wait as of any other."""
        self._limit = SENTENCES_AHEAD
        self._changed.wake()

    @property
    def failed(self) -> bool:
        """The responder failed before it gave anything that is left to say."""
        return self._failure is not None and not self._ahead

    def abandon(self) -> None:
        """Stop generating; the request is cancelled."""
        self.broken_off = self.broken_off or not self._complete
        self._scope.cancel()

    async def ready(self) -> bool:
        """Wait for something to say; False when there is nothing more. Raises what the responder failed with, then."""
        while self.has_more and not self._ahead:
            await self._changed.wait()
        if not self._ahead and self._failure is not None:
            raise self._failure
        return bool(self._ahead)

    async def change(self) -> None:
        """Wait until a sentence was added or taken, or the end came."""
        await self._changed.wait()

    def take(self) -> str:
        """The next sentence, which must be `ready`."""
        sentence = self._ahead.popleft()
        self._changed.wake()
        return sentence

    def put_back(self, text: str) -> None:
        """A sentence, or the end of one, is to be said before the others."""
        self._ahead.appendleft(text)

    @property
    def ahead(self) -> list[str]:
        """The sentences that wait."""
        return list(self._ahead)

    @property
    def has_more(self) -> bool:
        """Something is left to say, or may still come."""
        return bool(self._ahead) or not self._complete

"""Answering ahead of time: the reply to what the user has probably said, begun in the silence, kept or thrown away."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from discussion_helper.background import LET_GO_S, Background
from discussion_helper.clock import now
from discussion_helper.generation import CLOSE_REPLY_S, Generation
from discussion_helper.parts import LooksAhead, Responder, Speculates, Voice
from discussion_helper.types import Message

__all__ = ["AHEAD", "Speculation", "Tally"]

AHEAD = 2
"""Clauses of a reply that may never be said: more than is spoken until the model has given the next."""


@dataclass(slots=True)
class Tally:
    """How often it was done, and what it cost; `on` may be set at any time, for whoever wants no more of it."""

    on: bool = True
    begun: int = 0
    committed: int = 0
    thrown_away: int = 0
    generated_s: float = 0.0
    """Seconds in which a responder was waited for ahead of time."""
    synthesised_s: float = 0.0
    """The same of the voice."""
    wasted_s: float = 0.0
    """Of both, what was thrown away."""

    @property
    def share(self) -> float:
        """Of what was begun and decided, what was kept; 0.0 to 1.0."""
        decided = self.committed + self.thrown_away
        return self.committed / decided if decided else 0.0

    def as_dict(self) -> dict[str, Any]:
        """As it goes on the wire; seconds with 3 decimals."""
        counts = {"on": self.on, "begun": self.begun, "committed": self.committed, "thrown_away": self.thrown_away}
        seconds = {name: round(getattr(self, name), 3) for name in ("generated_s", "synthesised_s", "wasted_s")}
        return counts | seconds | {"share": round(self.share, 3)}


@dataclass(slots=True, eq=False)
class _Guess:
    """One reply begun ahead of time."""

    messages: list[Message]
    committed: anyio.Event
    generation: Generation | None = None
    """None = it has not begun, or the responder refused."""
    work: Background[None] | None = None
    counted_s: float = 0.0
    """Of the generation, before it was taken back."""
    synthesis_at: float | None = None
    synthesis_s: float | None = None

    @property
    def synthesised_s(self) -> float:
        """Seconds of the voice so far."""
        if self.synthesis_at is None:
            return 0.0
        return now() - self.synthesis_at if self.synthesis_s is None else self.synthesis_s

    def drop(self) -> None:
        if self.generation is not None:
            self.generation.abandon()
        if self.work is not None and self.work.running:
            self.work.cancel()


class Speculation:
    """At most one is in flight: the next begins once the request of the last one is closed.

    What it fails with is not told; whoever asks in earnest then hears it. For the discussion's loop.
    """

    def __init__(
        self, responder: Responder, voice: Voice, tally: Tally, *, generate: Callable[[Generation], object]
    ) -> None:
        """`generate` starts the task of a generation."""
        self._responder = responder
        self._voice = voice
        self._tally = tally
        self._generate = generate
        self._guess: _Guess | None = None
        self._last: Generation | None = None
        """The request that was begun last, which may still be closing."""
        self._taken: Background[None] | None = None
        """Work on the reply that was taken last: its first clause may still be prepared."""

    def begin(self, messages: Sequence[Message], *, max_sentences: int = 0) -> bool:
        """Answer these messages, unless that was begun; what was begun for others is thrown away.

        False if it is off, or the responder is not made for it.
        """
        if self._guess is not None and self._guess.messages == list(messages):
            return True
        self._throw_away()
        if not self._tally.on or not isinstance(self._responder, Speculates):
            return False
        self._let_go()
        responder, guess = self._responder, _Guess(list(messages), anyio.Event())

        def generation() -> Generation:
            sentences = responder.speculate(messages, guess.committed)
            holds = isinstance(self._voice, LooksAhead)
            return Generation(sentences, max_sentences=max_sentences, ahead=AHEAD, holds=holds)

        self._guess = guess
        guess.work = Background(lambda: self._work(guess, generation), name="answering ahead of time").start()
        return True

    async def take(self, messages: Sequence[Message]) -> Generation | None:
        """The reply to these messages, if it is the one that was begun; what was begun for others is closed first.

        None also when it failed.
        """
        self._let_go()
        guess = self._guess
        generation = guess.generation if guess is not None and guess.messages == list(messages) else None
        if guess is None or generation is None or generation.failed:
            await self.stop()
            return None
        self._guess, self._taken = None, guess.work
        self._tally.committed += 1
        self._count(guess, generation)
        guess.committed.set()
        generation.commit()
        return generation

    def hold(self, messages: Sequence[Message], generation: Generation, *, ahead: bool) -> None:
        """A reply to these that was to be spoken may be for nothing after all. `ahead`: it was one that was taken."""
        self._throw_away()
        if ahead:
            self._tally.committed -= 1
        else:
            self._tally.begun += 1
        committed = anyio.Event()
        committed.set()
        self._last = generation
        counted_s = generation.worked_s
        self._guess = _Guess(list(messages), committed, generation, counted_s=counted_s)

    async def stop(self) -> None:
        """Throw away what was begun; its request is closed within 0.25 s, or is left to its fate. Idempotent."""
        self._throw_away()
        await self._closed()

    async def close(self) -> None:
        """The end: the same without waiting for the request, which whoever runs it ends."""
        works = [self._taken, None if self._guess is None else self._guess.work]
        self._let_go()
        self._throw_away()
        for work in works:
            if work is not None:
                await work.ends(within_s=LET_GO_S)

    def _let_go(self) -> None:
        """A voice that still prepares for the reply before is not waited for."""
        taken, self._taken = self._taken, None
        if taken is not None and taken.running:
            taken.cancel()

    def _throw_away(self) -> None:
        guess, self._guess = self._guess, None
        if guess is None:
            return
        if guess.generation is not None:
            self._tally.thrown_away += 1
            self._tally.wasted_s += self._count(guess, guess.generation)
        guess.drop()

    def _count(self, guess: _Guess, generation: Generation) -> float:
        """What it has cost; for once."""
        generated_s = generation.worked_s - guess.counted_s
        self._tally.generated_s += generated_s
        self._tally.synthesised_s += guess.synthesised_s
        return generated_s + guess.synthesised_s

    async def _closed(self) -> bool:
        """Whether nothing is left of the request that was begun last; waits for it to close."""
        if self._last is not None:
            with anyio.move_on_after(CLOSE_REPLY_S + LET_GO_S):
                await self._last.closed.wait()
        return self._last is None or self._last.closed.is_set()

    async def _work(self, guess: _Guess, asked: Callable[[], Generation]) -> None:
        if not await self._closed() or self._guess is not guess:  # a cancellation may come in the moment after that
            return
        generation = self._last = guess.generation = asked()
        self._tally.begun += 1
        self._generate(generation)
        if isinstance(self._voice, LooksAhead) and await generation.ready():
            await self._synthesise(guess, self._voice, generation.ahead[0])
        if not guess.committed.is_set():  # else whoever speaks it lets the rest come
            generation.release()

    async def _synthesise(self, guess: _Guess, voice: LooksAhead, clause: str) -> None:
        """Unless it is spoken already: then the voice would take it for the sentence after that."""
        if guess.committed.is_set():
            return
        guess.synthesis_at = now()
        try:
            await voice.prepare(clause)
        finally:
            guess.synthesis_s = now() - guess.synthesis_at

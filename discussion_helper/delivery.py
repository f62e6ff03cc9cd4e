"""Delivering replies: each is spoken while the user is listened for, and what was heard of it goes on record."""

from collections.abc import Awaitable, Callable

import anyio

from discussion_helper.background import Background
from discussion_helper.clock import now
from discussion_helper.event_loop import start_in
from discussion_helper.parts import Thread
from discussion_helper.policy import Policy
from discussion_helper.record import Record
from discussion_helper.reply import Reply
from discussion_helper.storing import store_whatever_comes
from discussion_helper.types import Floor, SpokenSentence, SpokenUtterance, TurnTiming, Utterance

__all__ = ["LATE_LIMIT_S", "SPOKEN_KEPT", "STILL_SPEAKING", "Delivery", "timing_of"]

LATE_LIMIT_S = 2.0
"""How long the next reply waits for a voice that has not returned from a sentence that was cut."""
STILL_SPEAKING = "the voice holds on to a sentence that was cut"
"""What is told of one that takes longer, or until the end."""
SPOKEN_KEPT = 8
"""Replies remembered for telling an echo: what comes later than that is no echo."""


class Delivery:
    """One reply at a time has the floor; every way of cutting it is the same way."""

    def __init__(
        self, record: Record, policy: Policy, thread: Thread | None, *, onset: Callable[[], Awaitable[None]]
    ) -> None:
        """`onset` waits until the user begins, or is, speaking."""
        self._record = record
        self._onset = onset
        self._policy = policy
        self._thread = thread
        self._reply: Reply | None = None
        self._over = anyio.Event()
        self._late: Background[SpokenSentence] | None = None
        self._spoken: list[tuple[float, float]] = []
        self.began_s = 0.0
        """When the last reply began, in seconds of the session."""

    async def deliver(self, reply: Reply, *, turn: Utterance | None = None, received: float = 0.0) -> None:
        """Speak a reply and record what was heard, whatever ends it.

        `turn` is what it answers, if anything, and `received` when that came, for the timing.
        """
        await self._voice_is_free()
        reply.begin()
        started_s, failed = self._record.now(), False
        self.began_s = started_s
        self._reply, self._over = reply, anyio.Event()
        self._record.set_floor(Floor.SPEAKING)
        try:
            await self._speak_watched(reply)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException:
            failed = True
            raise
        finally:
            if reply.cut_by == "voice":  # it decided by itself, and is told of like any other interruption
                self._record.tell("interruption", {"by": "voice"})
            spoken = self._add(reply, started_s, failed=failed)
            if turn is not None:
                self._record.add_timing(timing_of(reply, turn, received))
            self._reply, self._late = None, reply.late
            self._over.set()
            await store_whatever_comes(self._thread, spoken)

    async def interrupt(self) -> bool:
        """Cut the reply as a person talking over it would. False, touching nothing, unless the agent is speaking."""
        if self._record.conversation.floor is not Floor.SPEAKING:
            return False
        await self.cut("interrupt")
        return True

    async def cut(self, by: str) -> None:
        """The reply in progress is over, if there is one and nothing has cut it yet; returns when it is on record."""
        if self._reply is not None:
            self._ask(self._reply, by)
            await self._over.wait()

    def echoes(self, turn: Utterance) -> bool:
        """It was heard while only the agent was audible: nothing of it lies outside one uncut reply.

        A listener that has decided about it knows better.
        """
        if isinstance(turn, SpokenUtterance) and turn.decided:
            return False
        return turn.ended_s > 0 and any(start <= turn.started_s and turn.ended_s < end for start, end in self._spoken)

    def tell_echo(self, turn: Utterance) -> None:
        """It is one, with what its listener has measured of it, or when it was."""
        seen = {"started_s": round(turn.started_s, 3), "ended_s": round(turn.ended_s, 3), "text": turn.text}
        measured = dict(turn.measured if isinstance(turn, SpokenUtterance) else {})
        self._record.tell("decision", {**seen, **measured, "what": "ignored", "why": "echo"})
        self.take_words_back()

    def take_words_back(self) -> None:
        """What was told of the user's words so far has become no turn."""
        self._record.tell("partial", {"speaker": "user", "text": "", "stable": ""})

    @property
    def voice_is_late(self) -> bool:
        """It has not returned from the last sentence that was cut."""
        return self._late is not None and self._late.running

    async def _voice_is_free(self) -> None:
        with anyio.move_on_after(LATE_LIMIT_S):
            if self._late is not None:
                await self._late.finished()
        if self.voice_is_late:
            raise RuntimeError(STILL_SPEAKING)

    async def _speak_watched(self, reply: Reply) -> None:
        try:
            async with anyio.create_task_group() as tasks:
                start_in(tasks, self._watch, reply)
                await reply.speak()
                tasks.cancel_scope.cancel()
        finally:
            await reply.silence()  # for a cut in the moment after its last word

    async def _watch(self, reply: Reply) -> None:
        """A speaking user cuts the reply; within the grace after its first audio only one who goes on."""
        await reply.audible()
        if not self._policy.allow_barge_in:
            return
        grace_ends = now() + self._policy.barge_in_grace_s
        await self._onset()
        if now() < grace_ends:
            await anyio.sleep_until(grace_ends)
            await self._onset()
        self._ask(reply, "onset")

    def _ask(self, reply: Reply, by: str) -> None:
        if reply.cut(by):
            self._record.tell("interruption", {"by": by})

    def _add(self, reply: Reply, started_s: float, *, failed: bool) -> Utterance:
        ended_s = self._record.now()
        # A failure ends a reply too, and cancels it; but nobody interrupted it.
        cut = reply.cut_by is not None and not (failed and reply.cut_by == "cancelled")
        if reply.cut_by is None:
            self._spoken = [*self._spoken, (started_s, ended_s)][-SPOKEN_KEPT:]
        heard, said = reply.heard, reply.said
        said = said if said != heard else ""
        utterance = Utterance("agent", heard, started_s, ended_s, interrupted=cut, said=said)
        return self._record.add(utterance)


def timing_of(reply: Reply, turn: Utterance, received: float) -> TurnTiming:
    """Where the time went between a turn's end, the moment it was received and the reply's first audio."""
    first_at = reply.generation.first_at
    first_sentence = received if first_at is None else max(received, first_at)  # a reply that goes on was there before
    # Measured where the voice says when it is audible, else what it reports.
    reported = reply.results[0].first_audio_s if reply.results else 0.0
    measured = (reply.first_audio_at or first_sentence) - first_sentence
    return TurnTiming(
        endpoint_s=turn.endpoint_s if isinstance(turn, SpokenUtterance) else 0.0,
        recognise_s=turn.recognise_s if isinstance(turn, SpokenUtterance) else 0.0,
        think_s=first_sentence - received,
        speak_s=max(reported, measured),
        ahead=reply.ahead,
    )

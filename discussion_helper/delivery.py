"""Delivering replies: each is spoken while the user is listened for, and what was heard of it goes on record."""

import anyio

from discussion_helper.clock import now
from discussion_helper.parts import Listener, Thread
from discussion_helper.record import Record
from discussion_helper.reply import Reply
from discussion_helper.types import Floor, Policy, SpokenUtterance, TurnTiming, Utterance

__all__ = ["SPOKEN_KEPT", "STORE_LIMIT_S", "Delivery", "timing_of"]

STORE_LIMIT_S = 1.0
"""How long storing the agent's turn may hold up an end that has been asked for."""
SPOKEN_KEPT = 8
"""Replies remembered for telling an echo: what comes later than that is no echo."""


class Delivery:
    """One reply at a time has the floor; every way of cutting it is the same way."""

    def __init__(self, record: Record, listener: Listener, policy: Policy, thread: Thread | None) -> None:
        self._record = record
        self._listener = listener
        self._policy = policy
        self._thread = thread
        self._reply: Reply | None = None
        self._spoken: list[tuple[float, float]] = []

    async def deliver(self, reply: Reply, *, turn: Utterance | None = None, received: float = 0.0) -> None:
        """Speak a reply and record what was heard, whatever ends it.

        `turn` is what it answers, if anything, and `received` when that came, for the timing.
        """
        started_s = self._record.now()
        self._reply = reply
        self._record.set_floor(Floor.SPEAKING)
        try:
            await self._speak_watched(reply)
        finally:
            self._reply = None
            spoken = self._add(reply, started_s)
            if turn is not None:
                self._record.add_timing(timing_of(reply, turn, received))
            await self._store(spoken)

    async def interrupt(self) -> bool:
        """Cut the reply as a person talking over it would. False, touching nothing, unless the agent is speaking."""
        if self._reply is None:
            return False
        await self.cut("interrupt")
        return True

    async def cut(self, by: str) -> None:
        """The reply in progress is over, if there is one and nothing has cut it yet."""
        reply = self._reply
        if reply is not None and reply.cut_by is None:
            await reply.cut(by)
            self._record.tell("interruption", {"by": by})

    def echoes(self, turn: Utterance) -> bool:
        """It was heard while only the agent was audible: nothing of it lies outside one uncut reply."""
        return turn.ended_s > 0 and any(start <= turn.started_s and turn.ended_s < end for start, end in self._spoken)

    async def _speak_watched(self, reply: Reply) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reply.audible)
            if self._policy.allow_barge_in:
                tasks.start_soon(self._watch_onset, reply)
            await reply.speak()
            tasks.cancel_scope.cancel()

    async def _watch_onset(self, reply: Reply) -> None:
        """A speaking user cuts the reply; within the grace after its first audio only one who goes on."""
        await reply.audible()
        assert reply.first_audio_at is not None
        grace_ends = reply.first_audio_at + self._policy.barge_in_grace_s
        await self._listener.speech_started()
        if now() < grace_ends:
            await anyio.sleep_until(grace_ends)
            await self._listener.speech_started()
        await self.cut("onset")

    def _add(self, reply: Reply, started_s: float) -> Utterance:
        cut, ended_s = reply.cut_by is not None, self._record.now()
        if not cut:
            self._spoken = [*self._spoken, (started_s, ended_s)][-SPOKEN_KEPT:]
        heard, said = reply.heard, reply.said
        said = said if said != heard else ""
        utterance = Utterance("agent", heard, started_s, ended_s, interrupted=cut, said=said)
        self._record.add(utterance)
        return utterance

    async def _store(self, utterance: Utterance) -> None:
        if self._thread is not None:
            with anyio.move_on_after(STORE_LIMIT_S, shield=True):
                await self._thread.append(utterance)


def timing_of(reply: Reply, turn: Utterance, received: float) -> TurnTiming:
    """Where the time went between a turn's end, the moment it was received and the reply's first audio."""
    first_sentence = received if reply.first_sentence_at is None else reply.first_sentence_at
    # Measured where the voice says when it is audible, else what it reports.
    reported = reply.results[0].first_audio_s if reply.results else 0.0
    measured = (reply.first_audio_at or first_sentence) - first_sentence
    return TurnTiming(
        endpoint_s=turn.endpoint_s if isinstance(turn, SpokenUtterance) else 0.0,
        recognise_s=turn.recognise_s if isinstance(turn, SpokenUtterance) else 0.0,
        think_s=first_sentence - received,
        speak_s=max(reported, measured),
    )

"""The loop: listen, think, speak, be interrupted."""

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

import anyio

from discussion_helper.background import unwrapped
from discussion_helper.clock import SessionClock, now
from discussion_helper.closing import close_parts
from discussion_helper.delivery import Delivery
from discussion_helper.parts import Attachable, Listener, Responder, Thread, Voice, WarmsUp
from discussion_helper.record import Observer, Record
from discussion_helper.reply import Reply
from discussion_helper.turns import Announcement, End, Turn, Turns
from discussion_helper.types import Conversation, Floor, Policy, Utterance

__all__ = ["PROBE_S", "WARMUP_LIMIT_S", "Discussion"]

WARMUP_LIMIT_S = 60.0
"""Loading three models takes 2-6 s from a warm disk, ten times that from a cold one."""
PROBE_S = 0.1
"""How long a listener may take to say that the user is speaking at this moment."""


class Discussion:
    """One conversation as a coroutine; `Session` gives it a handle.

    Cancelling `run` silences the voice and keeps what was heard in `conversation`.
    """

    def __init__(
        self,
        listener: Listener,
        responder: Responder,
        voice: Voice,
        policy: Policy | None = None,
        *,
        observer: Observer | None = None,
        thread: Thread | None = None,
    ) -> None:
        self.listener = listener
        self.responder = responder
        self.voice = voice
        self.policy = policy or Policy()
        self.reason = ""
        """Why it ended: finished, silence, stopped or failed; "" before the end."""
        self._thread = thread
        self._record = Record(observer)
        self._delivery = Delivery(self._record, listener, self.policy, thread)
        self._turns = Turns()
        self._cut_reply: Reply | None = None
        self._tasks: anyio.abc.TaskGroup | None = None
        self._stopping = False

    @property
    def conversation(self) -> Conversation:
        """The transcript, the floor and the timings so far."""
        return self._record.conversation

    @property
    def clock(self) -> SessionClock:
        """Seconds since the start."""
        return self._record.clock

    # -- running

    async def run(self) -> Conversation:
        """Hold the conversation until the listener ends, silence, or `finish`. Raises what a part failed with."""
        self.clock.start()
        for part in (self.listener, self.responder, self.voice):
            if isinstance(part, Attachable):
                part.attach(self._record)
        try:
            await self._run_tasks()
        except BaseException as error:
            self.reason = "stopped" if self._stopping else "failed"
            raise unwrapped(error) from None
        finally:
            self._record.set_floor(Floor.IDLE)
        return self.conversation

    async def _run_tasks(self) -> None:
        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(self._warm_up)
            self._tasks.start_soon(self._turns.pump, self.listener.utterances())
            await self._converse()
            self._tasks.cancel_scope.cancel()
        if self._stopping:
            self.reason = "stopped"

    async def _warm_up(self) -> None:
        with anyio.move_on_after(WARMUP_LIMIT_S):
            async with anyio.create_task_group() as tasks:
                for part in (self.listener, self.responder, self.voice):
                    if isinstance(part, WarmsUp):
                        tasks.start_soon(part.warmup)

    async def _converse(self) -> None:
        self._record.set_floor(Floor.LISTENING)
        while not self._stopping:
            turn = await self._next_turn()
            match turn:
                case Utterance() if not turn.text.strip():
                    await self._resume()
                case Utterance() if self._delivery.echoes(turn):
                    self._record.tell("decision", {"what": "ignored", "why": "echo", "text": turn.text})
                case Utterance():
                    await self._exchange(turn)
                case Announcement():
                    await self._announce(turn)
                case End():
                    self.reason = "finished"
                    return
                case None:
                    self.reason = "silence"
                    return

    # -- waiting for a turn

    async def _next_turn(self) -> Turn | None:
        """The next turn, or None after too much silence; a reply cut by nothing but a noise goes on meanwhile."""
        quiet_since = now()
        while True:
            limit = self._wait_limit(quiet_since)
            if limit is None:
                return await self._turns.next()
            with anyio.move_on_after(limit):
                return await self._turns.next()
            if await self._user_is_speaking():
                quiet_since = now()
            elif self._cut_reply is not None:
                await self._resume()
                quiet_since = now()
            else:
                return None

    def _wait_limit(self, quiet_since: float) -> float | None:
        if self._cut_reply is not None and self.policy.barge_in_resume_after_s:
            return self.policy.barge_in_resume_after_s
        if not self.policy.silence_timeout_s:
            return None
        return max(0.0, quiet_since + self.policy.silence_timeout_s - now())

    async def _user_is_speaking(self) -> bool:
        with anyio.move_on_after(PROBE_S):
            await self.listener.speech_started()
            return True
        return False

    # -- answering

    async def _exchange(self, turn: Utterance) -> None:
        self._forget_cut_reply()
        received = now()
        self._record.add(turn)
        self._record.set_floor(Floor.THINKING)
        if self._thread is not None:
            await self._thread.append(turn)
        reply = self._begin(self.responder.reply(self.conversation.as_messages()))
        if await self._first_sentence(reply):
            await self._deliver(reply, turn=turn, received=received)
        self._record.set_floor(Floor.LISTENING)

    async def _announce(self, announcement: Announcement) -> None:
        self._forget_cut_reply()
        reply = self._begin(_one(announcement.text))
        if await self._first_sentence(reply):
            await self._deliver(reply)
        self._record.set_floor(Floor.LISTENING)

    async def _resume(self) -> None:
        """Go on with a reply that a false alarm cut, from the start of the sentence it was cut in."""
        reply, self._cut_reply = self._cut_reply, None
        if reply is None or not reply.has_more:
            return
        self._record.tell("decision", {"what": "resumed", "why": "no words followed the sound that cut the reply"})
        await self._deliver(reply)
        self._record.set_floor(Floor.LISTENING)

    def _begin(self, sentences: AsyncIterator[str]) -> Reply:
        assert self._tasks is not None
        reply = Reply(sentences, self.voice, max_sentences=self.policy.max_reply_sentences)
        self._tasks.start_soon(reply.generate)
        return reply

    async def _first_sentence(self, reply: Reply) -> bool:
        """False when there is nothing to say."""
        try:
            return await reply.first_sentence()
        except BaseException:
            reply.abandon()
            raise

    async def _deliver(self, reply: Reply, *, turn: Utterance | None = None, received: float = 0.0) -> None:
        try:
            await self._delivery.deliver(reply, turn=turn, received=received)
        finally:
            self._keep_or_abandon(reply)

    def _keep_or_abandon(self, reply: Reply) -> None:
        """A reply that a sound cut may go on; every other one is over."""
        if reply.cut_by == "onset" and not self._stopping:
            self._cut_reply = reply
        else:
            reply.abandon()

    def _forget_cut_reply(self) -> None:
        if self._cut_reply is not None:
            self._cut_reply.abandon()
        self._cut_reply = None

    # -- from outside

    async def interrupt(self) -> bool:
        """Cut the reply as a person talking over it would. False, touching nothing, unless the agent is speaking."""
        return await self._delivery.interrupt()

    async def add_turn(self, turn: Turn) -> None:
        """Add a typed turn or an announcement behind those that wait."""
        await self._turns.add(turn)

    async def finish(self) -> None:
        """End the conversation: a reply in progress is cut, and what was heard of it is kept."""
        self._stopping = True
        await self._delivery.cut("stop")
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()

    # -- ending

    def abandon(self) -> None:
        """Nothing more is told; the clock stands still. For a loop that a hanging part never gives back."""
        self._record.close()

    async def close_parts(self) -> list[str]:
        """Silence the voice and close all three parts; returns a line for each that failed or hung."""
        return await close_parts({"listener": self.listener, "responder": self.responder, "voice": self.voice})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self.close_parts()


async def _one(text: str) -> AsyncIterator[str]:
    yield text

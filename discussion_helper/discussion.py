"""The loop: listen, think, speak, be interrupted."""

from collections.abc import Callable
from typing import Self

import anyio

from discussion_helper.background import isolated
from discussion_helper.beginning import begins
from discussion_helper.clock import SessionClock, now
from discussion_helper.closing import Part, close_parts
from discussion_helper.delivery import STILL_SPEAKING, Delivery
from discussion_helper.event_loop import start_in
from discussion_helper.failures import failures_in
from discussion_helper.generation import Generation
from discussion_helper.governor import Change, Sheds
from discussion_helper.not_understood import Kind, NotUnderstood
from discussion_helper.onset import speech_started, user_is_speaking
from discussion_helper.parts import Listener, Responder, Thread, Voice, check_parts
from discussion_helper.policy import Policy, policy_of
from discussion_helper.readying import attach_parts, warm_up
from discussion_helper.record import Observer, Record
from discussion_helper.replies import Replies
from discussion_helper.reply import Reply
from discussion_helper.speculation import Tally
from discussion_helper.storing import store, store_whatever_comes
from discussion_helper.taking_back import TakingBack
from discussion_helper.turns import Announcement, End, Turn, Turns, Typed
from discussion_helper.types import Conversation, Floor, SpokenUtterance, Utterance

__all__ = ["OWED_S", "Discussion"]

OWED_S = 1.5
"""After so much silence a turn is answered that the user seemed to go on with, as a reply goes on that was cut."""


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
        apologies: Callable[[Kind], str] = lambda _: "",
    ) -> None:
        """`apologies`: what is said where there is no answer, "" = nothing.

        Raises SettingError for a part that lacks a method, and for a policy that is none.
        """
        check_parts(listener=listener, responder=responder, voice=voice)
        if thread is not None:
            check_parts(thread=thread)
        self.listener = listener
        self.responder = responder
        self.voice = voice
        self.policy = policy_of(policy)
        self.reason = ""
        """Why it ended: finished, silence, stopped or failed; "" before the end."""
        self.failures: list[BaseException] = []
        """What parts failed with, first one first."""
        self.speculation = Tally(on=self.policy.speculate)
        """What was begun ahead of time; `on` may be changed at any time."""
        self.sheds = Sheds()
        """What it does without because the machine is late."""
        self._thread = thread
        self._record = Record(observer)
        self._delivery = Delivery(self._record, self.policy, thread, onset=lambda: speech_started(self.listener))
        self._replies: Replies  # made by `run`, as the next one: a part may be replaced before that
        self._taking_back: TakingBack
        self._not_understood = NotUnderstood(self._record, apologies, aloud=self.policy.say_not_understood)
        self._turns = Turns()
        self._owed: Utterance | None = None  # not answered yet, for the user seems to go on with it
        self._tasks: anyio.abc.TaskGroup | None = None
        self._ready = anyio.Event()
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

    @property
    def _parts(self) -> dict[str, Part]:
        return {"listener": self.listener, "responder": self.responder, "voice": self.voice}

    async def run(self) -> Conversation:
        """Hold the conversation until the listener ends, silence, or `finish`. Raises what a part failed with.

        When several failed, the first failure is raised; `failures` has them all.
        """
        self.clock.start()
        self._replies = Replies(
            *(self.responder, self.voice, self._record, self._thread),
            max_sentences=self.policy.max_reply_sentences,
            generate=self._generate,
            tally=self.speculation,
        )
        self._taking_back = TakingBack(self.listener, within_s=self.policy.reopen_s)
        try:
            attach_parts(self._parts.values(), self._record)
            await self._run_tasks()
        except anyio.get_cancelled_exc_class():
            self.reason = "stopped"
            raise
        except BaseException as error:
            self.reason = "stopped" if self._stopping else "failed"
            self.failures = failures_in(error)
            raise self.failures[0] from None
        finally:
            self._turns.close()
            await self._replies.stop()
            await self._keep_unanswered()
            self._record.set_floor(Floor.IDLE)
            self._ready.set()
        return self.conversation

    async def _keep_unanswered(self) -> None:
        """What was typed and came too late to be answered is on record all the same."""
        for utterance in self._turns.take_typed():
            self._record.add(utterance)
            await store_whatever_comes(self._thread, utterance)

    async def _run_tasks(self) -> None:
        async with anyio.create_task_group() as self._tasks:
            start_in(self._tasks, self._warm_up)
            start_in(self._tasks, self._listen)
            await self._converse()
            self._turns.close()  # at once: a turn that is accepted is answered
            self._tasks.cancel_scope.cancel()
        if self._stopping:
            self.reason = "stopped"

    async def _warm_up(self) -> None:
        await warm_up(self._parts.values())
        self._ready.set()

    async def _listen(self) -> None:
        async def pump() -> None:
            await self._turns.pump(self.listener.utterances())

        await isolated(pump, name="the listener")

    async def _converse(self) -> None:
        while not self._stopping:
            self._free_floor()
            turn = await self._next_turn()
            if self._stopping:
                return
            if await self._answer_owed(turn):
                continue
            match turn:
                case Typed():
                    await self._exchange(turn.utterance)
                case Utterance() if not turn.text.strip():
                    self._delivery.take_words_back()
                    await self._follow_noise(turn)
                case Utterance() if self._delivery.echoes(turn):
                    self._delivery.tell_echo(turn)
                case SpokenUtterance(wants_answer=False):
                    await self._fall_silent(turn)
                case Utterance():
                    await self._exchange(turn)
                case Announcement():
                    await self._announce(turn)
                case End() | None:
                    self.reason = "silence" if turn is None else "finished"
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
            if await user_is_speaking(self.listener) or len(self._turns):
                quiet_since = now()
            elif self._owed is not None:
                return Utterance("user", "")
            elif self._replies.may_go_on:
                await self._resume()
                quiet_since = now()
            else:
                return None

    def _wait_limit(self, quiet_since: float) -> float | None:
        if self._owed is not None:
            return OWED_S
        if self._replies.may_go_on and self.policy.barge_in_resume_after_s:
            return self.policy.barge_in_resume_after_s
        if not self.policy.silence_timeout_s:
            return None
        return max(0.0, quiet_since + self.policy.silence_timeout_s - now())

    # -- answering

    async def _exchange(self, turn: Utterance) -> None:
        received = now()
        await self._replies.keep_uses(turn.text)
        turn = self._record.add(turn)
        self._record.set_floor(Floor.THINKING)
        await store(self._thread, turn)
        await self._answer(turn, received)

    async def _answer(self, turn: Utterance, received: float) -> None:
        """Or wait for the rest of it, while the user goes on; the reply is kept in case that this is nothing."""
        self._record.set_floor(Floor.THINKING)
        reply = await self._replies.answer(turn.text)
        began = await begins(reply.generation, turn, by=self._taking_back, tells=self._not_understood)
        if began:
            await self._deliver(reply, turn=turn, received=received)
        elif began is None:
            self._replies.hold(reply)
            self._owed, self._replies.reopened = turn, turn.text
        if await self._replies.stop_tools(turn.text):
            self._owed = turn  # if it did not go on, it is answered anew
        if began is False or reply.is_mute:
            await self._apologise("unanswered", "the responder had nothing to say")
        elif began:
            self._not_understood.understood()

    async def _apologise(self, kind: Kind, why: str) -> None:
        """Say that there is no answer; nothing where the policy, or enough of it, says nothing."""
        if text := self._not_understood.text(kind, why):
            await self._announce(Announcement(text))

    async def _answer_owed(self, turn: Turn | None) -> bool:
        """Answer what seemed to go on if it did not; True when that was all that the new turn is about."""
        if isinstance(turn, Announcement):
            return False
        owed, self._owed = self._owed, None
        self._replies.reopened = ""
        heard = isinstance(turn, Utterance) and turn.text.strip() and not self._delivery.echoes(turn)
        if owed is None or heard or isinstance(turn, Typed):
            return False
        await self._answer(owed, now())
        return isinstance(turn, Utterance) and not turn.text.strip()

    async def _fall_silent(self, turn: Utterance) -> None:
        """The user wanted that and nothing else; what was left of the reply is there for "go on"."""
        turn = self._record.add(turn)
        await store(self._thread, turn)
        self._replies.keep(None)

    async def _announce(self, announcement: Announcement) -> None:
        reply = await self._replies.of(announcement.text)
        if await reply.generation.ready():
            await self._deliver(reply)

    async def _follow_noise(self, turn: Utterance) -> None:
        """What ended before the reply began has not cut it. Who has waited for an answer to it is told."""
        resumed = not 0.0 < turn.ended_s < self._delivery.began_s and await self._resume()
        if not resumed and isinstance(turn, SpokenUtterance) and turn.unclear:
            await self._apologise("unclear", turn.unclear)

    async def _resume(self) -> bool:
        """Go on with a reply that a false alarm cut, with the words that were not heard; False if nothing is left."""
        reply = await self._replies.resumed()
        if reply is not None:
            await self._deliver(reply)
        return reply is not None

    def _free_floor(self) -> None:
        if not self._stopping:
            self._record.set_floor(Floor.LISTENING)

    def _generate(self, generation: Generation) -> None:
        assert self._tasks is not None
        start_in(self._tasks, generation.run)

    async def _deliver(self, reply: Reply, *, turn: Utterance | None = None, received: float = 0.0) -> None:
        """Speak it. A reply that a sound cut may go on; every other one is over."""
        try:
            await self._delivery.deliver(reply, turn=turn, received=received)
        finally:
            if reply.cut_by == "onset" and not self._stopping:
                self._replies.keep(reply)
                self._replies.reopened = turn.text if turn is not None and self._taking_back.reopen(turn) else ""
            else:
                reply.generation.abandon()
                if reply.cut_by is not None:
                    self._replies.keep(None)  # whoever stops an announcement wants no older reply to go on
        self._free_floor()

    # -- from outside

    async def ready(self) -> None:
        """Return when the parts' warm-ups are over, done or out of time, or the conversation is."""
        await self._ready.wait()

    async def interrupt(self) -> bool:
        """Cut the reply as a person talking over it would. False, touching nothing, unless the agent is speaking."""
        return await self._delivery.interrupt()

    async def add_turn(self, turn: Typed | Announcement) -> None:
        """Add a typed turn or an announcement behind those that wait. Raises RuntimeError once the end has come."""
        await self._turns.add(turn)

    async def finish(self) -> None:
        """End the conversation: a reply in progress is cut, and what was heard of it is kept."""
        self._stopping = True
        try:
            await self._delivery.cut("stop")
        finally:
            if self._tasks is not None:
                self._tasks.cancel_scope.cancel()

    def tell_shed(self, change: Change) -> None:
        """The governor has shed something, or restored it."""
        self.sheds.take(change)
        self._record.tell("shed", change.as_dict())

    # -- ending

    def abandon(self) -> None:
        """Nothing more is told; the clock stands still. For a loop that a hanging part never gives back."""
        self._ready.set()
        self._record.close()

    async def close_parts(self) -> list[str]:
        """Silence the voice and close all three parts; returns a line for each that failed or hung."""
        problems = await close_parts(self._parts)
        return [STILL_SPEAKING, *problems] if self._delivery.voice_is_late else problems

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        with anyio.CancelScope(shield=True):
            await self.close_parts()

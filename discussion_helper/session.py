"""A discussion in the background, with a handle on it."""

import re
import secrets
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

import anyio

from discussion_helper.background import LET_GO_S, Background
from discussion_helper.discussion import Discussion
from discussion_helper.errors import SettingError
from discussion_helper.event import Event, Kinds
from discussion_helper.events import DropOldest, EventHub, Subscription
from discussion_helper.failures import told
from discussion_helper.not_understood import Kind
from discussion_helper.parts import Listener, Mutable, Responder, TalkKey, Thread, Voice
from discussion_helper.policy import Policy
from discussion_helper.present import Present
from discussion_helper.registry import Sessions
from discussion_helper.title import title_of
from discussion_helper.turns import Announcement, Typed
from discussion_helper.types import Conversation, Floor, Utterance, speaker_of

__all__ = ["EVENTS_HELD", "TALK_LIMIT_S", "Event", "Session", "Sessions", "utterance_of"]

EVENTS_HELD = 1024
"""Events held for one watcher; more than that and the oldest go, with a `gap` in their place, which is one of them."""
TALK_LIMIT_S = 0.5
"""How long the loop may take to end once it was asked to: more than cutting a reply takes, whatever the voice does."""
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


def utterance_of(speaker: str, text: str, at_s: float = 0.0) -> Utterance:
    """An utterance from the wire. Raises SettingError (a ValueError) for a speaker other than "user" or "agent"."""
    if not isinstance(text, str):
        raise SettingError(f"text: {type(text).__name__} is not text.", fix="Use a string.")
    return Utterance(speaker_of(speaker), text, at_s, at_s)


class Session:
    """A running discussion and the handle on it: a floor to read, events to follow, an interrupt, an end."""

    def __init__(
        self,
        listener: Listener,
        responder: Responder,
        voice: Voice,
        policy: Policy | None = None,
        *,
        id: str | None = None,  # noqa: A002 - the public name
        thread: Thread | None = None,
        apologies: Callable[[Kind], str] = lambda _: "",
    ) -> None:
        """`id`: 8 to 64 of A-Z a-z 0-9 _ -, made up unguessably when not given. `thread`: where turns are stored.

        `apologies`: what is said to somebody who was not understood, or to whom there is no answer; "" = nothing.
        """
        if id is not None and not (isinstance(id, str) and _ID.fullmatch(id)):
            raise SettingError(f"id: {id!r} is not a session id.", fix="Use 8 to 64 of A-Z, a-z, 0-9, _ and -.")
        self.id = id or secrets.token_urlsafe(16)
        self.hub: EventHub[Event] = EventHub(overflow=DropOldest(Event.gap), capacity=EVENTS_HELD - 1)
        """Where its events are published: to follow them in another form, or to resume."""
        self.discussion = Discussion(
            *(listener, responder, voice, policy), observer=self._observe, thread=thread, apologies=apologies
        )
        self._talk: Background[Conversation] = Background(self._hold_talk, name="a session's talk")
        self._supervisor: Background[None] = Background(self._supervise, name="a session")
        self._wake = anyio.Event()
        self._stopping = False
        self._why = "stopped"
        self._present = Present()
        self.transport = ""
        """How it is talked to, where whoever opened it says so; it is in the state then."""
        self.kept_in = ""
        """The thread that its turns are stored in, where whoever opened it says so; it is in the state then."""
        self.muting: Callable[[bool], Awaitable[None]] | None = None
        """What `mute` does in the place of the listener's, where whoever opened it looks after the microphone."""
        self.health: Callable[[], Any] | None = None
        """How its audio is doing (a `voice.health.Health`), where whoever made it on devices says how to ask."""
        self._ending: dict[str, Any] = {}
        self._failure: BaseException | None = None
        self._trace: TracebackType | None = None
        self.started = False
        """Whether `start` was called."""
        self.ended = False
        """Whether the `ended` event is out and everything is released."""

    # -- the handle

    def start(self) -> Self:
        """Begin in the background and return at once.

        Raises RuntimeError off a running event loop, the second time, or after the end; then nothing was started.
        """
        if self._stopping and not self.started:
            raise RuntimeError("this session was stopped; make a new one")
        self._supervisor.start()
        self.started = True
        self.discussion.clock.start()
        return self

    def events(self, *kinds: str) -> Subscription[Event]:
        """Follow from this call on. No kinds = the coarse ones, "*" = all. Raises SettingError for an unknown kind."""
        self._supervisor.check_here()
        return self.hub.subscribe(Kinds(*kinds).accept)

    async def interrupt(self) -> bool:
        """Cut the reply, as a person talking over it would. False, touching nothing, unless the floor is SPEAKING."""
        self._supervisor.check_here()
        return await self.discussion.interrupt()

    async def say(self, text: str) -> None:
        """A typed user turn, answered after those that wait; a blank one is skipped.

        Raises RuntimeError when the session does not run.
        """
        turn = utterance_of("user", text, self.discussion.clock.now())
        if turn.text.strip():
            await self._add(Typed(turn))

    async def speak(self, text: str) -> None:
        """Have the agent say something without a user turn. Raises RuntimeError when the session does not run."""
        await self._add(Announcement(utterance_of("agent", text).text))

    async def mute(self, on: bool) -> None:
        """Close the microphone, or open it again. Raises RuntimeError when the listener has none."""
        self._supervisor.check_here()
        if self.muting is not None:
            await self.muting(on)
            return
        if not isinstance(self.discussion.listener, Mutable):
            raise RuntimeError("this session's listener has no microphone to mute")
        await self.discussion.listener.mute(on)

    @property
    def microphone(self) -> str:
        """Its state in the last `device` event; "" where there was none."""
        return self._present.microphone

    def tell_device(self, which: str, state: str) -> None:
        """Tell whoever follows it what a device is now that is none of its parts, in a `device` event."""
        self._observe("device", {"which": which, "state": state})

    async def press(self) -> bool:
        """Push to talk: the user has the floor until `release`, at once; whether that cut a reply.

        A press without a release ends by itself, after the longest turn. Raises RuntimeError without such a key.
        """
        await self._key.press()
        return await self.interrupt()

    async def release(self) -> None:
        """The user's turn ends now; nothing when none is pressed. Raises RuntimeError without such a key."""
        await self._key.release()

    @property
    def _key(self) -> TalkKey:
        self._supervisor.check_here()
        if not isinstance(self.discussion.listener, TalkKey):
            raise RuntimeError("this session's listener has no key to press")
        if not self.started or self._stopping or self.ended:
            raise RuntimeError("the session is not running")
        return self.discussion.listener

    async def stop(self, *, reason: str = "stopped") -> Conversation:
        """End the talk and release everything; idempotent, also concurrently. Takes a second at most.

        `reason`: what `ended` tells, unless it ends for another one.
        """
        self._supervisor.check_here()
        if not self._stopping:
            self._why = reason
        self._stopping = True
        self._wake.set()
        if not self._supervisor.started:
            self._supervisor.start()
        await self._supervisor.finished()
        return self.discussion.conversation

    async def wait(self) -> Conversation:
        """Wait for the end. Cancelling this wait never ends the talk.

        Raises what a part failed with; RuntimeError before `start`.
        """
        if not self._supervisor.started:
            raise RuntimeError("wait() was called before start()")
        await self._supervisor.finished()
        if self._failure is not None:
            raise self._failure.with_traceback(self._trace)  # or each wait would lengthen it
        return self.discussion.conversation

    async def ready(self) -> None:
        """Return when the parts have loaded what they need, or the session is over; at once if either was before."""
        self._supervisor.check_here()
        await self.discussion.ready()

    @property
    def floor(self) -> Floor:
        """Who has the floor."""
        return self.discussion.conversation.floor

    @property
    def title(self) -> str:
        """What it is called in a list, see `title_of`."""
        return title_of(self.discussion.conversation.utterances, self.id)

    @property
    def state(self) -> dict[str, Any]:
        """All that a watcher needs to catch up; once it has ended also what the `ended` event says: why, and its error.

        `attention`: what the last event of that kind told, "awake", "asleep", "pressed" or "released"; "" where there
        was none, or it is over. `transport`, `thread_id` and `microphone` and `client` (of their last `device` event)
        where known.
        `live` and `decisions`: what goes on beside the transcript, see `Present.as_dict`.
        """
        told = {"transport": self.transport, "thread_id": self.kept_in, "microphone": self._present.microphone}
        told |= {"client": self._present.client}
        return {
            "id": self.id,
            "title": self.title,
            "kind": "voice",
            "running": self.started and not self.ended,
            "elapsed_s": round(self.discussion.clock.now(), 3),
            "turn_policy": self.discussion.policy.turn_policy,
            "attention": self._present.attention,
            **{name: value for name, value in told.items() if value},
            **self._ending,
            **self.discussion.conversation.as_dict(),
            "speculation": self.discussion.speculation.as_dict(),
            "shed": self.discussion.sheds.as_dict(),
            **self._present.as_dict(),
        }

    # -- the background

    async def _add(self, turn: Typed | Announcement) -> None:
        self._supervisor.check_here()
        if not self.started or self._stopping:
            raise RuntimeError("the session is not running")
        await self.discussion.add_turn(turn)

    async def _hold_talk(self) -> Conversation:
        try:
            return await self.discussion.run()
        finally:
            self._wake.set()

    async def _supervise(self) -> None:
        """Outlives the talk, so that a part which hangs cannot keep the others open."""
        try:
            if not self._stopping:
                self._talk.start()
                await self._wake.wait()
        finally:
            self._stopping = self._stopping or not self._wake.is_set()  # the event loop itself ends
            problems: list[str] = []
            try:
                with anyio.CancelScope(shield=True):
                    await self._wind_down(problems)
            finally:
                self._end(problems)

    async def _wind_down(self, problems: list[str]) -> None:
        with anyio.move_on_after(TALK_LIMIT_S):
            if self._stopping and self._talk.running:
                await self.discussion.finish()
            if self._talk.started:
                await self._talk.finished()
        if self._talk.running:
            await self._talk.stop(within_s=LET_GO_S)
            problems.append(f"a part did not let go of its turn within {TALK_LIMIT_S:g} s")
        problems += await self.discussion.close_parts()

    def _end(self, problems: list[str]) -> None:
        reason = self.discussion.reason or "stopped"
        reason = self._why if reason == "stopped" else reason
        failures = self.discussion.failures or ([self._talk.error] if self._talk.error is not None else [])
        if failures and reason == "failed":
            self._failure, self._trace = failures[0], failures[0].__traceback__
        self.discussion.abandon()
        self.ended = True
        error = "; ".join(dict.fromkeys([*([told(*failures)] if failures else []), *problems]))
        self._present.end()
        self._ending = {"reason": reason} | ({"error": error} if error else {})
        self.hub.close(Event("ended", self.discussion.clock.now(), dict(self._ending)))

    def _observe(self, kind: str, data: dict[str, Any]) -> None:
        event = Event(kind, self.discussion.clock.now(), data)
        self._present.take(event)
        self.hub.publish(event)

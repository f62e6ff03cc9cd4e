"""Opens sessions of every kind into one registry."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio

from discussion_helper.errors import ModelError, SettingError
from discussion_helper.event_loop import start_in
from discussion_helper.parts import Responder
from discussion_helper.policy import Policy
from discussion_helper.registry import Sessions
from discussion_helper.session import Session
from discussion_helper.text.manager import Manager
from discussion_helper.text.new_thread import NewThread
from discussion_helper.text.spoken import SpokenThread
from discussion_helper.text.stream import Stream
from discussion_helper.text.transforms import KEPT_SYSTEM
from discussion_helper.voice.remote_talk import RemoteTalk
from discussion_helper.web.abandonment import ended_when_abandoned
from discussion_helper.web.audit import Audit
from discussion_helper.web.bodies import OpeningBody
from discussion_helper.web.fakes import echo_responder, fake_session
from discussion_helper.web.held import Held
from discussion_helper.web.limits import Limits, raised_by
from discussion_helper.web.live import Live
from discussion_helper.web.problems import Problem
from discussion_helper.web.sockets import RemoteTalks
from discussion_helper.web.typed import NoLoudspeaker, NoMicrophone
from discussion_helper.web.wish import Wish
from discussion_helper.web.writers import Writers

__all__ = ["OpenFake", "OpenRemote", "OpenResponder", "OpenVoice", "Opener"]

_LOOKING = 4
"""Responders that are made at the same time: each may hash a model's file."""

OpenVoice = Callable[[Wish], AbstractAsyncContextManager[Session]]
"""A session on this machine's microphone and loudspeaker, ready to start; leaving releases them."""
OpenRemote = Callable[[Wish], AbstractAsyncContextManager[RemoteTalk]]
"""A session on the devices of a client, which may come and go; ready to start."""
OpenResponder = Callable[[Wish], Responder]
"""What answers who only types. Called in a thread; the session closes it."""
OpenFake = Callable[[Wish], Session]
"""A session without devices and models."""


class Opener:
    """Of the sessions that it opens it leaves the devices; the registry's owner ends the sessions."""

    def __init__(
        self,
        sessions: Sessions[Any],
        manager: Manager | None,
        *,
        most: int,
        most_remote: int,
        live: Live | None = None,
        open_voice: OpenVoice | None = None,
        open_remote: OpenRemote | None = None,
        open_responder: OpenResponder | None = None,
        open_fake: OpenFake | None = None,
        policy: Policy | None = None,
        audit: Audit | None = None,
        keep: bool = False,
    ) -> None:
        """`most`: live sessions in the registry, `most_remote` of them at a client's microphone.

        `policy`: of sessions at a microphone, this machine's or a client's, as far as they bring none.

        `audit`: has an entry for each microphone. `live`: knows who watches, by which a session for clients'
        microphones that nobody is at any more ends. `keep`: what is said by voice, where nothing else is asked for.

        Raises SettingError for `keep` without a manager.
        """
        if keep and manager is None:
            raise SettingError("keep: there is no store of threads.", fix="Give create_app a manager, or leave it out.")
        self.keeps = keep
        """What is said by voice, where nothing else is asked for."""
        self._sessions = sessions
        self._manager = manager
        self._most = most
        self._open_voice = open_voice
        self._open_remote = open_remote
        self._open_responder = open_responder or echo_responder
        self._open_fake = open_fake or fake_session
        self._policy = policy or Policy()
        self._audit = audit or Audit()
        self._live = live or Live(Limits())
        self._opening = 0
        self._threads = anyio.CapacityLimiter(_LOOKING)
        self._held: set[Held] = set()
        self.talks = RemoteTalks(most_remote)
        """Those whose client brings the microphone."""
        self.writers = Writers(sessions)
        """Of the stored threads."""

    async def open(self, body: OpeningBody, *, by: str = "") -> Session | Stream:
        """A running session; `by` names who asked.

        Raises Problem, SettingError, ThreadNotFoundError, and what a missing part raises.
        """
        policy = body.checked_policy(Policy() if body.transport == "fake" else self._policy)
        if body.turns and (body.kind, body.transport) != ("voice", "fake"):
            raise Problem(422, "turns: only a fake voice session has a script.", fix="Leave it out.")
        if self._is_full and not await self._ended_unused():
            fix = f"Close one of them, or raise the limit ({raised_by('sessions')})."
            raise Problem(503, f"{self._most} sessions are open, and no more may be.", fix=fix)
        self._opening += 1
        try:
            with self.writers.opening(body.thread_id, by_voice=body.kind == "voice"):
                return await self._open(body, policy, by)
        finally:
            self._opening -= 1

    async def _open(self, body: OpeningBody, policy: Policy, by: str) -> Session | Stream:
        if body.kind == "text":
            return await self._open_text(body.thread_id, body.system)
        thread = await self._thread_for(body)
        wish = Wish(tuple(body.turns), body.voice, body.language, policy, thread, body.system)
        session = await self._open_voice_session(body.transport, wish, by)
        session.transport = body.transport
        session.kept_in = "" if thread is None else thread.id
        return session

    @property
    def _is_full(self) -> bool:
        return len(self._sessions) + self._opening >= self._most

    async def _ended_unused(self) -> bool:
        """Whether there is room now, of the oldest written session at which nobody is; its thread is kept."""
        sessions = [self._sessions.get(each) for each in self._sessions.ids()]
        for stream in sessions:
            if isinstance(stream, Stream) and not (stream.busy or stream.pending or self._live.watchers(stream.id)):
                await stream.stop()
                break
        return not self._is_full

    @property
    def manager(self) -> Manager:
        """Opens text sessions, and has the store. Raises Problem where there is none."""
        if self._manager is None:
            what = "This server holds no text sessions and stores no threads."
            raise Problem(503, what, fix="Give create_app a manager.")
        return self._manager

    async def _open_text(self, thread_id: str | None, system: str | None) -> Stream:
        """What the model is told beforehand is kept with the thread, where the manager's steps look for it."""
        told = {} if system is None else {KEPT_SYSTEM: system}
        if thread_id is None:
            return await self.manager.begin(metadata=told)
        stream = await self.manager.attach(thread_id, metadata=told)
        if not told.items() <= stream.thread.metadata.items():
            fix = f"DELETE /sessions/{thread_id} first, or leave system out."
            raise Problem(409, "A session is open on this thread, whose system is another one.", fix=fix)
        return stream

    async def _thread_for(self, body: OpeningBody) -> SpokenThread | NewThread | None:
        """Where what is said by voice is kept; nobody keeps what fakes say unasked."""
        if body.thread_id is not None:
            return SpokenThread(self.manager.store, await self.manager.stored(body.thread_id))
        keeps = self.keeps and body.transport != "fake" if body.keep is None else body.keep
        told = {} if body.system is None else {KEPT_SYSTEM: body.system}
        return NewThread(self.manager.store, told) if keeps else None

    async def _open_voice_session(self, transport: str, wish: Wish, by: str) -> Session:
        if transport == "local":
            return await self._open_local(wish, by)
        if transport == "remote" and self._open_remote is not None:
            return await self._open_at_client(self._open_remote(wish), wish)
        if transport == "remote":
            return await self._open_typed(wish)
        return self._sessions.add(self._open_fake(wish)).start()  # type: ignore[no-any-return]

    async def _open_at_client(self, opening: AbstractAsyncContextManager[RemoteTalk], wish: Wish) -> Session:
        """Where nothing can be heard or said for want of a model, who types is answered all the same."""
        try:
            return await self._hold(ended_when_abandoned(self.talks.holding(opening), self._live))
        except ModelError as missing:
            session = await self._open_typed(wish)
            self.talks.lacks(session, missing)
            return session

    async def _open_typed(self, wish: Wish) -> Session:
        return await self._hold(ended_when_abandoned(self._typed(wish), self._live))

    @asynccontextmanager
    async def _typed(self, wish: Wish) -> AsyncIterator[Session]:
        """A session for who types."""
        responder = await anyio.to_thread.run_sync(self._open_responder, wish, limiter=self._threads)
        yield Session(NoMicrophone(), responder, NoLoudspeaker(), wish.policy, thread=wish.thread)

    async def _open_local(self, wish: Wish, by: str) -> Session:
        if self._open_voice is None:
            what = "This server has no microphone and no loudspeaker."
            raise Problem(503, what, fix="Use `discussion-helper serve`, or give create_app open_voice.")
        return await self._hold(self._audit.local(self._open_voice(wish), by))

    async def _hold(self, opening: AbstractAsyncContextManager[Session]) -> Session:
        self._held = {held for held in self._held if not held.over}
        held = Held(opening)
        session = await held.open()
        self._held.add(held)
        self._sessions.add(session)
        return session

    async def aclose(self) -> None:
        """End the sessions that hold devices, and wait until these are released; idempotent."""
        async with anyio.create_task_group() as tasks:
            for held in self._held:
                start_in(tasks, held.aclose)

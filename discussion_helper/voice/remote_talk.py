"""A session at a client's devices: its microphone is opened and closed as clients come and go."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from discussion_helper.background import LET_GO_S, Background
from discussion_helper.errors import DeviceError
from discussion_helper.event_loop import start_in
from discussion_helper.session import Session
from discussion_helper.voice.remote_client import RemoteClient
from discussion_helper.voice.remote_link import RemoteLink

__all__ = ["RemoteTalk", "remote_talk"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RemoteTalk:
    """A session, and the place of its client."""

    session: Session
    link: RemoteLink

    async def attach(self, client: RemoteClient, *, take: bool) -> bool:
        """The client has the place now, unless another has it, from whom it does not `take` it.

        A reply at another rate than the client's is cut. Raises RuntimeError when the session is over.
        """
        voice, playback = self.session.discussion.voice, self.link.playback
        changes = client.rate != playback.rate
        while changes and (take or self.link.owner is None):
            await voice.stop()
            changes = not playback.idle  # the next reply was quicker
        if self.link.owner is not None and not take:
            return False
        self.link.attach(client)
        return True


@asynccontextmanager
async def remote_talk(session: Session, link: RemoteLink) -> AsyncIterator[RemoteTalk]:
    """Look after the microphone of a session that was not started, until left."""
    await session.mute(True)
    keeping = Background(_Keeping(session, link).run, name="a client's microphone").start()
    try:
        yield RemoteTalk(session, link)
    finally:
        link.close()
        await keeping.stop(within_s=LET_GO_S)


class _Keeping:
    """Follows the link and the session: what they are now counts, not each change."""

    def __init__(self, session: Session, link: RemoteLink) -> None:
        self._session = session
        self._link = link
        self._open_of: RemoteClient | None = None
        self._last: RemoteClient | None = None
        self._was_left = True
        self._is_here = False
        """Whether a client has the place, as the session's watchers were told."""

    async def run(self) -> None:
        """Until the link is closed."""
        async with anyio.create_task_group() as tasks:
            start_in(tasks, self._follow)
            await self._keep()
            tasks.cancel_scope.cancel()

    async def _follow(self) -> None:
        """Whoever has the session may close the microphone, or open it."""
        async with self._session.events("device") as events:
            async for _ in events:
                self._link.look()

    async def _keep(self) -> None:
        while not self._link.is_closed:
            self._tell_whether_here()
            waited_for = self._link.microphone_of
            opens = self._link.take_opening()
            if waited_for is not self._open_of or (opens and self._is_muted):
                await self._change(waited_for)
                continue  # it may have changed meanwhile
            if waited_for is not None:
                self._link.hold(self._is_muted)
            if self._link.is_left and not self._was_left:
                await self._session.discussion.voice.stop()
            self._was_left = self._link.is_left
            with anyio.move_on_after(self._link.patience_s):
                await self._link.changed()

    @property
    def _is_muted(self) -> bool:
        return self._session.microphone == "muted"

    def _tell_whether_here(self) -> None:
        is_here = self._link.owner is not None
        if is_here is not self._is_here:
            self._is_here = is_here
            self._session.tell_device("client", "here" if is_here else "away")

    async def _change(self, client: RemoteClient | None) -> None:
        """Close the microphone that is open, and open this one. Who had it and opens it again says otherwise."""
        if self._open_of is not None:
            self._link.hold(self._is_muted)
            await self._session.mute(True)
        self._open_of = client
        if client is not None:
            held, self._last = self._link.is_held and client is not self._last, client
            if held:
                return
            try:
                await self._session.mute(False)
            except DeviceError as error:  # gone before it was open
                self._open_of = None
                _log.info("%s", error)

"""A session at a client's devices: its microphone is opened and closed as clients come and go."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from discussion_helper.background import LET_GO_S, Background
from discussion_helper.errors import DeviceError
from discussion_helper.parts import Mutable
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
    keeper = _Keeping(session, link)
    session.muting = keeper.mute
    keeping = Background(keeper.run, name="a client's microphone").start()
    try:
        yield RemoteTalk(session, link)
    finally:
        link.close()
        await keeping.stop(within_s=LET_GO_S)


class _Keeping:
    """Follows the link: what it is now counts, not each change."""

    def __init__(self, session: Session, link: RemoteLink) -> None:
        self._session = session
        self._link = link
        self._alone = anyio.Lock()
        """Held while the microphone is opened or closed."""
        self._open_of: RemoteClient | None = None
        self._was_left = True
        self._is_here = False
        """Whether a client has the place, as the session's watchers were told."""

    async def run(self) -> None:
        """Until the link is closed."""
        while not self._link.is_closed:
            self._tell_whether_here()
            if self._link.take_opening():
                self._link.hold(False)  # the client's own word is the newest
            if self._wanted is not self._open_of:
                async with self._alone:
                    await self._change()
                continue  # it may have changed meanwhile
            if self._link.is_left and not self._was_left:
                await self._session.discussion.voice.stop()
            self._was_left = self._link.is_left
            with anyio.move_on_after(self._link.patience_s):
                await self._link.changed()

    async def mute(self, on: bool) -> None:
        """Somebody mutes the session who need not be its client: whoever comes is muted, until this or they lift it.

        Raises DeviceError where there is nothing to lift, and no microphone: who closed theirs opens it again.
        """
        if not (on or self._link.is_held):
            self._link.check_microphone()
        self._link.hold(on)
        async with self._alone:
            await self._change()

    @property
    def _wanted(self) -> RemoteClient | None:
        """Whose microphone is to be heard."""
        return None if self._link.is_held else self._link.microphone_of

    def _tell_whether_here(self) -> None:
        is_here = self._link.owner is not None
        if is_here is not self._is_here:
            self._is_here = is_here
            self._session.tell_device("client", "here" if is_here else "away")

    async def _change(self) -> None:
        """Close the microphone that is open, and open the one that is wanted now."""
        client, listener = self._wanted, self._session.discussion.listener
        if client is self._open_of or not isinstance(listener, Mutable):
            return
        if self._open_of is not None:
            await listener.mute(True)
            self._open_of = (
                None  # not before: who asked for it may hang up meanwhile, and it is to be closed all the same
            )
        if client is not None:
            try:
                await listener.mute(False)
                self._open_of = client
            except DeviceError as error:  # gone before it was open
                _log.info("%s", error)

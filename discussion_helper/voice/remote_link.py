"""The place of a session where a client's microphone and loudspeaker can be: who has it, and what goes through it."""

import math
from collections.abc import Callable
from functools import partial

from discussion_helper.audio.handover import LoopHandover
from discussion_helper.audio.inbox import Call, Inbox
from discussion_helper.clock import now
from discussion_helper.errors import DeviceError
from discussion_helper.voice.audio_thread import AudioThread
from discussion_helper.voice.audio_work import AudioWork
from discussion_helper.voice.ports import Driver, Sink, Source
from discussion_helper.voice.remote_client import RemoteClient
from discussion_helper.voice.remote_devices import RemoteSink, RemoteSource
from discussion_helper.voice.remote_messages import Held, Progress, Sound
from discussion_helper.voice.remote_playback import RemotePlayback
from discussion_helper.waiters import Waiters

__all__ = ["KEPT_S", "RemoteLink"]

KEPT_S = 30.0
"""How long a reply keeps its place for a client that went away: to walk through a lift, or to reload a page."""


class RemoteLink:
    """One client at a time owns it. For the event loop's thread; made there.

    What clients do that do not own it, or not any more, is ignored.
    """

    def __init__(self, *, clock: Callable[[], float] = now) -> None:
        self._clock = clock
        self.inbox = Inbox()
        self.playback = RemotePlayback(self.inbox, clock=clock)
        self._handover = LoopHandover()
        self._work: AudioWork | None = None
        self._owner: RemoteClient | None = None
        self._kept_until_s = -math.inf
        self._changed = Waiters()
        self._closed = self._is_held = self._opens = False

    # -- who has it

    @property
    def owner(self) -> RemoteClient | None:
        """Whose microphone and loudspeaker it is now."""
        return self._owner

    @property
    def is_closed(self) -> bool:
        """The session is over: nobody can have it any more."""
        return self._closed

    def attach(self, client: RemoteClient) -> None:
        """It is that client's now, who gets what is left of a reply; one who had it is told.

        Raises RuntimeError where a reply waits at another rate, or when it is closed.
        """
        if self._closed:
            raise RuntimeError("the session is over")
        before, self._owner = self._owner, client
        if before is not None:
            before.taken()
        self._kept_until_s = math.inf
        self.playback.connect(client.rate, partial(self._handover.call, self._send, client))
        self._changed.wake()

    def detach(self, client: RemoteClient, *, leaves: bool) -> None:
        """The connection is gone; one who `leaves` does not come back. Idempotent."""
        if self._owner is not client:
            return
        self._owner = None
        self._kept_until_s = -math.inf if leaves else self._clock() + KEPT_S
        self.playback.disconnect()
        self._changed.wake()

    @property
    def is_left(self) -> bool:
        """There is no client, and none is waited for: the session goes on for who types."""
        return self._owner is None and self._clock() >= self._kept_until_s

    @property
    def patience_s(self) -> float:
        """How long a client that went away is waited for from now on; infinite where nothing changes by itself."""
        return math.inf if self._owner is not None or self.is_left else self._kept_until_s - self._clock()

    async def changed(self) -> None:
        """Wait until a client comes or goes, or opens or closes its microphone, or is held."""
        await self._changed.wait()

    def close(self) -> None:
        """The session is over. Idempotent."""
        self._closed = True
        self._handover.close()
        self.playback.disconnect()
        self._changed.wake()

    def _send(self, client: RemoteClient, down: object) -> None:
        if client is self._owner:
            client.send(down)

    # -- what comes from it

    def heard(self, client: RemoteClient, sound: Sound) -> None:
        """A block of its microphone. Raises FrameError."""
        captured = client.ears.captured(sound, self._clock())
        if client is self._owner and client.source is not None:
            client.source.take(captured)

    def progressed(self, client: RemoteClient, progress: Progress) -> None:
        """It tells what it has played. Raises FrameError."""
        if client is self._owner:
            at_s = client.ears.clock.of(progress.at, self._clock())
            self.playback.acknowledge(progress.reply, progress.sample, at_s)

    def prompted(self, client: RemoteClient) -> None:
        """It hears somebody begin to speak: the agent is turned down, and what follows is decided as ever."""
        if client is self._owner and self._work is not None:
            self.inbox.put(Call(self._work.prompt))

    def muted(self, client: RemoteClient, on: bool) -> None:
        """It closed its microphone, or opened it again."""
        client.is_muted = on
        self._opens = not on and client is self._owner
        self._changed.wake()

    # -- who mutes it from elsewhere

    @property
    def is_held(self) -> bool:
        """Somebody muted the session, and not by its client: another client's coming does not open it again."""
        return self._is_held

    def hold(self, on: bool) -> None:
        """It is so, or is not any more, which the client is told of."""
        if on is not self._is_held:
            self._is_held = on
            if self._owner is not None:
                self._owner.send(Held(on))
            self._changed.wake()

    def take_opening(self) -> bool:
        """Whether the client has opened its microphone since this was asked last: its own word is the newest."""
        opens, self._opens = self._opens, False
        return opens

    # -- the devices of the session

    @property
    def microphone_of(self) -> RemoteClient | None:
        """Whose microphone is open."""
        return None if self._owner is None or self._owner.is_muted else self._owner

    def check_microphone(self) -> RemoteClient:
        """Whose microphone is open. Raises DeviceError where nobody's is."""
        client = self.microphone_of
        if client is None:
            raise DeviceError("No client has its microphone open.", fix="Connect one, or type.")
        return client

    def open_source(self) -> Source:
        """The microphone of the client. Raises DeviceError when there is none."""
        client = self.check_microphone()
        client.source = RemoteSource(client.name or "remote", client.rate, self.inbox)
        return client.source

    def open_sink(self) -> Sink:
        """The loudspeaker of whatever client there is, or will be."""
        return RemoteSink(self.playback)

    def drive(self, inbox: Inbox, work: AudioWork) -> Driver:
        """What lets the audio work run: a device that does nothing is a client's, which is looked after elsewhere."""
        work.watches = False
        self._work = work
        return AudioThread(inbox, work)

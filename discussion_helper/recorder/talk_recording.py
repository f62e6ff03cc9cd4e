"""The recording of a talk under way: its recorder, the session's events on their way to it, and its trouble."""

import platform
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Any

import anyio

from discussion_helper.audio.handover import LoopHandover
from discussion_helper.background import Background
from discussion_helper.events import Event, Subscription
from discussion_helper.recorder.entries import Header
from discussion_helper.recorder.recorder import Recorder, RecordTo
from discussion_helper.session import Session

__all__ = ["TalkRecording", "header_now", "recording_to"]

_EVENTS_S = 1.0
"""How long the end waits for the events of a session that has ended."""


def header_now(settings: dict[str, Any]) -> Header:
    """The header of a recording that begins now, on this machine."""
    return Header(
        started_utc_s=time.time(),
        zero_s=time.monotonic(),
        package=version("discussion_helper"),
        settings=settings,
        machine=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
    )


class TalkRecording:
    """On the event loop. `recorder` has the taps for the audio thread."""

    def __init__(self, recorder: Recorder, to: RecordTo, ended: anyio.Event) -> None:
        """`ended` is set when the recorder has ended by itself."""
        self.recorder = recorder
        self.to = to
        self._ended = ended
        self._follower: Background[None] | None = None

    def follow(self, session: Session) -> None:
        """Record its events, from now to its end."""
        events = session.events("*")
        self._follower = Background(partial(self._follow, events), name="recording")
        self._follower.start()

    async def trouble(self) -> str:
        """Return why the recording has ended, when it does so before the talk."""
        await self._ended.wait()
        return self.recorder.trouble

    async def close(self) -> None:
        """Write what is left. Of a talk that came to no session nothing is."""
        if self._follower is None:
            await anyio.to_thread.run_sync(self.recorder.discard)
            return
        with anyio.move_on_after(_EVENTS_S):
            await self._follower.finished()
        await self._follower.stop(within_s=_EVENTS_S)
        await anyio.to_thread.run_sync(self.recorder.close)

    async def _follow(self, events: Subscription[Event]) -> None:
        async with events:
            async for event in events:
                self.recorder.event(event)


@asynccontextmanager
async def recording_to(to: RecordTo | None, settings: dict[str, Any]) -> AsyncIterator[TalkRecording | None]:
    """A recording from here to the end of the block; None for None. Raises SettingError for a folder of no use."""
    if to is None:
        yield None
        return
    handover = LoopHandover()
    ended = anyio.Event()
    make = partial(Recorder, to, header_now(settings), on_trouble=lambda _: handover.call(ended.set))
    recording = TalkRecording(await anyio.to_thread.run_sync(make), to, ended)
    try:
        yield recording
    finally:
        with anyio.CancelScope(shield=True):
            await recording.close()
        handover.close()

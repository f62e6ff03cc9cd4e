"""The composition root: from settings to a session on real parts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from discussion_helper.audio.file_devices import FileCapture
from discussion_helper.session import Session
from discussion_helper.settings import Settings

__all__ = ["Talk", "open_talk"]


@dataclass(frozen=True, slots=True)
class Talk:
    """A session that is ready to start, and what stands around it."""

    session: Session
    microphone: str
    """Name of the device, or "files"."""
    loudspeaker: str
    """Name of the device, or of the file."""
    responder: str
    """What answers, in words."""
    files: FileCapture | None
    """The microphone when recordings speak as the user: `say(n)` speaks the n-th of `Settings.inputs`."""


@asynccontextmanager
async def open_talk(settings: Settings) -> AsyncIterator[Talk]:
    """Check every file, model and device, load them, and give a session that is ready to start.

    Leaving stops the session and releases everything. Raises DiscussionError.
    """
    raise NotImplementedError
    yield

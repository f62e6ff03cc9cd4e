"""The room of the bench: virtual devices, and where its recordings are kept."""

import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discussion_helper.bench.take import Take, Taking
from discussion_helper.bench.talk_handle import TalkHandle
from discussion_helper.testing.virtual_devices import VirtualDevices

__all__ = ["LIMIT_S", "ROOM_DBFS", "Room"]

ROOM_DBFS = -70.0
"""A quiet room. Exact zeros would be a microphone that is switched off, and no detector would have anything to do."""
LIMIT_S = 180.0


@dataclass(frozen=True, slots=True)
class Room:
    """`log` takes what the talks write to stderr; `keep` is a folder for the recordings, if they are wanted."""

    devices: VirtualDevices
    log: Path
    keep: Path | None = None

    def talk(self) -> TalkHandle:
        """A new talk in this room, to be entered."""
        return TalkHandle(self.environment, self.log)

    @property
    def environment(self) -> dict[str, str]:
        """Variables for a program that shall have the devices of this room."""
        return {**os.environ, **self.devices.environment()}

    @contextmanager
    def taking(self, talk: TalkHandle, name: str) -> Generator[Taking]:
        """Record a trial. Leaving ends it; only then is anything computed. Raises DeviceError."""
        mark = talk.mark
        with self.devices.record(limit_s=LIMIT_S) as recording:
            taking = Taking(self.devices, recording)
            yield taking
        taking.finish(talk.since(mark))
        if self.keep is not None:
            _write(self.keep, name, taking.take)


def _write(folder: Path, name: str, take: Take) -> None:
    """Left the loudspeaker, right the microphone."""
    import soundfile

    number = len(list(folder.glob("*.flac"))) + 1
    sound = np.stack((take.loudspeaker, take.microphone), axis=1)
    soundfile.write(folder / f"{number:03d}-{re.sub(r'[^A-Za-z0-9._-]', '_', name)}.flac", sound, take.rate)

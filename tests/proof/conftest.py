"""A talk on its real models, in a room with a virtual microphone and loudspeaker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from discussion_helper.bench.room import ROOM_DBFS, Room
from discussion_helper.bench.talk_handle import TalkHandle
from discussion_helper.testing.virtual_devices import VirtualDevices

CLIPS = Path(__file__).parents[2] / "audio"


@pytest.fixture(scope="session")
def clips_folder() -> Path:
    """The project's recorded clips."""
    return CLIPS


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """Virtual devices of their own."""
    with VirtualDevices(room_dbfs=ROOM_DBFS) as devices:
        yield Room(devices, tmp_path_factory.mktemp("talk") / "talk.log")


@pytest.fixture(scope="module")
def talk(room: Room) -> Iterator[TalkHandle]:
    """A talk that is listening, with its models loaded."""
    with room.talk() as handle:
        yield handle

"""This machine's devices in a talk: opened, lost, opened again."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.testing.virtual_devices import RATE, VirtualDevices
from discussion_helper.voice.devices import Devices, sound_devices
from discussion_helper.voice.engine import AudioEngine
from discussion_helper.voice.notes import Level, Note

pytestmark = [pytest.mark.anyio, pytest.mark.devices]

if TYPE_CHECKING:
    from discussion_helper.audio.inbox import Captured


@pytest.fixture
def anyio_backend() -> str:
    """Real time: real devices take part."""
    return "asyncio"


class Deaf:
    """Hears nothing, but that there is something."""

    def __init__(self) -> None:
        self.blocks = 0

    def captured(self, item: "Captured") -> list[Note]:
        self.blocks += 1
        return [Level(0.0)] if self.blocks == 1 else []

    def played(self, item: Played) -> None: ...

    def finish(self) -> list[Note]:
        return []


class Told:
    def __init__(self) -> None:
        self.send, self.states = anyio.create_memory_object_stream[tuple[str, str]](100)
        self.errors: list[Exception] = []
        self.heard = anyio.Event()

    def noted(self, note: Note) -> None:
        self.heard.set()

    def device(self, which: str, state: str, **more: str) -> None:
        self.send.send_nowait((which, state))

    def lost(self, error: Exception) -> None:
        self.errors.append(error)


def engine_on(devices: Devices, hearing: Deaf) -> AudioEngine:
    make: Callable[[int], Any] = lambda rate: hearing  # noqa: E731
    return AudioEngine(
        inbox=devices.inbox, open_capture=devices.open_capture, open_playback=devices.open_playback, hearing=make
    )


async def test_a_pulled_plug_is_waited_for_and_the_reply_goes_on() -> None:
    hearing, told = Deaf(), Told()
    tone: Samples = np.full(3 * RATE, 0.25, np.float32)
    with VirtualDevices() as room:
        room.apply()
        async with engine_on(sound_devices(None, None), hearing) as engine:
            await engine.open_microphone(told)
            engine.playback.write(1, tone)
            await engine.marks.set(1, RATE // 2).reached.wait()
            room.unplug()
            with anyio.fail_after(20.0):
                gone = {await told.states.receive() for _ in range(2)}
                left = engine.playback.pending(1)
                before = hearing.blocks
                await anyio.to_thread.run_sync(room.plug_in)
                back = {await told.states.receive() for _ in range(2)}
                end = engine.marks.set(1, len(tone) - 1)
                await end.reached.wait()
            health = engine.health()

    told.send.close()
    told.states.close()
    assert {("microphone", "lost"), ("loudspeaker", "lost")} == gone
    assert {("microphone", "open"), ("loudspeaker", "open")} == back
    assert 0 < left < len(tone)
    assert end.at_s is not None
    assert hearing.blocks > before
    assert [] == told.errors
    assert 2 == health.losses


async def test_a_microphone_that_hangs_is_lost_after_a_second_and_opened_again() -> None:
    hearing, told = Deaf(), Told()
    with VirtualDevices() as room:
        room.apply()
        async with engine_on(sound_devices(None, None), hearing) as engine:
            await engine.open_microphone(told)
            with anyio.fail_after(5.0):
                await told.heard.wait()
            with anyio.fail_after(20.0):
                with room.frozen():
                    before = time.monotonic()
                    assert ("microphone", "lost") == await told.states.receive()
                    took_s = time.monotonic() - before
                while ("microphone", "open") != await told.states.receive():
                    pass
    told.send.close()
    told.states.close()
    assert 0.9 < took_s < 3.0
    assert [] == told.errors

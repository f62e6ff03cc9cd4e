"""This machine's devices in a talk: opened, lost, opened again."""

import json
import os
import time
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.devices import find_device, refresh
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.errors import DeviceError
from discussion_helper.testing.virtual_devices import RATE, VirtualDevices
from discussion_helper.voice import sound_openers
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

    somebody_speaks = False

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


BOTH_LOST = {("microphone", "lost"), ("loudspeaker", "lost")}
Follow = Callable[[Callable[[], object]], Awaitable[None]]


def engine_on(devices: Devices, hearing: Deaf, follow: Follow | None = None) -> AudioEngine:
    make: Callable[[int], Any] = lambda rate: hearing  # noqa: E731
    return AudioEngine(
        inbox=devices.inbox,
        open_capture=devices.open_capture,
        open_playback=devices.open_playback,
        hearing=make,
        follow=follow,
    )


@pytest.fixture
def told() -> Generator[Told]:
    told = Told()
    yield told
    told.send.close()
    told.states.close()


def noise(seconds: float) -> Samples:
    """No part of it is like another; it is audible from its first sample to its last."""
    random = np.random.default_rng(5)
    count = round(seconds * RATE)
    return np.asarray(random.uniform(0.1, 0.3, count) * random.choice([-1.0, 1.0], count), np.float32)


def listed(room: VirtualDevices, what: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(room.control("-f", "json", "list", what))
    return found


def streams(room: VirtualDevices, what: str) -> list[dict[str, Any]]:
    """The "sink-inputs" or "source-outputs" of PortAudio in this process, as PulseAudio sees them."""
    return [one for one in listed(room, what) if "ALSA" in one["properties"].get("application.name", "")]


async def played(engine: AudioEngine, samples: int) -> None:
    with anyio.fail_after(20.0):
        await engine.marks.set(1, samples - 1).reached.wait()


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
                gone: set[tuple[str, str]] = set()
                while not gone >= BOTH_LOST:  # on a busy machine a microphone may have been late, and lost, before
                    gone.add(await told.states.receive())
                left = engine.playback.pending(1)
                before = hearing.blocks
                await anyio.to_thread.run_sync(room.plug_in)
                back = {await told.states.receive() for _ in range(2)}
                end = engine.marks.set(1, len(tone) - 1)
                await end.reached.wait()
            health = engine.health()

    told.send.close()
    told.states.close()
    assert {("microphone", "open"), ("loudspeaker", "open")} == back
    assert 0 < left < len(tone)
    assert end.at_s is not None
    assert hearing.blocks > before
    assert [] == told.errors
    assert 2 <= health.losses


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


async def test_c12_all_of_a_reply_is_heard_when_the_talk_ends_with_it() -> None:
    said = noise(1.0)
    with VirtualDevices() as room:
        room.apply()
        with room.record() as recording:
            async with engine_on(sound_devices(None, None, latency_s=0.2), Deaf()) as engine:
                engine.playback.write(1, said)
                await played(engine, len(said))
                engine.playback.halt(1)  # as a voice does that is closed
            assert recording.wait_quiet("loudspeaker", 0.5, timeout=5.0)

    start, correlation = recording.locate("loudspeaker", said)
    assert correlation > 0.999
    last = recording.last_audible("loudspeaker")
    assert last is not None
    assert last - start + 1 >= len(said)


async def test_the_first_word_of_a_sink_that_was_suspended_is_whole_and_open_it_is_not_suspended() -> None:
    said = noise(0.5)

    def state() -> str:
        return next(str(sink["state"]) for sink in listed(room, "sinks") if sink["name"] == "loudspeaker")

    with VirtualDevices() as room:
        room.apply()
        room.control("load-module", "module-suspend-on-idle", "timeout=1")
        with room.record() as recording:
            silent = partial(recording.wait_quiet, "loudspeaker", timeout=10.0)
            assert await anyio.to_thread.run_sync(silent, 2.5)
            before = state()
            async with engine_on(sound_devices(None, None, latency_s=0.2), Deaf()) as engine:
                engine.playback.write(1, said)
                await played(engine, len(said))
                assert await anyio.to_thread.run_sync(silent, 2.5)
                after = state()  # idle for longer than the module waits

    first, correlation = recording.locate("loudspeaker", said)
    assert correlation > 0.999
    assert recording.first_audible("loudspeaker") == first
    assert (before, after) == ("SUSPENDED", "RUNNING")


async def test_a_reply_waits_while_its_sink_is_suspended_and_goes_on_where_it_was(told: Told) -> None:
    said = noise(2.0)
    with VirtualDevices() as room:
        room.apply()
        with room.record() as recording:
            async with engine_on(sound_devices(None, None, latency_s=0.2), Deaf()) as engine:
                engine.playback.write(1, said)
                await played(engine, RATE // 2)
                room.control("suspend-sink", "loudspeaker", "1")
                room.control("suspend-sink", "loudspeaker", "0")
                await played(engine, len(said))
            assert recording.wait_quiet("loudspeaker", 0.5, timeout=5.0)

    ends = [recording.locate("loudspeaker", part)[1] for part in (said[: RATE // 4], said[-RATE // 2 :])]
    assert min(ends) > 0.99
    assert told.errors == []


async def test_g3_on_linux_the_sound_server_moves_both_streams_with_the_default(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    with VirtualDevices() as room:
        room.apply()
        for variable in ("PULSE_SINK", "PULSE_SOURCE"):
            monkeypatch.delenv(variable)
        room.control("load-module", "module-null-sink", "sink_name=headset", "rate=16000", "channels=1", "norewinds=1")
        async with engine_on(sound_devices(None, None), hearing := Deaf()) as engine:
            assert await engine.open_microphone(told) == "default [ALSA]"
            engine.playback.write(1, noise(2.0))
            await played(engine, RATE // 2)
            room.control("set-default-sink", "headset")
            room.control("set-default-source", "headset.monitor")
            await played(engine, 2 * RATE)
            blocks = hearing.blocks
            engine.playback.write(2, noise(0.5))
            await engine.marks.set(2, RATE // 4).reached.wait()
            sinks = {sink["index"]: sink["name"] for sink in listed(room, "sinks")}
            on = [sinks[stream["sink"]] for stream in streams(room, "sink-inputs")]
            health = engine.health()

    assert on == ["headset"]
    assert hearing.blocks > blocks
    assert health.losses == 0
    assert told.errors == []


async def test_a_talk_moves_to_another_device_and_loses_no_sample_of_its_reply(
    told: Told, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = noise(3.0)
    go = anyio.Event()

    async def follow(tell: Callable[[], object]) -> None:
        await go.wait()
        tell()

    with VirtualDevices() as room:
        (tmp_path / "headset.conf").write_text("pcm.headset { type pulse }\n")
        monkeypatch.setenv("ALSA_CONFIG_PATH", "")
        room.apply()
        monkeypatch.setenv("ALSA_CONFIG_PATH", f"{os.environ['ALSA_CONFIG_PATH']}:{tmp_path / 'headset.conf'}")
        refresh()
        devices = sound_devices(None, None, latency_s=0.1)
        with room.record() as recording:
            async with engine_on(devices, Deaf(), follow) as engine:
                await engine.open_microphone(told)
                engine.playback.write(1, said)
                first = engine.marks.set(1, RATE - 1)  # the end of a clause
                monkeypatch.setattr(sound_openers, "find_device", lambda text, kind: find_device("headset", kind))
                go.set()
                with anyio.fail_after(10.0):
                    moved = set[tuple[str, str]]()
                    while len(moved) < 2:  # on a busy machine a device may be late, which is told as well
                        moved |= {await told.states.receive()} - {("loudspeaker", "hanging"), ("microphone", "hanging")}
                    await first.reached.wait()
                left = engine.playback.pending(1)
                name = engine._sink.name if engine._sink else ""
                await played(engine, len(said))
            assert recording.wait_quiet("loudspeaker", 0.5, timeout=5.0)

    heard = recording.samples("loudspeaker")
    cut = len(said) - left
    places = [recording.locate("loudspeaker", part)[0] for part in (said[:cut], said[cut:])]
    assert moved == {("microphone", "open"), ("loudspeaker", "open")}
    assert name == "headset [ALSA]"
    assert RATE <= cut < 2 * RATE
    np.testing.assert_allclose(heard[places[0] : places[0] + cut], said[:cut], atol=1e-4)
    ramp = RATE // 100
    np.testing.assert_allclose(heard[places[1] :][ramp:left], said[cut:][ramp:], atol=1e-4)
    assert not heard[places[0] + cut + ramp : places[1]].any()
    print(f"silence while moving: {(places[1] - places[0] - cut) / RATE * 1e3:.0f} ms")
    assert told.errors == []


async def test_muted_the_microphone_is_free_and_unmuted_it_is_taken_again(told: Told) -> None:
    with VirtualDevices() as room:
        room.apply()
        async with engine_on(sound_devices(None, None), Deaf()) as engine:
            await engine.open_microphone(told)
            taken = len(streams(room, "source-outputs"))
            await engine.close_microphone()
            muted = len(streams(room, "source-outputs"))
            await engine.open_microphone(told)
            again = len(streams(room, "source-outputs"))
        left = len(streams(room, "source-outputs")), len(streams(room, "sink-inputs"))

    assert (taken, muted, again, left) == (1, 0, 1, (0, 0))


async def test_g7_a_second_talk_on_the_same_microphone_is_told_and_the_first_goes_on(told: Told) -> None:
    with VirtualDevices() as room:
        room.apply()
        async with engine_on(sound_devices(None, None), hearing := Deaf()) as first:
            await first.open_microphone(told)
            async with engine_on(sound_devices(None, None), Deaf()) as second:
                with pytest.raises(DeviceError, match=r"default \[ALSA\].* another talk of this program"):
                    await second.open_microphone(told)
                await first.close_microphone()
                assert await second.open_microphone(told) == "default [ALSA]"

    assert hearing.blocks >= 0
    assert told.errors == []

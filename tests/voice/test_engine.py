"""The audio thread between its devices: a real thread, devices without hardware."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, get_ident
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Captured, DeviceLost, Inbox, Played
from discussion_helper.audio.playback import Playback
from discussion_helper.errors import DeviceError
from discussion_helper.voice import audio_work, reopening
from discussion_helper.voice.engine import AudioEngine
from discussion_helper.voice.health import Health
from discussion_helper.voice.notes import Level, Note

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """Real time: a real thread takes part."""
    return "asyncio"


@dataclass
class FakeDevice:
    name: str
    rate: int = 1_000
    playback: Playback = field(default_factory=lambda: Playback(1_000))
    closes: int = 0
    overflows: int = 0
    underflows: int = 0
    closed: Event = field(default_factory=Event)
    order: list[str] = field(default_factory=list)

    def close(self) -> None:
        self.closes += 1
        self.order.append(f"-{self.name}")
        self.closed.set()


class FakeHearing:
    """Notes the amplitude of each block as a level."""

    def __init__(self) -> None:
        self.threads: set[int] = set()
        self.played_blocks = 0
        self.somebody_speaks = False
        self.fails = False
        self.held = Event()
        self.held.set()

    def captured(self, item: Captured) -> list[Note]:
        assert self.held.wait(10.0)
        self.threads.add(get_ident())
        if self.fails:
            raise ValueError("bad block")
        return [Level(float(item.frame.samples[0]))]

    def played(self, item: Played) -> None:
        self.played_blocks += 1

    def finish(self) -> list[Note]:
        return [Level(-99.0)]


class FakeEars:
    def __init__(self) -> None:
        self.send, self.notes = anyio.create_memory_object_stream[Note](1000)
        self.send_device, self.devices = anyio.create_memory_object_stream[tuple[str, str, dict[str, str]]](100)
        self.errors: list[Exception] = []
        self.told = anyio.Event()

    def noted(self, note: Note) -> None:
        self.send.send_nowait(note)

    def device(self, which: str, state: str, **more: str) -> None:
        self.send_device.send_nowait((which, state, more))

    def lost(self, error: Exception) -> None:
        self.errors.append(error)
        self.told.set()

    def close(self) -> None:
        for stream in (self.send, self.notes, self.send_device, self.devices):
            stream.close()


class Rig:
    def __init__(self) -> None:
        self.inbox = Inbox()
        self.microphone, self.loudspeaker = FakeDevice("mic"), FakeDevice("speaker")
        self.refusals = 0
        self.hearing = FakeHearing()
        self.ears = FakeEars()
        self.opened: list[str] = []
        self.following = anyio.Event()
        self.move: Callable[[], object] = lambda: None
        make: Callable[[int], Any] = lambda rate: self.hearing  # noqa: E731
        self.engine = AudioEngine(
            inbox=self.inbox,
            open_capture=lambda: self._open(self.microphone),
            open_playback=lambda: self._open(self.loudspeaker),
            hearing=make,
            follow=self._follow,
        )

    def _open(self, device: FakeDevice) -> FakeDevice:
        if self.refusals:
            self.refusals -= 1
            raise DeviceError("not there")
        self.opened.append(device.name)
        return device

    async def _follow(self, tell: Callable[[], object]) -> None:
        self.move = tell
        self.following.set()
        await anyio.sleep_forever()

    def capture(self, amplitude: float, start: int = 0) -> None:
        self.inbox.put(Captured(Frame(np.full(10, amplitude, np.float32), 1_000, start), 0.0))


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that went away is looked for all the time, and not for long."""
    monkeypatch.setattr(reopening.opened_again, "__kwdefaults__", {"pause_s": 0.01, "give_up_s": 0.5})


@pytest.fixture
async def rig() -> Any:
    rig = Rig()
    yield rig
    rig.ears.close()


async def test_what_is_heard_is_told_on_the_loop_in_order(rig: Rig) -> None:
    async with rig.engine as engine:
        assert "mic" == await engine.open_microphone(rig.ears)
        for number in range(5):
            rig.capture(float(number))
        told = [await rig.ears.notes.receive() for _ in range(5)]

    assert [Level(float(number)) for number in range(5)] == told
    assert get_ident() not in rig.hearing.threads


async def test_closing_the_microphone_ends_what_is_open_and_hears_nothing_more(rig: Rig) -> None:
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        await engine.close_microphone()
        await engine.close_microphone()
        assert Level(-99.0) == await rig.ears.notes.receive()
        rig.capture(1.0)
        await engine.open_microphone(rig.ears)
        rig.capture(2.0)
        assert Level(2.0) == await rig.ears.notes.receive()

    assert 2 == rig.microphone.closes


async def test_leaving_closes_both_devices_and_ends_the_thread(rig: Rig) -> None:
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        assert engine._driver.is_alive()

    assert (1, 1, False) == (rig.microphone.closes, rig.loudspeaker.closes, rig.engine._driver.is_alive())


async def test_a_mark_wakes_the_loop_when_it_is_passed(rig: Rig) -> None:
    async with rig.engine as engine:
        playback = rig.loudspeaker.playback
        playback.write(1, np.full(25, 0.5, np.float32))
        mark = engine.marks.set(1, 15)
        for start in (0, 10, 20):
            block = np.empty(10, np.float32)
            position = playback.render(block)
            assert position is not None
            rig.inbox.put(Played(Frame(block, 1_000, start), 7.0 + start / 1_000, position))
        with anyio.fail_after(5.0):
            await mark.reached.wait()

    assert 7.01 == mark.at_s


async def test_a_lost_microphone_is_opened_again_and_heard(rig: Rig, soon: None) -> None:
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        rig.refusals = 2
        rig.microphone.overflows = 3
        rig.inbox.put(DeviceLost("capture", '"mic" stopped by itself'))
        with anyio.fail_after(5.0):
            which, state, more = await rig.ears.devices.receive()
            again = await rig.ears.devices.receive()
            assert Level(-99.0) == await rig.ears.notes.receive()  # the open turn ended
            rig.capture(2.0)
            assert Level(2.0) == await rig.ears.notes.receive()
        health = engine.health()

    assert ("microphone", "lost", '"mic" stopped by itself.') == (which, state, more["reason"])
    assert "--device" in more["fix"]
    assert ("microphone", "open", {"name": "mic"}) == again
    assert [] == rig.ears.errors
    assert (1, 6) == (health.losses, health.overflows)  # of the lost one, and of the one that took its place


async def test_a_reply_waits_for_a_lost_loudspeaker_and_goes_on(rig: Rig, soon: None) -> None:
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        engine.playback.write(1, np.full(25, 0.5, np.float32))
        rig.inbox.put(DeviceLost("playback", '"speaker" stopped by itself'))
        with anyio.fail_after(5.0):
            told = [(which, state) for which, state, _ in [await rig.ears.devices.receive() for _ in range(2)]]

        assert [("loudspeaker", "lost"), ("loudspeaker", "open")] == told
        assert 25 == engine.playback.pending(1)
    assert [] == rig.ears.errors


@pytest.mark.parametrize("which", ["capture", "playback"])
async def test_a_device_that_does_not_come_back_ends_the_talk(rig: Rig, soon: None, which: Any) -> None:
    told: list[Exception] = []
    async with rig.engine as engine:
        engine.on_loudspeaker_lost(told.append)
        await engine.open_microphone(rig.ears)
        rig.refusals = 1_000_000
        rig.inbox.put(DeviceLost(which, '"it" stopped by itself'))
        with anyio.fail_after(5.0):
            await rig.ears.told.wait()

    assert ['"it" stopped by itself. Connect it again, or choose another one with --device.'] == [
        str(error) for error in rig.ears.errors
    ]
    assert told == (rig.ears.errors if which == "playback" else [])


async def moved(rig: Rig, number: int) -> list[tuple[str, str, str]]:
    """The next events: which device, its state, its name."""
    with anyio.fail_after(5.0):
        told = [await rig.ears.devices.receive() for _ in range(number)]
    return sorted((which, state, more.get("name", "")) for which, state, more in told)


async def test_g3_another_default_is_moved_to_and_told(rig: Rig) -> None:
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        await rig.following.wait()
        closed_first = rig.microphone.closes, rig.loudspeaker.closes
        rig.microphone, rig.loudspeaker = (
            FakeDevice("headset mic"),
            FakeDevice("headset", playback=rig.loudspeaker.playback),
        )
        rig.move()

        told = await moved(rig, 2)
        rig.capture(2.0)
        with anyio.fail_after(5.0):
            while await rig.ears.notes.receive() != Level(2.0):
                pass
        assert engine.health().losses == 0

    assert closed_first == (0, 0)
    assert told == [("loudspeaker", "open", "headset"), ("microphone", "open", "headset mic")]
    assert (rig.microphone.closes, rig.loudspeaker.closes) == (1, 1)


async def test_all_devices_are_closed_before_one_is_opened_anew(rig: Rig) -> None:
    """PortAudio looks for devices only when no stream is open."""
    order: list[str] = []
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        await rig.following.wait()
        rig.microphone.order = rig.loudspeaker.order = order
        rig.opened = order
        rig.move()
        await moved(rig, 2)

    assert sorted(order[:2]) == ["-mic", "-speaker"]
    assert sorted(order[2:4]) == ["mic", "speaker"]


async def test_g3_a_move_waits_for_the_end_of_the_clause_and_keeps_the_rest_of_the_reply(rig: Rig) -> None:
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        await rig.following.wait()
        playback = rig.loudspeaker.playback
        playback.write(1, np.full(40, 0.5, np.float32))
        engine.marks.set(1, 19)  # the end of its first clause
        rig.move()
        for start in (0, 10):
            block = np.empty(10, np.float32)
            with anyio.move_on_after(0.1):
                await rig.ears.devices.receive()
                raise AssertionError("in the middle of a clause")
            position = playback.render(block)
            assert position is not None
            rig.inbox.put(Played(Frame(block, 1_000, start), 7.0, position))
        told = await moved(rig, 2)

        assert playback.pending(1) == 20
    assert told[0] == ("loudspeaker", "open", "speaker")


async def test_a_muted_microphone_stays_closed_when_the_talk_moves(rig: Rig) -> None:
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        await rig.following.wait()
        await engine.close_microphone()
        rig.opened.clear()
        rig.move()

        assert await moved(rig, 1) == [("loudspeaker", "open", "speaker")]
        await engine.close_loudspeaker()
        assert rig.opened == ["speaker"]


async def test_a_move_while_moving_is_made_as_well(rig: Rig) -> None:
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        await rig.following.wait()
        rig.move()
        await moved(rig, 2)
        rig.move()
        rig.move()

        assert len(await moved(rig, 2)) == 2


async def test_a_device_that_refuses_after_a_move_is_told_and_tried_again(rig: Rig, soon: None) -> None:
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        await rig.following.wait()
        rig.refusals = 2
        rig.move()

        told = await moved(rig, 4)
    assert [state for _, state, _ in told] == ["lost", "open"] * 2
    assert rig.ears.errors == []


async def test_leaving_in_a_move_leaves_nothing_open(rig: Rig) -> None:
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        await rig.following.wait()
        engine.playback.write(1, np.full(40, 0.5, np.float32))
        rig.move()  # waits for the end of a clause

    assert (rig.microphone.closes, rig.loudspeaker.closes) == (1, 1)


async def test_a_lost_microphone_that_is_muted_meanwhile_stays_closed(rig: Rig, soon: None) -> None:
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        rig.refusals = 1_000_000
        rig.inbox.put(DeviceLost("capture", '"mic" stopped by itself'))
        await rig.ears.devices.receive()
        await engine.close_microphone()
        rig.refusals = 0
        await engine.open_microphone(rig.ears)
        rig.capture(2.0)
        with anyio.fail_after(5.0):
            while await rig.ears.notes.receive() != Level(2.0):
                pass

    assert [] == rig.ears.errors
    with pytest.raises(anyio.WouldBlock):
        rig.ears.devices.receive_nowait()


async def test_what_an_attempt_that_hung_opens_after_closing_is_closed(rig: Rig, soon: None) -> None:
    late, trying, let_go = FakeDevice("late"), Event(), Event()

    def hang() -> FakeDevice:
        trying.set()
        assert let_go.wait(10.0)
        return late

    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        rig.engine._open_capture = hang
        rig.inbox.put(DeviceLost("capture", '"mic" stopped by itself'))
        await anyio.to_thread.run_sync(trying.wait, 10.0)
        await engine.close_microphone()
        rig.engine._open_capture = lambda: rig.microphone
        await engine.open_microphone(rig.ears)
        rig.inbox.put(DeviceLost("capture", '"mic" stopped by itself'))
        with anyio.fail_after(5.0):
            told = [await rig.ears.devices.receive() for _ in range(3)]
        let_go.set()
        await anyio.to_thread.run_sync(late.closed.wait, 10.0)

        assert engine._capture is rig.microphone
    assert ["lost", "lost", "open"] == [state for _, state, _ in told]
    assert 1 == late.closes


async def test_a_microphone_that_delivers_nothing_is_lost(
    rig: Rig, soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audio_work, "TICK_S", 0.02)
    monkeypatch.setattr(audio_work, "STALL_S", 0.1)
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        rig.capture(1.0)
        with anyio.fail_after(4.0):
            _, state, more = await rig.ears.devices.receive()
            again = await rig.ears.devices.receive()

    assert ("lost", '"mic" delivers nothing any more.') == (state, more["reason"])
    assert "open" == again[1]


async def test_a_muted_microphone_delivers_nothing_and_is_not_lost(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audio_work, "TICK_S", 0.01)
    monkeypatch.setattr(audio_work, "STALL_S", 0.05)
    async with rig.engine as engine:
        await engine.open_microphone(rig.ears)
        rig.capture(1.0)
        await engine.close_microphone()
        with anyio.move_on_after(0.3):
            await rig.ears.told.wait()

        assert 0 == engine.health().losses


async def test_its_health_tells_how_late_the_thread_was_and_what_was_dropped(rig: Rig) -> None:
    async with rig.engine as engine:
        assert Health() == engine.health()
        await engine.open_microphone(rig.ears)
        for number in range(3):
            rig.capture(float(number))
            await rig.ears.notes.receive()
        rig.loudspeaker.underflows = 2
        rig.hearing.held.clear()
        for _ in range(701):  # more than the inbox holds
            rig.capture(9.0)
        rig.hearing.held.set()
        for _ in range(600):
            await rig.ears.notes.receive()
        await engine.close_microphone()
        await engine.close_loudspeaker()
        health = engine.health()

    assert (600, 2, 0) == (health.queued_most, health.underflows, health.losses)
    assert health.dropped >= 99
    assert 704 == health.blocks + health.dropped
    assert 0.0 < health.woken_p99_s <= health.late_p99_s <= health.late_worst_s


async def test_a_lost_loudspeaker_is_told_to_the_voice_and_ends_the_talk_with_its_own_fix(rig: Rig) -> None:
    told: list[Exception] = []
    async with rig.engine as engine:
        engine.on_loudspeaker_lost(told.append)
        await engine.open_microphone(rig.ears)
        rig.inbox.put(DeviceLost("playback", "out.wav cannot be written", fix="Make room.", returns=False))
        with anyio.fail_after(5.0):
            await rig.ears.told.wait()

    assert told == rig.ears.errors
    assert "out.wav cannot be written. Make room." == str(told[0])


async def test_a_failure_on_the_audio_thread_ends_the_talk_and_not_the_thread(rig: Rig) -> None:
    rig.hearing.fails = True
    async with rig.engine as engine:
        engine.on_loudspeaker_lost(lambda error: None)
        await engine.open_microphone(rig.ears)
        rig.capture(1.0)
        with anyio.fail_after(5.0):
            await rig.ears.told.wait()
        assert engine._driver.is_alive()

    assert "bad block" in str(rig.ears.errors[0])


async def test_a_device_that_cannot_be_opened_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig()

    def refuse() -> FakeDevice:
        raise DeviceError("no such device")

    monkeypatch.setattr(rig.engine, "_open_playback", refuse)
    with pytest.raises(DeviceError):
        async with rig.engine:
            pass
    rig.ears.close()

    assert not rig.engine._driver.is_alive()

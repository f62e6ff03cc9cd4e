"""The room check, on simulated devices and on the virtual ones."""

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np
import pytest

from discussion_helper.audio.chirp import NOISE_SPAN_S, chirp
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, Closed, DeviceLost, Inbox, Item, Played
from discussion_helper.audio.playback import Playback
from discussion_helper.errors import DeviceError
from discussion_helper.testing.virtual_devices import VirtualDevices
from discussion_helper.voice.devices import Devices, sound_devices
from discussion_helper.voice.room_check import Room, check_room


@dataclass
class Opened:
    """An open device."""

    name: str
    rate: int
    playback: Playback
    overflows: int = 0
    underflows: int = 0
    closed: bool = False

    def close(self) -> None:
        self.closed = True


@dataclass
class Simulated(Inbox):
    """A room, faster than time: both devices take 10 ms each, and what is played comes back `delay_s` later."""

    gain_db: float | None = -10.0
    delay_s: float = 0.05
    noise_dbfs: float | None = -65.0
    boost: float = 1.0
    scatter_s: float = 0.0
    """The noise of the chirp comes up to so much later, by chance, 50 ms for 50 ms."""
    rate: int = 48_000
    lost_at_s: float = 60.0
    stops_at_s: float = 60.0
    gap_at: int = -1
    opened: list[Opened] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.playback = Playback(self.rate)
        self.air = np.zeros(8 * self.rate, np.float32)
        self.ready: list[tuple[Item, float]] = []
        self.tick = 0
        self.lost_samples = 0
        self.later_s = 0.0
        self.random = np.random.default_rng(0)

    def devices(self) -> Devices:
        def opened() -> Opened:
            self.opened.append(Opened("room", self.rate, self.playback))
            return self.opened[-1]

        return Devices("Mic [Fake]", "Speaker [Fake]", self, opened, opened)

    def get(self, timeout: float | None = None) -> Item | Closed | None:
        while not self.ready:
            if self.tick * 0.01 >= self.stops_at_s:
                return super().get(timeout)
            self.step()
        item, self.put_at_s = self.ready.pop(0)
        return item

    def step(self) -> None:
        now, size = self.tick * 0.01, self.rate // 100
        out = np.empty(size, np.float32)
        position = self.playback.render(out)
        if position is not None:
            self.ready.append((Played(Frame(out, self.rate, self.tick * size), now + 0.01, position), now))
        if self.gain_db is not None:
            place = round((now + 0.01 + self.delay_s) * self.rate)
            if self.tick % 5 == 0:
                within = position is not None and _is_noise(position.samples / self.rate)
                self.later_s = self.random.uniform(0.0, self.scatter_s) if within else 0.0
            place += round(self.later_s * self.rate)
            self.air[place : place + size] += out * np.float32(10.0 ** (self.gain_db / 20.0))
        if self.tick >= 2 and self.tick != self.gap_at:
            self.ready.append((self.captured(now - 0.02, size), now))
        if now >= self.lost_at_s:
            self.ready.append((DeviceLost("capture", '"Mic [Fake]" stopped by itself'), now))
        self.tick += 1

    def captured(self, at_s: float, size: int) -> Captured:
        start = round(at_s * self.rate)
        heard = self.air[start : start + size]
        if self.noise_dbfs is not None:
            heard = heard + self.random.normal(0.0, 10.0 ** (self.noise_dbfs / 20.0), size).astype(np.float32)
        return Captured(Frame(np.clip(heard * self.boost, -1.0, 1.0).astype(np.float32), self.rate, start), at_s)


def _is_noise(played_s: float) -> bool:
    middle_s, end_s = NOISE_SPAN_S
    return 2 * middle_s - end_s <= played_s < end_s


def check(room: Simulated) -> Room:
    return check_room(room.devices(), late_s=0.2)


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
@pytest.mark.parametrize(("gain_db", "delay_s"), [(0.0, 0.01), (-10.0, 0.05), (-20.0, 0.3), (-35.0, 0.1)])
def test_the_room_is_measured(gain_db: float, delay_s: float, rate: int) -> None:
    found = check(Simulated(gain_db=gain_db, delay_s=delay_s, rate=rate))

    assert found.round_trip_s == pytest.approx(delay_s + 0.02, abs=0.001)
    assert found.stamped_s == pytest.approx(delay_s, abs=0.001)
    assert found.spread_s == pytest.approx(0.0, abs=0.0002)
    assert found.echo_db == pytest.approx(gain_db, abs=1.0)
    assert (found.microphone_rate, found.loudspeaker_rate) == (rate, rate)
    assert (found.lost_blocks, found.lost, found.zeros, found.clips) == (0, "", False, False)


@pytest.mark.parametrize("gain_db", [0.0, -10.0])
def test_the_canceller_is_seen_to_work(gain_db: float) -> None:
    found = check(Simulated(gain_db=gain_db))

    assert found.suppression_db is not None
    assert found.suppression_db > 25.0


def test_an_echo_that_the_canceller_cannot_follow_is_seen_to_stay() -> None:
    found = check(Simulated(gain_db=-5.0, scatter_s=1.5))

    assert found.suppression_db is not None
    assert found.suppression_db < 5.0
    assert found.residue_db is not None
    assert found.residue_db > 30.0


def test_a_late_echo_is_seen_to_be_followed() -> None:
    found = check(Simulated(gain_db=-5.0, delay_s=0.7))

    assert found.suppression_db is not None
    assert found.suppression_db > 25.0


def test_the_noise_is_measured() -> None:
    assert check(Simulated(noise_dbfs=-45.0, rate=16_000)).noise_dbfs == pytest.approx(-45.0, abs=0.5)


def test_no_echo_is_told_from_a_faint_one() -> None:
    assert check(Simulated(gain_db=None)).echo_db is None
    assert check(Simulated(gain_db=-38.0, noise_dbfs=-55.0)).echo_db == pytest.approx(-38.0, abs=1.5)


def test_exact_zeros_are_told() -> None:
    assert check(Simulated(gain_db=None, noise_dbfs=None)).zeros


def test_an_overdriven_microphone_is_told() -> None:
    assert check(Simulated(gain_db=0.0, boost=12.0)).clips


def test_a_device_that_goes_away_is_told() -> None:
    assert "stopped by itself" in check(Simulated(lost_at_s=1.0)).lost


def test_a_microphone_that_stops_or_never_starts_does_not_hang() -> None:
    assert "stopped after 1" in check(Simulated(stops_at_s=1.5)).lost
    assert "delivers no sound" in check(Simulated(stops_at_s=0.0)).lost


def test_a_lost_block_is_counted() -> None:
    assert 1 == check(Simulated(gap_at=50)).lost_blocks


def test_both_devices_are_closed_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    room = Simulated()

    def interrupted(generation: int, samples: Samples) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(room.playback, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check(room)

    assert [True, True] == [device.closed for device in room.opened]


def test_a_microphone_that_cannot_be_opened_leaves_no_loudspeaker_open() -> None:
    room = Simulated()
    devices = room.devices()

    def refuse() -> Opened:
        raise DeviceError("It is in use.")

    with pytest.raises(DeviceError):
        check_room(Devices("m", "l", room, refuse, devices.open_playback))

    assert [True] == [device.closed for device in room.opened]


# -- the virtual devices


@pytest.fixture(scope="module")
def virtual() -> Generator[VirtualDevices]:
    with VirtualDevices(room_dbfs=-60.0) as devices:
        devices.apply()
        yield devices


@pytest.mark.devices
@pytest.mark.parametrize(("gain_db", "delay_s"), [(-6.0, 0.3), (-20.0, 0.03)])
def test_real_streams_measure_the_loop_that_was_set(virtual: VirtualDevices, gain_db: float, delay_s: float) -> None:
    with virtual.echo(gain_db=gain_db, delay_s=delay_s), virtual.record() as recording:
        found = check_room(sound_devices(None, None))
    played, heard = (recording.locate(where, chirp(48_000))[0] for where in ("loudspeaker", "microphone"))
    loop_s = (heard - played) / recording.rate

    assert gain_db == pytest.approx(found.echo_db, abs=0.5)
    assert found.round_trip_s is not None
    assert loop_s < found.round_trip_s < loop_s + 0.08  # and the two devices' buffers
    assert found.stamped_s == pytest.approx(loop_s, abs=0.025)
    assert found.spread_s == pytest.approx(0.0, abs=0.001)
    assert found.suppression_db is not None
    assert found.suppression_db > 15.0


@pytest.mark.devices
def test_real_streams_without_an_echo_find_none(virtual: VirtualDevices) -> None:
    found = check_room(sound_devices(None, None))

    assert found.echo_db is None
    assert found.noise_dbfs == pytest.approx(-65.0, abs=2.0)  # a third of the band is heard at 16 kHz

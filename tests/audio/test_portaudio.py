"""PortAudio's streams: what callbacks deliver, what devices refuse, how they end."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discussion_helper.audio.devices import find_device
from discussion_helper.audio.inbox import Captured, Closed, DeviceLost, Inbox, Item, Played
from discussion_helper.audio.playback import Playback
from discussion_helper.audio.portaudio import PortAudioCapture, PortAudioPlayback
from discussion_helper.audio.quiet import while_open
from discussion_helper.audio.resample import Resampler
from discussion_helper.errors import DeviceError

if TYPE_CHECKING:
    from tests.audio.conftest import FakePortAudio

NO_CHANNELS, NO_RATE, BUSY = -9998, -9997, -9985


def drained(inbox: Inbox) -> list[Item]:
    """All that is in it; it takes no more."""
    inbox.close()
    items: list[Item] = []
    while (item := inbox.get(timeout=1.0)) is not None and not isinstance(item, Closed):
        items.append(item)
    return items


def capture(fake: "FakePortAudio", inbox: Inbox) -> PortAudioCapture:
    if not fake.devices:
        fake.add("mic", "Core Audio", inputs=1, rate=48_000.0)
    return PortAudioCapture(find_device(None, "input"), inbox)


def playback(fake: "FakePortAudio", inbox: Inbox, given: Playback | None = None) -> PortAudioPlayback:
    if not fake.devices:
        fake.add("box", "Core Audio", outputs=2, rate=48_000.0)
    return PortAudioPlayback(find_device(None, "output"), given or Playback, inbox)


# -- capture


def test_a_block_is_copied_with_its_place_and_time(fake: "FakePortAudio") -> None:
    inbox = Inbox()
    block = np.full((480, 1), 0.25, np.float32)

    with capture(fake, inbox):
        before = time.monotonic()
        fake.streams[0].run(block, at=fake.now - 0.01)
        fake.now += 0.01
        fake.streams[0].run(block, at=fake.now - 0.01)
        block.fill(9.0)  # PortAudio uses its memory again

    first, second = drained(inbox)
    assert isinstance(first, Captured)
    assert isinstance(second, Captured)
    assert np.array_equal(first.frame.samples, np.full(480, 0.25, np.float32))
    assert (first.frame.rate, first.frame.start, second.frame.start) == (48_000, 0, 480)
    assert before - 0.5 < first.at_s < time.monotonic()
    assert second.at_s - first.at_s == pytest.approx(0.01, abs=0.006)


def test_lost_samples_show_as_a_gap(fake: "FakePortAudio") -> None:
    inbox = Inbox()
    block = np.zeros((480, 1), np.float32)

    with capture(fake, inbox) as microphone:
        fake.streams[0].run(block, at=1.0)
        fake.streams[0].run(block, at=1.04, input_overflow=True)
        fake.streams[0].run(block, at=1.05)
        assert microphone.overflows == 1

    assert [item.frame.start for item in drained(inbox) if isinstance(item, Captured)] == [0, 480 * 4, 480 * 5]


def test_an_overflow_without_sensible_times_moves_nothing(fake: "FakePortAudio") -> None:
    inbox = Inbox()
    block = np.zeros((480, 1), np.float32)

    with capture(fake, inbox):
        fake.streams[0].run(block, at=0.0)
        fake.streams[0].run(block, at=1e9, input_overflow=True)

    assert [item.frame.start for item in drained(inbox) if isinstance(item, Captured)] == [0, 480]


def test_several_channels_are_averaged(fake: "FakePortAudio") -> None:
    fake.add("array", inputs=4)
    fake.refuses = lambda channels, rate: 0 if channels == 4 else NO_CHANNELS
    inbox = Inbox()

    with capture(fake, inbox) as microphone:
        assert microphone.channels == 4
        fake.streams[0].run(np.tile(np.array([0.1, 0.2, 0.3, 0.4], np.float32), (480, 1)))

    (item,) = drained(inbox)
    assert isinstance(item, Captured)
    assert np.allclose(item.frame.samples, 0.25)


# -- what devices refuse


@pytest.mark.parametrize(
    ("api", "own", "taken", "expected"),
    [
        ("Core Audio", 44_100.0, {44_100, 48_000}, 44_100),
        ("ALSA", 44_100.0, {44_100, 48_000}, 48_000),  # its own rate is a guess
        ("ALSA", 44_100.0, {44_100}, 44_100),
        ("Windows WASAPI", 48_000.0, {16_000}, 16_000),
        ("ALSA", 22_050.0, {22_050}, 22_050),
    ],
)
def test_the_first_rate_that_is_taken_counts(
    fake: "FakePortAudio", api: str, own: float, taken: set[int], expected: int
) -> None:
    fake.add("mic", api, inputs=1, rate=own)
    fake.refuses = lambda channels, rate: 0 if rate in taken else NO_RATE

    with capture(fake, Inbox()) as microphone:
        assert microphone.rate == expected
        assert fake.streams[0].options["blocksize"] == round(expected / 100)


def test_a_device_of_two_channels_only_is_opened_with_two(fake: "FakePortAudio") -> None:
    fake.add("stereo", inputs=8)
    fake.refuses = lambda channels, rate: (
        0 if channels == 2 and rate == 44_100 else (NO_CHANNELS, NO_RATE)[channels - 1]
    )

    with capture(fake, Inbox()) as microphone:
        assert (microphone.channels, microphone.rate) == (2, 44_100)

    assert fake.attempts == [(1, 48_000), (2, 48_000), (2, 44_100)]


def test_a_busy_device_is_told_without_trying_on(fake: "FakePortAudio") -> None:
    fake.refuses = lambda channels, rate: BUSY

    with pytest.raises(DeviceError, match=r"mic \[Core Audio\].*Close the program"), capture(fake, Inbox()):
        pass

    assert len(fake.attempts) == 1


def test_g2_a_device_that_takes_no_rate_at_all_is_told_with_all_causes(fake: "FakePortAudio") -> None:
    fake.refuses = lambda channels, rate: NO_RATE

    with pytest.raises(DeviceError, match="cannot be opened for input") as caught, capture(fake, Inbox()):
        pass

    assert "another program" in caught.value.what.casefold()
    assert "may not use it" in caught.value.what
    assert "none of 48000, 44100, 32000, 16000 Hz" in caught.value.what


def test_what_the_host_says_is_told_as_well(fake: "FakePortAudio") -> None:
    fake.on_start = fake.PortAudioError("Unanticipated host error", -9999, (1, -50, "paramErr"))

    with pytest.raises(DeviceError, match=r"Unanticipated host error \(paramErr\)"), capture(fake, Inbox()):
        pass


@pytest.mark.parametrize("rate", [44_100, 48_000])
def test_g1_of_a_device_of_one_rate_the_detectors_get_the_voice_alone(fake: "FakePortAudio", rate: int) -> None:
    fake.add("mic", "Core Audio", inputs=1, rate=float(rate))
    fake.refuses = lambda channels, asked: 0 if asked == rate else NO_RATE
    seconds = np.arange(rate) / rate
    levels = {}

    for hertz in (1_000, 12_000):
        inbox = Inbox(capacity=1000)
        with capture(fake, inbox) as microphone:
            assert microphone.rate == rate
            tone = (0.5 * np.sin(2 * np.pi * hertz * seconds)).astype(np.float32)
            for block in tone.reshape(100, -1, 1):
                fake.streams[-1].run(block)
        resampler = Resampler(rate, 16_000)
        heard = [resampler.process(item.frame.samples) for item in drained(inbox) if isinstance(item, Captured)]
        levels[hertz] = 20 * np.log10(np.concatenate(heard)[1_600:].std() / (0.5 / 2**0.5) + 1e-9)

    assert abs(levels[1_000]) < 0.5
    assert levels[12_000] < -40.0


def test_g7_a_microphone_has_one_owner(fake: "FakePortAudio") -> None:
    with capture(fake, Inbox()) as first:
        with pytest.raises(DeviceError, match=r"mic \[Core Audio\].* another talk of this program"):
            capture(fake, Inbox()).__enter__()
        assert len(fake.streams) == 1
        first.close()
        with capture(fake, Inbox()):
            first.close()  # it owns nothing any more
            with pytest.raises(DeviceError, match="another talk"):
                capture(fake, Inbox()).__enter__()


def test_g7_a_microphone_that_cannot_be_opened_has_no_owner(fake: "FakePortAudio") -> None:
    fake.refuses = lambda channels, rate: BUSY
    with pytest.raises(DeviceError):
        capture(fake, Inbox()).__enter__()
    fake.refuses = lambda channels, rate: 0

    with capture(fake, Inbox()) as microphone:
        assert microphone.rate == 48_000


def test_a_microphone_is_another_one_than_its_neighbour(fake: "FakePortAudio") -> None:
    fake.add("mic", "Core Audio", inputs=1)
    fake.add("webcam", "Core Audio", inputs=1)

    with capture(fake, Inbox()), PortAudioCapture(find_device("webcam", "input"), Inbox()) as other:
        assert other.name == "webcam [Core Audio]"


def test_a_slow_host_api_gets_the_latency_it_needs(fake: "FakePortAudio") -> None:
    fake.add("Speakers", "MME", outputs=2)

    with playback(fake, Inbox()):
        assert fake.streams[0].options["latency"] == 0.1


# -- playback


def test_a_reply_goes_to_all_channels_and_is_told(fake: "FakePortAudio") -> None:
    fake.add("box", outputs=2)
    fake.refuses = lambda channels, rate: 0 if channels == 2 else NO_CHANNELS
    inbox = Inbox()
    block = np.empty((480, 2), np.float32)

    with playback(fake, inbox) as loudspeaker:
        fake.streams[0].run(block)
        assert not block.any()
        loudspeaker.playback.write(1, np.full(480, 0.5, np.float32))
        fake.streams[0].run(block, at=1.03)

    (item,) = drained(inbox)
    assert isinstance(item, Played)
    assert (block == 0.5).all()
    assert (item.frame.start, item.frame.rate, item.position.samples) == (480, 48_000, 480)
    assert np.array_equal(item.frame.samples, block[:, 0])
    assert item.at_s == pytest.approx(time.monotonic(), abs=1.0)


def test_a_playback_is_made_for_the_rate_of_the_device(fake: "FakePortAudio") -> None:
    fake.add("bluetooth", "Core Audio", outputs=1, rate=16_000.0)

    with playback(fake, Inbox()) as loudspeaker:
        assert loudspeaker.playback.rate == loudspeaker.rate == 16_000


def test_a_given_playback_gets_its_own_rate_if_the_device_takes_it(fake: "FakePortAudio") -> None:
    fake.add("box", "Core Audio", outputs=1, rate=48_000.0)

    with playback(fake, Inbox(), Playback(22_050)) as loudspeaker:
        assert loudspeaker.rate == 22_050


def test_a_given_playback_of_a_refused_rate_is_converted(fake: "FakePortAudio") -> None:
    fake.add("headset", "Core Audio", outputs=1, rate=16_000.0)
    fake.refuses = lambda channels, rate: 0 if rate == 16_000 else NO_RATE
    given = Playback(48_000)
    given.write(1, np.sin(np.arange(48_000) * 2 * np.pi * 1000 / 48_000).astype(np.float32) * np.float32(0.5))
    blocks = np.zeros((110, 160, 1), np.float32)
    inbox = Inbox()

    with playback(fake, inbox, given) as loudspeaker:
        assert loudspeaker.rate == 16_000
        for block in blocks:
            fake.streams[0].run(block)

    heard = blocks.ravel()[4000:12_000]
    spectrum = np.abs(np.fft.rfft(heard * np.hanning(len(heard))))
    assert np.argmax(spectrum) == 500  # 1000 Hz in steps of 2 Hz
    assert heard.std() == pytest.approx(0.5 / 2**0.5, rel=0.02)
    assert given.position.samples == 48_000
    assert {item.frame.rate for item in drained(inbox) if isinstance(item, Played)} == {16_000}


def test_primed_a_loudspeaker_gets_silence_first(fake: "FakePortAudio") -> None:
    fake.add("box", "Core Audio", outputs=1, rate=48_000.0)
    inbox = Inbox()
    block = np.empty((480, 1), np.float32)

    with PortAudioPlayback(find_device(None, "output"), Playback, inbox, prime_s=0.02) as loudspeaker:
        loudspeaker.playback.write(1, np.full(480, 0.5, np.float32))
        heard = []
        for _ in range(3):
            fake.streams[0].run(block)
            heard.append(float(block[0, 0]))

    assert heard == [0.0, 0.0, 0.5]
    assert [item.frame.start for item in drained(inbox) if isinstance(item, Played)] == [960]


def test_underflows_are_counted(fake: "FakePortAudio") -> None:
    with playback(fake, Inbox()) as loudspeaker:
        fake.streams[0].run(np.empty((480, 1), np.float32), output_underflow=True)

        assert loudspeaker.underflows == 1


# -- the end


@pytest.mark.parametrize("kind", ["capture", "playback"])
def test_closing_aborts_once_and_tells_nobody(fake: "FakePortAudio", kind: str) -> None:
    inbox = Inbox()
    device = capture(fake, inbox) if kind == "capture" else playback(fake, inbox)

    with device:
        device.close()
        device.close()

    assert fake.streams[0].calls == ["start", "abort", "close"]
    assert not device.hung
    assert drained(inbox) == []


@pytest.mark.timed
@pytest.mark.parametrize("halted", [False, True])
def test_c12_closing_lets_the_end_be_heard_unless_it_was_halted(fake: "FakePortAudio", halted: bool) -> None:
    loudspeaker = playback(fake, Inbox())

    with loudspeaker:
        loudspeaker.playback.write(1, np.full(960, 0.5, np.float32))
        fake.now += 1.0
        fake.streams[0].run(np.empty((480, 1), np.float32), at=fake.now + 0.2)  # it holds 200 ms
        if halted:
            loudspeaker.playback.halt(1)
        before = time.monotonic()
        loudspeaker.close()
        took = time.monotonic() - before

    assert (took < 0.15) if halted else (0.2 < took < 0.6)
    assert fake.streams[0].calls == ["start", "abort", "close"]


def test_c12_a_reply_that_was_played_to_its_end_and_halted_then_is_not_cut_off(fake: "FakePortAudio") -> None:
    loudspeaker = playback(fake, Inbox())

    with loudspeaker:
        loudspeaker.playback.write(1, np.full(480, 0.5, np.float32))
        fake.streams[0].run(np.empty((480, 1), np.float32), at=fake.now + 0.2)
        loudspeaker.playback.halt(1)  # as a voice does that is closed
        before = time.monotonic()
        loudspeaker.close()

    assert time.monotonic() - before > 0.2


def test_closing_takes_nothing_more_of_a_reply(fake: "FakePortAudio") -> None:
    loudspeaker = playback(fake, Inbox())
    block = np.empty((480, 1), np.float32)

    with loudspeaker, ThreadPoolExecutor(1) as helper:
        loudspeaker.playback.write(1, np.full(4_800, 0.5, np.float32))
        fake.streams[0].run(block, at=fake.now + 0.3)
        closing = helper.submit(loudspeaker.close)
        while fake.streams[0].calls == ["start"] and block[-1, 0]:
            fake.streams[0].run(block, at=fake.now + 0.3)
        closing.result(5.0)

    assert not block[-1, 0]
    assert 0 < loudspeaker.playback.pending(1) < 4_800


@pytest.mark.parametrize("kind", ["capture", "playback"])
def test_a_stream_that_ends_by_itself_is_a_lost_device(fake: "FakePortAudio", kind: str) -> None:
    inbox = Inbox()
    device = capture(fake, inbox) if kind == "capture" else playback(fake, inbox)

    with device:
        fake.streams[0].options["finished_callback"]()

    (item,) = drained(inbox)
    assert isinstance(item, DeviceLost)
    assert item.which == kind
    assert device.name in item.reason


def test_a_callback_after_closing_is_silent_and_delivers_nothing(fake: "FakePortAudio") -> None:
    inbox = Inbox()
    fake.add("both", inputs=1, outputs=1)
    with capture(fake, inbox), playback(fake, inbox):
        pass
    block = np.ones((480, 1), np.float32)

    for stream in fake.streams:
        stream.run(block)

    assert not block.any()
    assert drained(inbox) == []


@pytest.mark.parametrize("kind", ["capture", "playback"])
def test_an_error_in_the_callback_ends_the_stream_and_is_told(fake: "FakePortAudio", kind: str) -> None:
    inbox = Inbox()
    device = capture(fake, inbox) if kind == "capture" else playback(fake, inbox)

    with device:
        with pytest.raises(fake.CallbackAbort):
            fake.streams[0].options["callback"](np.ones((480, 1), np.float32), 480, None, None)
        fake.streams[0].options["finished_callback"]()

    (item,) = drained(inbox)
    assert isinstance(item, DeviceLost)
    assert "Error" in item.reason


def test_closing_a_device_that_hangs_takes_a_second_and_says_so(
    fake: "FakePortAudio", caplog: pytest.LogCaptureFixture
) -> None:
    let_go = Event()
    fake.on_abort = lambda: let_go.wait(30.0)

    with ExitStack() as stack:
        stack.callback(let_go.set)
        device = stack.enter_context(capture(fake, Inbox()))
        before = time.monotonic()
        device.close()
        took = time.monotonic() - before

    assert device.hung
    assert 0.9 < took < 3.0
    assert "does not let itself be closed" in caplog.text


def test_a_device_that_fails_to_start_is_released(fake: "FakePortAudio") -> None:
    fake.on_start = fake.PortAudioError("Unanticipated host error", -9999)
    device = capture(fake, Inbox())

    with pytest.raises(DeviceError, match="Unanticipated host error"), device:
        pass

    assert fake.streams[0].calls == ["abort", "close"]


def test_a_device_that_is_gone_is_told_when_it_is_opened(fake: "FakePortAudio") -> None:
    device = capture(fake, Inbox())
    fake.devices.clear()

    with pytest.raises(DeviceError, match="is not there any more"), device:
        pass

    assert fake.streams == []


def test_libraries_may_write_to_stderr_again_when_no_stream_is_open(fake: "FakePortAudio") -> None:
    held = []
    fake.refuses = lambda channels, rate: held.append(while_open._holders) or 0  # type: ignore[func-returns-value]
    with capture(fake, Inbox()) as microphone:
        microphone.close()
    fake.refuses = lambda channels, rate: BUSY
    with pytest.raises(DeviceError), capture(fake, Inbox()):
        pass

    assert held == [1]
    assert while_open._holders == 0

"""Files as devices: clips when they are asked for, one clock for both sides, a file that can always be read."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, Future
from dataclasses import astuple
from pathlib import Path
from threading import Event

import numpy as np
import pytest
import soundfile

from discussion_helper.audio.file_devices import FileCapture, FileDevices, FilePlayback, Said
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, Closed, DeviceLost, Inbox, Item, Played
from discussion_helper.audio.playback import Playback
from discussion_helper.errors import AudioFileError

RATE = 48_000


def noise(samples: int, seed: int = 0) -> Samples:
    return np.random.default_rng(seed).uniform(-0.5, 0.5, samples).astype(np.float32)


def drained(inbox: Inbox) -> list[Item]:
    inbox.close()
    items: list[Item] = []
    while (item := inbox.get(timeout=1.0)) is not None and not isinstance(item, Closed):
        items.append(item)
    return items


def captured(inbox: Inbox) -> list[Captured]:
    return [item for item in drained(inbox) if isinstance(item, Captured)]


def heard(blocks: list[Captured]) -> Samples:
    return np.concatenate([block.frame.samples for block in blocks])


# -- the microphone, block by block


def steps(capture: FileCapture, blocks: range) -> None:
    for number in blocks:
        capture.step(number * 480, 480, 50.0 + number * 0.01)


def test_clips_are_said_one_after_the_other_and_told_to_the_sample() -> None:
    inbox = Inbox()
    clips = [Frame(noise(1000, 1), RATE), Frame(noise(500, 2), RATE)]
    capture = FileCapture(clips, inbox)
    steps(capture, range(2))
    first, second = capture.say(0), capture.say(1)

    steps(capture, range(2, 8))

    assert astuple(first.result(0)) == pytest.approx((960, 1960, 50.02, 50.02 + 1000 / RATE))
    assert astuple(second.result(0)) == pytest.approx((2400, 2900, 50.05, 50.05 + 500 / RATE))
    blocks = captured(inbox)
    sound = heard(blocks)
    assert np.array_equal(sound[960:1960], clips[0].samples)
    assert np.array_equal(sound[2400:2900], clips[1].samples)
    assert [block.frame.start for block in blocks] == list(range(0, 8 * 480, 480))
    assert [block.at_s for block in blocks] == pytest.approx([50.0 + n * 0.01 for n in range(8)])


def test_a_clip_is_done_only_after_its_last_block_was_delivered() -> None:
    inbox = Inbox()
    capture = FileCapture([], inbox)
    delivered: list[int] = []
    capture.say(noise(960)).add_done_callback(lambda _: delivered.append(len(drained(inbox))))

    steps(capture, range(3))

    assert delivered == [2]


def test_between_the_clips_it_is_nearly_silent_but_not_muted() -> None:
    inbox = Inbox()

    steps(FileCapture([], inbox), range(200))

    sound = heard(captured(inbox))
    assert 0 < np.abs(sound).max() < 0.001
    assert not np.array_equal(sound[:480], sound[480:960])


def test_digital_silence_in_a_clip_is_no_muted_microphone() -> None:
    inbox = Inbox()
    clip = np.concatenate([noise(480), np.zeros(960, np.float32), noise(480)])
    capture = FileCapture([Frame(clip, RATE)], inbox)
    said = capture.say(0)

    steps(capture, range(4))

    blocks = np.split(heard(captured(inbox)), 4)
    assert said.done()
    assert np.array_equal(np.concatenate([blocks[0], blocks[3]]), np.concatenate([noise(480), noise(480)]))
    assert all(0 < np.abs(block).max() < 0.001 for block in blocks[1:3])


def test_silence_can_be_digital() -> None:
    inbox = Inbox()

    steps(FileCapture([], inbox, room_dbfs=None), range(10))

    assert not heard(captured(inbox)).any()


def test_a_clip_that_was_cancelled_is_not_said() -> None:
    inbox = Inbox()
    capture = FileCapture([], inbox, room_dbfs=None)
    first, second = capture.say(noise(100, 1)), capture.say(noise(100, 2))

    assert first.cancel()
    steps(capture, range(1))

    assert second.result(0).start == 0
    assert np.array_equal(heard(captured(inbox))[:100], noise(100, 2))


def test_closing_cancels_what_was_not_said_to_its_end() -> None:
    capture = FileCapture([], Inbox())
    running, waiting = capture.say(noise(4800)), capture.say(noise(10))
    steps(capture, range(1))

    capture.close()
    capture.close()

    for said in (running, waiting):
        with pytest.raises(CancelledError):
            said.result(0)
    with pytest.raises(RuntimeError, match="closed"):
        capture.say(noise(10))


def test_only_so_many_clips_wait() -> None:
    capture = FileCapture([], Inbox())
    for _ in range(16):
        capture.say(noise(10))

    with pytest.raises(RuntimeError, match="16 clips wait"):
        capture.say(noise(10))


def test_an_empty_clip_and_one_of_another_rate_are_refused() -> None:
    with pytest.raises(ValueError, match="no samples"):
        FileCapture([], Inbox()).say(noise(0))
    with pytest.raises(ValueError, match="48000 Hz"):
        FileCapture([Frame(noise(10), 16_000)], Inbox())


# -- the loudspeaker, block by block


def test_the_file_has_what_was_rendered_where_it_was_rendered(tmp_path: Path) -> None:
    inbox, playback = Inbox(), Playback(RATE)
    device = FilePlayback(tmp_path / "out.wav", playback, inbox)
    device.open()
    device.step(480, 480, 7.01)
    playback.write(1, noise(700))
    device.step(1440, 480, 7.03)  # a block was left out
    device.step(1920, 480, 7.04)
    device.close()

    samples, rate = soundfile.read(tmp_path / "out.wav", dtype="float32")
    assert (rate, len(samples)) == (RATE, 2400)
    assert not samples[:1440].any()
    assert np.abs(samples[1440:2140] - noise(700)).max() < 5e-5
    first, second = (item for item in drained(inbox) if isinstance(item, Played))
    assert (first.frame.start, first.at_s, first.position.samples) == (1440, 7.03, 480)
    assert (second.frame.start, second.position.samples) == (1920, 700)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes with a place among the files")
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.wav")

    with (
        pytest.raises(AudioFileError, match="is a pipe"),
        FileDevices(playback=FilePlayback(tmp_path / "pipe.wav", Playback(RATE), Inbox())),
    ):
        pass


@pytest.mark.parametrize("name", ["missing/out.wav", "folder.wav"])
def test_a_path_that_cannot_be_written_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.wav").mkdir()

    with (
        pytest.raises(AudioFileError, match=r"cannot be written: .*Choose a folder"),
        FileDevices(playback=FilePlayback(tmp_path / name, Playback(RATE), Inbox())),
    ):
        pass


def test_another_ending_than_wav_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AudioFileError, match=r"Let it end in \.wav"):
        FilePlayback(tmp_path / "out.mp3", Playback(RATE), Inbox()).open()

    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a file that is a full disk")
def test_a_full_disk_is_one_lost_device(tmp_path: Path) -> None:
    inbox = Inbox()
    (tmp_path / "full.wav").symlink_to("/dev/full")
    playback = Playback(RATE)
    playback.write(1, noise(1440))
    device = FilePlayback(tmp_path / "full.wav", playback, inbox)
    device.open()
    for number in range(1, 4):
        device.step(number * 480, 480, 0.0)
    device.close()

    (item,) = drained(inbox)
    assert isinstance(item, DeviceLost)
    assert "Make room" in item.fix
    assert item.which == "playback"
    assert "No space left" in item.reason


# -- whose file it is


def recording(folder: Path) -> Path:
    soundfile.write(folder / "out.wav", noise(100), RATE)
    return folder / "out.wav"


def test_what_was_there_stays_until_the_first_sample_of_an_answer(tmp_path: Path) -> None:
    path, playback = recording(tmp_path), Playback(RATE)
    before = path.read_bytes()
    device = FilePlayback(path, playback, Inbox())
    device.open()
    device.step(480, 480, 0.0)
    assert path.read_bytes() == before

    playback.write(1, noise(480))
    device.step(960, 480, 0.0)
    device.close()

    samples, _ = soundfile.read(path, dtype="float32")
    assert len(samples) == 1440
    assert not samples[:960].any()
    assert np.abs(samples[960:] - noise(480)).max() < 5e-5


def test_a_talk_without_an_answer_leaves_what_was_there(tmp_path: Path) -> None:
    path = recording(tmp_path)
    before = path.read_bytes()
    device = FilePlayback(path, Playback(RATE), Inbox())
    device.open()
    device.step(480, 480, 0.0)
    device.close()
    assert path.read_bytes() == before


@pytest.mark.parametrize("opened", [False, True])
def test_a_talk_without_an_answer_leaves_no_file_that_was_not_there(tmp_path: Path, *, opened: bool) -> None:
    device = FilePlayback(tmp_path / "out.wav", Playback(RATE), Inbox())
    device.open()
    for number in range(1, 4) if opened else ():
        device.step(number * 480, 480, 0.0)
    device.close()
    device.close()

    assert [] == list(tmp_path.iterdir())


def test_an_empty_file_that_was_there_stays_without_an_answer(tmp_path: Path) -> None:
    (tmp_path / "out.wav").touch()
    device = FilePlayback(tmp_path / "out.wav", Playback(RATE), Inbox())
    device.open()
    device.step(480, 480, 0.0)
    device.close()

    assert 0 == (tmp_path / "out.wav").stat().st_size


def test_more_silence_than_a_block_before_the_first_answer(tmp_path: Path) -> None:
    path, playback = recording(tmp_path), Playback(RATE)
    device = FilePlayback(path, playback, Inbox())
    device.open()
    playback.write(1, noise(480))
    device.step(10 * RATE + 7, 480, 0.0)
    device.close()

    samples, _ = soundfile.read(path, dtype="float32")
    assert len(samples) == 10 * RATE + 487
    assert not samples[:-480].any()
    assert samples[-480:].any()


@pytest.mark.parametrize("other", ["out.wav", "same.wav"])
def test_a_file_that_another_writes_is_refused_and_left_alone(tmp_path: Path, other: str) -> None:
    path, playback = recording(tmp_path), Playback(RATE)
    (tmp_path / "same.wav").hardlink_to(path)
    first, second = FilePlayback(path, playback, Inbox()), FilePlayback(tmp_path / other, Playback(RATE), Inbox())
    first.open()
    playback.write(1, noise(480))
    first.step(480, 480, 0.0)
    written = path.read_bytes()

    with pytest.raises(AudioFileError, match=r"is being written by another talk\. Name another file\."):
        second.open()

    assert path.read_bytes() == written
    first.close()
    second.open()
    second.close()


def test_where_a_file_system_knows_no_locks_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("discussion_helper.audio.file_claim._lock", refuse)
    playback = Playback(RATE)
    playback.write(1, noise(480))
    device = FilePlayback(tmp_path / "out.wav", playback, Inbox())
    device.open()
    device.step(480, 480, 0.0)
    device.close()
    assert soundfile.info(tmp_path / "out.wav").samplerate == RATE


# -- both, in real time


def test_both_have_one_clock_that_does_not_drift(tmp_path: Path) -> None:
    inbox, playback = Inbox(), Playback(RATE)
    devices = FileDevices(FileCapture([], inbox), FilePlayback(tmp_path / "out.wav", playback, inbox))
    playback.write(1, noise(4800))
    with devices:
        said = devices.capture.say(noise(24_000)).result(10.0) if devices.capture else pytest.fail("no microphone")
        done_s = time.monotonic()
    items = drained(inbox)

    assert done_s >= said.end_s
    for item in items:
        assert isinstance(item, Captured | Played)
        assert item.at_s == pytest.approx(devices.start_s + item.frame.start / RATE, abs=1e-6)
    assert devices.start_s + said.start / RATE == pytest.approx(said.start_s, abs=1e-6)
    assert said.end - said.start == 24_000
    first = next(item for item in items if isinstance(item, Played))
    samples, _ = soundfile.read(tmp_path / "out.wav", dtype="float32")
    assert np.abs(samples[first.frame.start :][:4800] - noise(4800)).max() < 5e-5


def test_a_block_is_never_delivered_before_it_is_over() -> None:
    """Blocks come from the device's own thread, one each 10 ms."""
    inbox = Inbox()
    with FileDevices(FileCapture([], inbox)):
        for _ in range(30):
            item = inbox.get(timeout=5.0)
            assert isinstance(item, Captured)
            assert time.monotonic() >= item.at_s + 0.0099


def test_a_machine_that_was_asleep_has_a_gap_and_loses_nothing_of_a_clip() -> None:
    inbox = Inbox()
    capture = FileCapture([], inbox, room_dbfs=None)
    asleep: Future[Said] = capture.say(noise(480, 1))
    asleep.add_done_callback(lambda _: Event().wait(0.5))  # on the device's thread

    with FileDevices(capture) as devices:
        asleep.result(10.0)
        said = capture.say(noise(1000, 2)).result(10.0)

    blocks = captured(inbox)
    gaps = np.diff([block.frame.start for block in blocks]) // 480
    assert devices.late >= 40
    assert gaps.max() == devices.late + 1
    place = next(number for number, block in enumerate(blocks) if block.frame.start == said.start)
    assert np.array_equal(heard(blocks[place:])[:1000], noise(1000, 2))


def test_closing_is_idempotent_and_leaves_no_thread(tmp_path: Path) -> None:
    devices = FileDevices(FileCapture([], Inbox()), FilePlayback(tmp_path / "a.wav", Playback(RATE), Inbox()))
    devices.close()  # before it was entered

    devices = FileDevices(FileCapture([], Inbox()), FilePlayback(tmp_path / "a.wav", Playback(RATE), Inbox()))
    with devices:
        before = time.monotonic()
        devices.close()
        devices.close()

    assert time.monotonic() - before < 1.0
    assert "file-devices" not in {thread.name for thread in threading.enumerate()}


KILLED = """
import sys, numpy as np
from discussion_helper.audio.file_devices import FileDevices, FilePlayback
from discussion_helper.audio.inbox import Inbox, Played
from discussion_helper.audio.playback import Playback
inbox, playback = Inbox(), Playback(48_000)
playback.write(1, np.full(480_000, 0.25, np.float32))
with FileDevices(playback=FilePlayback(sys.argv[1], playback, inbox)):
    for _ in range(20):
        assert isinstance(inbox.get(timeout=5.0), Played)
    print("playing", flush=True)
    sys.stdin.read()
"""


def test_the_file_can_be_read_after_the_program_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "playing\n"
        os.kill(program.pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)

    samples, rate = soundfile.read(path, dtype="float32")
    assert rate == RATE
    assert len(samples) >= 18 * 480
    assert np.allclose(samples[480:], 0.25, atol=5e-5)
    again = FilePlayback(path, Playback(RATE), Inbox())  # nothing holds it any more
    again.open()
    again.close()

"""The recorder: a ring of private files that a crash, a full disk and a slow one leave in order."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Captured
from discussion_helper.errors import AudioFileError, DeviceError, SettingError
from discussion_helper.events import Event
from discussion_helper.recorder import recorder as recorder_module
from discussion_helper.recorder import segments as segments_module
from discussion_helper.recorder.entries import Cleaned, Gap, Header, Noted, Taken, Told
from discussion_helper.recorder.folder import LOCK, segments_in
from discussion_helper.recorder.recorder import Recorder, RecordTo
from discussion_helper.recorder.segments import SEGMENT_S
from discussion_helper.recorder.take import takes_in
from discussion_helper.recorder.talk_recording import recording_to
from discussion_helper.voice.audio_work import Listening
from discussion_helper.voice.notes import Muted


def header(started_utc_s: float = 1_800_000_000.0) -> Header:
    return Header(started_utc_s=started_utc_s, zero_s=0.0, package="0.1.0", settings={"language": "en"})


def block(number: int, value: float = 0.25) -> Captured:
    return Captured(Frame(np.full(480, value, np.float32), 48_000, 480 * number), number / 100)


def fill(recorder: Recorder, seconds: float, *, step_s: float = 0.5) -> None:
    for number in range(round(seconds / step_s)):
        recorder.item(block(number), number * step_s)


def test_what_was_shown_is_in_the_folder_in_its_order(tmp_path: Path) -> None:
    recorder = Recorder(RecordTo(tmp_path / "new" / "talk"), header(), clock=lambda: 9.0)
    recorder.item(block(0), 1.0)
    recorder.echo(Cleaned(0, np.full(160, 0.5, np.float32), -6.0, -90.0))
    recorder.note(Muted(True))
    recorder.event(Event("floor", 2.0, {"floor": "idle"}))
    recorder.item(None, 3.0)
    recorder.close()
    recorder.close()
    (take,) = takes_in(tmp_path / "new" / "talk")
    audio, clean, note, event, nothing = take.entries()

    assert isinstance(audio, Taken)
    assert isinstance(clean, Cleaned)
    assert (1.0, 0.5) == (audio.now, float(clean.samples[0]))
    assert Noted(b'{"note":"Muted","on":true}') == note
    assert Told(9.0, {"kind": "floor", "at_s": 2.0, "floor": "idle"}) == event
    assert Taken(None, 3.0) == nothing
    assert take.begins
    assert [] == take.remarks
    assert "recorder" not in {thread.name for thread in threading.enumerate()}


def test_a_talk_that_never_began_leaves_nothing_in_a_folder_that_was_there(tmp_path: Path) -> None:
    earlier = Recorder(RecordTo(tmp_path), header(1_800_000_000.0))
    fill(earlier, 15.0)
    earlier.close()
    before = sorted(tmp_path.iterdir())
    recorder = Recorder(RecordTo(tmp_path), header(1_800_000_900.0))
    fill(recorder, 15.0)
    recorder.discard()
    recorder.discard()

    assert before == sorted(tmp_path.iterdir())
    assert "recorder" not in {thread.name for thread in threading.enumerate()}


def test_a_talk_that_cannot_be_opened_leaves_no_folder(tmp_path: Path) -> None:
    async def open_it() -> None:
        async with recording_to(RecordTo(tmp_path / "new" / "talk"), {}):
            assert LOCK in os.listdir(tmp_path / "new" / "talk")
            raise DeviceError("The loudspeaker is gone.")

    with pytest.raises(DeviceError):
        anyio.run(open_it)

    assert [] == list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a user's folders from others by itself")
def test_nobody_else_may_look_into_it(tmp_path: Path) -> None:
    folder = tmp_path / "talk"
    folder.mkdir(mode=0o755)
    Recorder(RecordTo(folder), header()).close()

    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_the_oldest_segments_go_those_of_earlier_talks_first(tmp_path: Path) -> None:
    for began in (1_800_000_000.0, 1_800_000_900.0):
        recorder = Recorder(RecordTo(tmp_path, minutes=1.0), header(began))
        fill(recorder, 45.0)
        recorder.close()
    names = [(segment.take, segment.index) for segment in segments_in(tmp_path)]

    assert 6 == len(names)
    assert 5 == sum(take == names[-1][0] for take, _ in names)
    assert names[0] == (names[0][0], 5)


def test_a_ring_keeps_its_size_and_knows_what_it_has_lost(tmp_path: Path) -> None:
    recorder = Recorder(RecordTo(tmp_path, minutes=1.0), header())
    recorder.item(block(0), 0.0)
    fill(recorder, 300.0)
    recorder.close()
    (take,) = takes_in(tmp_path)
    times = [entry.now for entry in take.entries() if isinstance(entry, Taken)]

    assert 6 == len(segments_in(tmp_path))
    assert not take.begins
    assert 5 * SEGMENT_S <= times[-1] - times[0] <= 6 * SEGMENT_S
    assert 299.5 == times[-1]


def test_a_segment_says_what_was_listened_to(tmp_path: Path) -> None:
    from discussion_helper.audio.inbox import Call

    recorder = Recorder(RecordTo(tmp_path), header())
    recorder.item(Call(lambda: None, Listening("room", 48_000)), 0.0)
    fill(recorder, 25.0)
    recorder.close()
    segments_in(tmp_path)[0].path.unlink()
    (take,) = takes_in(tmp_path)

    assert Listening("room", 48_000) == take.header.listening


def test_a_segment_that_is_gone_or_damaged_is_a_gap(tmp_path: Path) -> None:
    recorder = Recorder(RecordTo(tmp_path), header())
    fill(recorder, 45.0)
    recorder.close()
    segments = segments_in(tmp_path)
    segments[1].path.unlink()
    data = bytearray(segments[2].path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    segments[2].path.write_bytes(data)
    (take,) = takes_in(tmp_path)
    kinds = [type(entry).__name__ for entry in take.entries()]

    assert 2 == kinds.count("Gap")
    assert 1 == len(take.remarks)
    assert "no whole record" in take.remarks[0]


def test_a_folder_without_a_recording_is_told(tmp_path: Path) -> None:
    with pytest.raises(AudioFileError, match=r"holds no recording\. Record again"):
        takes_in(tmp_path)
    with pytest.raises(AudioFileError, match="cannot be read"):
        takes_in(tmp_path / "gone")
    (tmp_path / "20270115T080000.000Z-000001.rec").write_bytes(b"something else")
    with pytest.raises(AudioFileError, match="does not begin with"):
        takes_in(tmp_path)


# -- what goes wrong


def a_file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("")
    return tmp_path / "file"


def other_files(tmp_path: Path) -> Path:
    (tmp_path / "letter.txt").write_text("Dear")
    return tmp_path


def a_lookalike(tmp_path: Path) -> Path:
    (tmp_path / "20270115T080000.000Z-000001.rec").write_bytes(b"no recording")
    return tmp_path


def a_pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "20270115T080000.000Z-000001.rec")
    return tmp_path


def a_lock_elsewhere(tmp_path: Path) -> Path:
    (tmp_path / LOCK).symlink_to(tmp_path / "gone")
    return tmp_path


def a_lock_that_is_a_pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / LOCK)
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have no paths there")
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (a_pipe, r"record: .* holds other files, such as 20270115T080000"),
        (a_lock_elsewhere, r"record: .* cannot be used: recording\.lock in it is a link"),
        (a_lock_that_is_a_pipe, r"record: .* cannot be used: It is no file"),
    ],
)
def test_a_folder_with_what_is_no_file_is_refused_at_once(
    make: Callable[[Path], Path], says: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingError, match=says):
        Recorder(RecordTo(make(tmp_path)), header())
    assert 1 == len(list(tmp_path.iterdir()))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have no paths there")
def test_a_pipe_with_the_name_of_a_segment_is_told_at_once(tmp_path: Path) -> None:
    a_pipe(tmp_path)
    with pytest.raises(AudioFileError, match=r"cannot be read: It is no file"):
        takes_in(tmp_path)


def test_a_segment_under_the_name_of_another_is_left_out(tmp_path: Path) -> None:
    recorder = Recorder(RecordTo(tmp_path), header())
    fill(recorder, 25.0)
    recorder.close()
    first, second, _ = (segment.path for segment in segments_in(tmp_path))
    second.write_bytes(first.read_bytes())
    (take,) = takes_in(tmp_path)

    assert 1 == sum(isinstance(entry, Gap) for entry in take.entries())
    assert [f"{second.name} is left out: its header is that of another segment."] == take.remarks


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (a_file, r'record: "\S+file" cannot be used: File exists\. Name a folder'),
        (other_files, r"record: .* holds other files, such as letter\.txt\. Name an empty folder"),
        (a_lookalike, r"record: .* holds other files"),
    ],
)
def test_a_folder_that_is_not_for_recordings_is_refused(
    make: Callable[[Path], Path], says: str, tmp_path: Path
) -> None:
    folder = make(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())

    with pytest.raises(SettingError, match=says):
        Recorder(RecordTo(folder), header())
    assert before == sorted(path.name for path in tmp_path.iterdir())


def test_two_programs_do_not_record_in_one_folder(tmp_path: Path) -> None:
    first = Recorder(RecordTo(tmp_path), header())
    with pytest.raises(SettingError, match="another program records"):
        Recorder(RecordTo(tmp_path), header())
    first.close()
    Recorder(RecordTo(tmp_path), header(1_800_000_001.0)).close()

    assert 2 == len(takes_in(tmp_path))


@pytest.mark.parametrize("minutes", [0.0, 1e6, float("nan")])
def test_a_limit_out_of_range_is_named(minutes: float, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="record_limit"):
        RecordTo(tmp_path, minutes)


def test_a_full_disk_ends_the_recording_with_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: SimpleQueue[str] = SimpleQueue()
    room = [2_000]

    def write(descriptor: int, data: memoryview) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = min(len(data), room[0])
        room[0] -= written
        return os_write(descriptor, data[:written])

    os_write = os.write
    monkeypatch.setattr(os, "write", write)
    recorder = Recorder(RecordTo(tmp_path), header(), on_trouble=told.put)
    fill(recorder, 5.0)
    line = told.get(timeout=10.0)
    fill(recorder, 50.0)
    recorder.close()

    assert f'The recording in "{tmp_path}" has ended: No space left on device.' == line == recorder.trouble
    assert told.empty()
    assert recorder._queue.qsize() <= 11
    (take,) = takes_in(tmp_path)
    assert list(take.entries())


def test_a_disk_that_is_too_slow_makes_a_gap_and_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "_AUDIO", 20)
    slow, entered, caught_up = threading.Event(), threading.Event(), threading.Event()
    add = segments_module.SegmentWriter.add

    def stuck(self: Any, entry: Any) -> None:
        entered.set()
        assert slow.wait(10.0)
        add(self, entry)
        if recorder._queue.empty():
            caught_up.set()

    monkeypatch.setattr(segments_module.SegmentWriter, "add", stuck)
    recorder = Recorder(RecordTo(tmp_path), header())
    recorder.item(block(0), 0.0)
    assert entered.wait(10.0)
    for number in range(1, 100):
        recorder.item(block(number), number / 100)
    waiting = recorder._queue.qsize()
    slow.set()
    assert caught_up.wait(10.0)
    recorder.item(block(100), 1.0)
    recorder.close()
    (take,) = takes_in(tmp_path)
    entries = list(take.entries())

    assert 20 == waiting
    assert [79] == [entry.missed for entry in entries if isinstance(entry, Gap)]
    assert 22 == sum(isinstance(entry, Taken) for entry in entries)


KILLED = """
import sys, numpy as np
from pathlib import Path
from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Captured
from discussion_helper.recorder.entries import Header
from discussion_helper.recorder.recorder import Recorder, RecordTo
recorder = Recorder(RecordTo(Path(sys.argv[1])), Header(started_utc_s=1e9, zero_s=0.0, package="0", settings={}))
number = 0
while True:
    recorder.item(Captured(Frame(np.full(480, 0.25, np.float32), 48_000, 480 * number), number / 100), number / 100)
    number += 1
    if number % 500 == 0:
        while recorder._queue.qsize() > 1000:
            recorder._closing.wait(0.01)  # nothing tells that the disk has caught up, and what is too much is dropped
        print(number, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("lines", [8, 15])
def test_a_process_that_is_killed_leaves_what_it_had_written(lines: int, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(lines):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    (take,) = takes_in(tmp_path)
    starts = [entry.item.frame.start for entry in take.entries() if isinstance(entry, Taken) and entry.item]  # type: ignore[union-attr]

    assert list(range(0, 480 * len(starts), 480)) == starts
    assert len(starts) >= 500 * lines - 2_600  # what waited, and what was being written
    assert len(take.remarks) <= 1
    Recorder(RecordTo(tmp_path), header(1_800_000_000.0)).close()
    assert (tmp_path / LOCK).exists()

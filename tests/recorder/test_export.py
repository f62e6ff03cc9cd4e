"""The export: sounds that are aligned to the sample, and events that know their place in them."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Captured, Played
from discussion_helper.audio.playback import Position
from discussion_helper.audio.resample import resample
from discussion_helper.errors import AudioFileError
from discussion_helper.recorder.entries import Cleaned, Entry, Header, Taken
from discussion_helper.recorder.export import FILES, exported
from discussion_helper.recorder.take import Take, takes_in
from discussion_helper.recorder.tracks import LONGEST_PAUSE_S, Timeline, Track


def lag_of(one: Any, other: Any) -> int:
    """Samples by which `other` is later."""
    size = 1 << (len(one) + len(other)).bit_length()
    product = np.fft.irfft(np.fft.rfft(other, size) * np.conj(np.fft.rfft(one, size)), size)
    place = int(np.argmax(product))
    return place if place < size // 2 else place - size


def test_the_microphone_keeps_its_samples_and_the_others_their_place(talk: Any, tmp_path: Path) -> None:
    (take,) = takes_in(talk.folder)
    paths = exported(take, tmp_path / "out")
    sounds = {path.name: soundfile.read(path, dtype="float32") for path in paths if path.suffix == ".wav"}
    captured = [entry.item.frame.samples for entry in take.entries() if _is_captured(entry)]  # type: ignore[union-attr]
    microphone, rate = sounds["microphone.wav"]

    assert list(FILES) == [path.name for path in paths]
    assert 48_000 == rate
    assert np.concatenate(captured).tobytes() == microphone.tobytes()
    clean, clean_rate = sounds["cancelled.wav"]
    assert 16_000 == clean_rate
    after = slice(9 * 16_000, 12 * 16_000)  # the person alone: the canceller passes what it gets
    assert abs(lag_of(resample(microphone, 48_000, 16_000)[after], clean[after])) <= 1
    played, _ = sounds["played.wav"]
    echo = slice(round(0.6 * 48_000), round(1.9 * 48_000))  # the agent alone, whose echo is 100 ms later
    assert abs(lag_of(played[echo], microphone[echo]) - 4_800) <= 96


def _is_captured(entry: object) -> bool:
    return isinstance(entry, Taken) and isinstance(entry.item, Captured)


def test_every_event_and_note_has_its_place(talk: Any, tmp_path: Path) -> None:
    exported(takes_in(talk.folder)[0], tmp_path)
    events, notes = (
        [json.loads(line) for line in (tmp_path / name).read_text("utf-8").splitlines()] for name in FILES[3:]
    )

    assert ["ended"] == [event["kind"] for event in events]
    assert len(talk.notes) == len(notes)
    decided = next(note for note in notes if note["note"] == "Decided")
    assert abs(decided["at_s"] - 1_000.0 - decided["file_s"]) < 0.05


def test_what_is_there_is_not_written_over(talk: Any, tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text("mine")
    with pytest.raises(AudioFileError, match=r'events\.jsonl" is there already\. Name an empty folder'):
        exported(takes_in(talk.folder)[0], tmp_path)
    with pytest.raises(AudioFileError, match="cannot be written"):
        exported(takes_in(talk.folder)[0], tmp_path / "events.jsonl")
    assert ["events.jsonl"] == [path.name for path in tmp_path.iterdir()]


def test_a_microphone_that_was_away_leaves_a_pause_of_10_s_at_most() -> None:
    timeline = Timeline()
    places = [
        timeline.captured(Frame(np.zeros(480, np.float32), 48_000, start), at_s)
        for start, at_s in ((0, 5.0), (480, 5.01), (960, 5.02), (0, 8.02), (480, 8.03), (0, 900.0))
    ]

    assert [0.0, 0.01, 0.02, 3.02, 3.03, 3.03 + LONGEST_PAUSE_S] == pytest.approx(places)
    assert 3.03 + LONGEST_PAUSE_S + 0.5 == pytest.approx(timeline.of(900.5))


def test_a_track_leaves_silence_where_nothing_was_and_takes_other_rates(tmp_path: Path) -> None:
    with Track(tmp_path / "track.wav") as track:
        track.put(Frame(np.full(480, 0.5, np.float32), 48_000, 0), 0.0)
        track.put(Frame(np.full(480, 0.5, np.float32), 48_000, 960), 0.02)
        track.put(Frame(np.full(441, 0.5, np.float32), 44_100, 0), 0.025)
    samples, rate = soundfile.read(tmp_path / "track.wav")

    assert (48_000, 1_440 + 240) == (rate, len(samples))
    assert not samples[480:960].any()
    assert (samples[960:1440] == 0.5).all()


def test_two_exports_are_the_same_to_the_last_byte(talk: Any, tmp_path: Path) -> None:
    (take,) = takes_in(talk.folder)
    one = exported(take, tmp_path / "one")
    for path in one[:3]:  # as libsndfile would have written it at another time
        assert path.read_bytes()[48:52] == b"PEAK"
        assert path.read_bytes()[60:64] == bytes(4)
    other = exported(take, tmp_path / "other")

    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a user's folders from others by itself")
def test_nobody_else_may_read_it(talk: Any, tmp_path: Path) -> None:
    (take,) = takes_in(talk.folder)
    (tmp_path / "old").mkdir(mode=0o755)
    os.chmod(tmp_path / "old", 0o755)
    paths = [*exported(take, tmp_path / "old"), *exported(take, tmp_path / "new" / "inner")]
    folders = [tmp_path / "old", tmp_path / "new", tmp_path / "new" / "inner"]

    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in paths}
    assert [0o755, 0o700, 0o700] == [stat.S_IMODE(path.stat().st_mode) for path in folders]


def test_a_link_is_not_followed(talk: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "microphone.wav").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(AudioFileError, match="is there already"):
        exported(takes_in(talk.folder)[0], tmp_path / "out")

    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("at", [1, 40])
def test_an_export_that_fails_leaves_nothing(
    at: int, talk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "mine").touch()
    written: list[int] = []

    def write(self: soundfile.SoundFile, samples: Any) -> None:
        written.append(len(samples))
        if len(written) % 100 == at:
            raise soundfile.SoundFileRuntimeError("System error.")

    monkeypatch.setattr(soundfile.SoundFile, "write", write)
    for folder in (tmp_path / "old", tmp_path / "new" / "inner"):
        written.clear()
        with pytest.raises(AudioFileError, match=r"cannot be written: System error\. Make room"):
            exported(takes_in(talk.folder)[0], folder)

    assert [tmp_path / "old", tmp_path / "old" / "mine"] == sorted(tmp_path.rglob("*"))


def silent(start: int, rate: int = 48_000) -> Frame:
    return Frame(np.zeros(rate // 100, np.float32), rate, start)


FAR = (
    Taken(Played(silent(0), 1e9, Position(1, 0, 48_000)), 1.0),
    Taken(Played(silent(0), -1e9, Position(1, 0, 48_000)), 1.0),
    Taken(Captured(silent(1 << 47), 1e9), 1.0),
    Cleaned(1 << 47, np.zeros(160, np.float32), -90.0, -90.0),
    Taken(Captured(silent(480), 1e9), 1e9),
)


@pytest.mark.parametrize("far", FAR, ids=lambda entry: type(getattr(entry, "item", entry)).__name__)
def test_nothing_lies_further_behind_the_microphone_than_its_longest_pause(far: Entry, tmp_path: Path) -> None:
    class Far(Take):
        def entries(self, kinds: Any = None) -> Any:
            yield Taken(Captured(silent(0), 1.0), 1.0)
            yield Cleaned(0, np.zeros(160, np.float32), -90.0, -90.0)
            yield far

    header = Header(started_utc_s=0.0, zero_s=0.0, package="", settings={})
    paths = exported(Far("far", header, ()), tmp_path)
    lengths = [soundfile.info(path).duration for path in paths if path.suffix == ".wav"]

    assert lengths
    assert max(lengths) < LONGEST_PAUSE_S + 0.1

"""The export: sounds that are aligned to the sample, and events that know their place in them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Captured
from discussion_helper.audio.resample import resample
from discussion_helper.errors import AudioFileError
from discussion_helper.recorder.entries import Taken
from discussion_helper.recorder.export import FILES, exported
from discussion_helper.recorder.take import takes_in
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

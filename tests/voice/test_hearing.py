"""What the audio thread makes of the microphone."""

from collections.abc import Iterator

import numpy as np
import pytest

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, Played
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnSegmenter, TurnStarted
from discussion_helper.voice.barge_in import OnsetRule
from discussion_helper.voice.hearing import Hearing
from discussion_helper.voice.notes import Level, Muted, Note, Onset, Turn

RATE = 48_000
ZERO_S = 1_000.0
"""When the first sample was there."""


class LoudIsVoice:
    """A detector for which whatever is loud is a voice."""

    rate = 16_000

    def __init__(self, frame_samples: int) -> None:
        self.frame_samples = frame_samples

    def probability(self, samples: Samples) -> float:
        return float(np.abs(samples).max() > 0.05)

    def reset(self) -> None: ...


class NoEcho:
    """Passes the microphone on, and notes when each block was there."""

    near_db = -20.0
    expected_db = -70.0

    def __init__(self) -> None:
        self.times: list[float] = []

    def feed(self, played: Played) -> None: ...

    def clean(self, near: Samples, at_s: float, start: int) -> Samples:
        self.times.append(at_s)
        return near

    def is_own_voice(self) -> bool:
        return False

    def leaks(self) -> bool:
        return False


def hearing_of(echo: NoEcho | None = None, rate: int = RATE) -> Hearing:
    tracker = ActivityTracker(gate=LoudIsVoice(160), judge=LoudIsVoice(512))
    segmenter = TurnSegmenter(tracker, SilenceEndpointer(silence_s=0.5, early_s=0.2))
    return Hearing(rate, segmenter=segmenter, echo=echo or NoEcho(), onset=OnsetRule(min_speech_s=0.16))


def sound(*pieces: tuple[float, float], rate: int = RATE) -> Samples:
    """(seconds, amplitude) of a 400 Hz tone, one after another."""
    parts = []
    for seconds, amplitude in pieces:
        parts.append(amplitude * np.sin(2 * np.pi * 400 * np.arange(round(seconds * rate)) / rate))
    return np.concatenate(parts).astype(np.float32)


def blocks(samples: Samples, *, rate: int = RATE, start: int = 0) -> Iterator[Captured]:
    size = rate // 100
    for at in range(0, len(samples) - size + 1, size):
        frame = Frame(samples[at : at + size].copy(), rate, start + at)
        yield Captured(frame, ZERO_S + frame.start_s)


def notes_of(hearing: Hearing, samples: Samples, **where: int) -> list[Note]:
    return [note for block in blocks(samples, **where) for note in hearing.captured(block)]


def turns_of(notes: list[Note]) -> list[Turn]:
    return [note for note in notes if isinstance(note, Turn)]


SPEECH = sound((1.0, 1e-3), (1.0, 0.5), (1.5, 1e-3))


def test_a_turn_is_told_with_its_times() -> None:
    turns = turns_of(notes_of(hearing_of(), SPEECH))
    ended = turns[-1]

    assert [TurnStarted, TurnPaused, TurnEnded] == [type(turn.event) for turn in turns]
    assert ZERO_S + 1.0 == pytest.approx(ended.started_at_s, abs=0.04)
    assert ZERO_S + 2.0 == pytest.approx(ended.voiced_until_s, abs=0.04)
    assert ZERO_S + 2.5 == pytest.approx(ended.decided_at_s, abs=0.06)


def test_enough_voice_is_an_onset_once_in_each_turn() -> None:
    notes = notes_of(hearing_of(), np.concatenate((SPEECH, SPEECH)))
    onsets = [note for note in notes if isinstance(note, Onset)]

    assert 2 == len(onsets)
    assert ZERO_S + 1.16 == pytest.approx(onsets[0].at_s, abs=0.05)


def test_a_short_noise_is_no_onset() -> None:
    notes = notes_of(hearing_of(), sound((1.0, 1e-3), (0.1, 0.5), (1.5, 1e-3)))

    assert not [note for note in notes if isinstance(note, Onset)]


def test_a_device_of_another_rate_is_heard_alike() -> None:
    rate = 44_100
    turns = turns_of(notes_of(hearing_of(rate=rate), sound((1.0, 1e-3), (1.0, 0.5), (1.5, 1e-3), rate=rate), rate=rate))

    assert ZERO_S + 1.0 == pytest.approx(turns[-1].started_at_s, abs=0.04)
    assert ZERO_S + 2.0 == pytest.approx(turns[-1].voiced_until_s, abs=0.04)


def test_lost_blocks_do_not_shift_what_comes_after_them() -> None:
    hearing = hearing_of()
    before = notes_of(hearing, sound((0.5, 1e-3)))
    after = notes_of(hearing, sound((0.5, 1e-3), (1.0, 0.5), (1.5, 1e-3)), start=round(0.75 * RATE))
    turns = turns_of(before + after)

    assert ZERO_S + 1.25 == pytest.approx(turns[-1].started_at_s, abs=0.04)
    assert ZERO_S + 2.25 == pytest.approx(turns[-1].voiced_until_s, abs=0.04)


def test_the_echo_path_gets_the_time_of_each_block() -> None:
    echo = NoEcho()
    notes_of(hearing_of(echo), sound((1.0, 0.5)))

    assert [ZERO_S + 0.01 * n for n in range(len(echo.times))] == pytest.approx(echo.times)
    assert len(echo.times) >= 95


def test_exact_zeros_for_two_seconds_are_told_once_and_their_end_too() -> None:
    hearing = hearing_of()
    notes = notes_of(hearing, np.concatenate((np.zeros(5 * RATE, np.float32), sound((1.0, 1e-4)))))

    assert [Muted(True), Muted(False)] == [note for note in notes if isinstance(note, Muted)]


def test_a_quiet_room_is_not_taken_for_a_muted_microphone() -> None:
    assert not [n for n in notes_of(hearing_of(), sound((5.0, 1e-4))) if isinstance(n, Muted)]


def test_the_level_is_told_ten_times_a_second() -> None:
    levels = [note.dbfs for note in notes_of(hearing_of(), sound((1.0, 0.1))) if isinstance(note, Level)]

    assert 10 == len(levels)
    assert [-23.0] * 10 == pytest.approx(levels, abs=0.1)


def test_a_turn_that_is_open_when_the_microphone_closes_ends() -> None:
    hearing = hearing_of()
    notes_of(hearing, sound((0.5, 1e-3), (1.0, 0.5)))

    assert [TurnEnded] == [type(turn.event) for turn in turns_of(hearing.finish())]


def test_a_recording_gives_the_same_decisions_every_time() -> None:
    first, second = (turns_of(notes_of(hearing_of(), SPEECH)) for _ in range(2))

    assert [(t.decided_at_s, t.started_at_s) for t in first] == [(t.decided_at_s, t.started_at_s) for t in second]

"""Which clips are said, in which order and how loud."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from discussion_helper.audio.analysis import voiced
from discussion_helper.audio.clips import Clip
from discussion_helper.bench import one_word
from discussion_helper.bench.barge_in_run import placed
from discussion_helper.bench.clips import barge_ins, load_all, noises, transcribed, turns
from discussion_helper.bench.no_speech import no_speech, sound_sources
from discussion_helper.bench.no_speech_run import with_speech
from discussion_helper.errors import AudioFileError

FOLDER = Path(__file__).parents[2] / "audio"


@pytest.fixture(scope="module")
def clips() -> list[Clip]:
    return load_all(FOLDER)


def test_turns_begin_with_the_demo_and_take_turns_of_speakers(clips: list[Clip]) -> None:
    found = transcribed(clips, "en")
    assert [clip.demo for clip in found[:6]] == [1, 2, 3, 4, 5, 6]
    speakers = {clip.speaker for clip in found}
    assert len({clip.speaker for clip in found[: len(speakers)]}) == len(speakers) >= 8
    assert all(1.0 <= clip.duration_s <= 12.0 and clip.language == "en" and clip.transcript for clip in found)


def test_a_second_round_is_said_at_another_level(clips: list[Clip]) -> None:
    count = len(transcribed(clips, "en"))
    said = turns(clips, "en", count + 2)
    assert len(said) == count + 2
    assert [one.name for one in said[count:]] == [one.name for one in said[:2]]
    assert said[count].level_dbfs == -20.0
    assert voiced(said[count].samples, 48_000).level_dbfs == pytest.approx(-20.0, abs=0.1)
    assert all(0 <= one.start < one.end <= len(one.samples) for one in said)


def test_barge_ins_are_short_and_at_three_levels(clips: list[Clip]) -> None:
    said = barge_ins(clips, "en", 18)
    assert len(said) == 18
    assert {one.level_dbfs for one in said} == {-18.0, -24.0, -30.0}
    assert all(one.duration_s <= 6.0 for one in said)


def test_three_rounds_of_barge_ins_say_each_clip_at_each_level(clips: list[Clip]) -> None:
    count = len({one.name for one in barge_ins(clips, "en", 100)})
    said = {(one.name, one.level_dbfs) for one in barge_ins(clips, "en", 3 * count)}
    assert 3 * count == len(said)


def test_each_clip_is_said_over_another_text_and_at_another_place_every_time(clips: list[Clip]) -> None:
    first = barge_ins(clips, "en", 100)[0].name
    over = [(text, offset_s) for saying, text, offset_s in placed(barge_ins(clips, "en", 100)) if saying.name == first]

    assert 5 < len(over) <= 15
    assert len(set(over)) == len(over)


def test_noises_hold_no_words_and_come_first(clips: list[Clip]) -> None:
    said = noises(clips, 22)
    assert [one.clip.kind for one in said[:4]] == ["noise"] * 4
    assert {one.clip.kind for one in said[4:]} == {"backchannel"}
    assert len(said) == 22
    assert not any(one.clip.transcript for one in said)


def test_a_language_that_nobody_speaks_is_named(clips: list[Clip]) -> None:
    with pytest.raises(AudioFileError, match=r"'xx'.*--clips"):
        transcribed(clips, "xx")


def test_where_nothing_can_be_said_it_is_refused_and_not_measured(clips: list[Clip]) -> None:
    turns_alone = [clip for clip in clips if clip.kind == "speech"]
    long = [clip for clip in turns_alone if clip.duration_s > 6.0]
    assert long
    with pytest.raises(AudioFileError, match=r"of 1 to 6 s with a transcript.*--clips"):
        barge_ins(long, "en", 3)
    with pytest.raises(AudioFileError, match=r'kind "noise" or "music".*--clips'):
        noises(turns_alone, 3)


def test_no_speech_is_not_measured_where_nobody_says_that_it_is(clips: list[Clip]) -> None:
    pieces = list(no_speech(sound_sources([]), seconds=60.0, seed=1))
    with pytest.raises(AudioFileError, match=r"of 1 to 8 s with a transcript.*--clips"):
        list(with_speech(pieces, [clip for clip in clips if clip.kind != "speech"]))


def test_recordings_in_which_no_word_stands_alone_are_refused(tmp_path: Path) -> None:
    for name in one_word._SINGLE:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        soundfile.write(tmp_path / name, np.full(16_000, 0.1, np.float32), 16_000)
    with pytest.raises(AudioFileError, match=r"No word stands alone.*--clips"):
        one_word.recorded_words(tmp_path)

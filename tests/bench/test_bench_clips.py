"""Which clips are said, in which order and how loud."""

from pathlib import Path

import pytest

from discussion_helper.audio.analysis import voiced
from discussion_helper.audio.clips import Clip
from discussion_helper.bench.clips import barge_ins, load_all, noises, transcribed, turns
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


def test_noises_hold_no_words_and_come_first(clips: list[Clip]) -> None:
    said = noises(clips, 22)
    assert [one.clip.kind for one in said[:4]] == ["noise"] * 4
    assert {one.clip.kind for one in said[4:]} == {"backchannel"}
    assert len(said) == 22
    assert not any(one.clip.transcript for one in said)


def test_a_language_that_nobody_speaks_is_named(clips: list[Clip]) -> None:
    with pytest.raises(AudioFileError, match=r"'xx'.*--clips"):
        transcribed(clips, "xx")

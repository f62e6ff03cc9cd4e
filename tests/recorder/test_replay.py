"""The replay: the same settings give the same decisions byte for byte, others show what changes."""

import shutil
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.inbox import Captured
from discussion_helper.errors import AudioFileError, SettingError
from discussion_helper.listening import hearing_with
from discussion_helper.recorder.differences import differences
from discussion_helper.recorder.entries import Taken
from discussion_helper.recorder.folder import segments_in
from discussion_helper.recorder.note_line import note_line
from discussion_helper.recorder.replay import WARM_S, Outcome, Replay
from discussion_helper.recorder.take import Take, takes_in
from discussion_helper.recorder.trials import NAMES, Heeded, heeded_by, tried
from discussion_helper.recorder.word_book import Reads
from discussion_helper.testing.replay import replayed
from discussion_helper.tuning import Tuning
from discussion_helper.types import Policy
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.notes import Decided, Ducked


def run(take: Take, *wishes: str, read: Reads | None = None) -> Outcome:
    heeded = tried(heeded_by(take.header), wishes)

    def hearing(rate: int, echo: Any) -> Any:
        return hearing_with(rate, echo, policy=heeded.policy, language=heeded.language, tuning=heeded.tuning)

    return Replay(take, hearing, EchoPath(), read=read).run()


def take_of(folder: Path) -> Take:
    (take,) = takes_in(folder)
    return take


def decided(outcome: Outcome) -> list[str]:
    return [heard.text for heard in outcome.replayed if heard.kind == "Decided"]


def test_the_same_settings_give_the_same_notes_byte_for_byte(talk: Any) -> None:
    outcome = run(take_of(talk.folder))

    assert [note_line(note) for note in talk.notes] == [heard.line for heard in outcome.replayed]
    assert outcome.same
    assert outcome.exact
    assert [] == outcome.failures
    assert outcome.echo_differs_s is None
    assert [] == differences(outcome, exact=True)
    assert "decided: interruption, words" in decided(outcome)
    assert 14.0 <= outcome.seconds <= 14.5


def test_a_recorded_minute_is_a_fixture(talk: Any) -> None:
    notes = replayed(talk.folder)

    assert [note_line(note) for note in talk.notes] == [note_line(note) for note in notes]
    assert {"interruption"} == {note.what for note in notes if isinstance(note, Decided) and note.why == "words"}
    assert any(isinstance(note, Ducked) for note in notes)


def test_without_words_to_wait_for_enough_voice_decides_and_sooner(talk: Any) -> None:
    outcome = run(take_of(talk.folder), "barge_in_min_words=0")
    rows = [row for row in differences(outcome, exact=False) if row.recorded and row.recorded.kind == "Decided"]

    assert "decided: interruption, words" == rows[0].recorded.text  # type: ignore[union-attr]
    assert "decided: interruption, voice" == rows[0].replayed.text  # type: ignore[union-attr]
    assert rows[0].replayed.at_s < rows[0].recorded.at_s  # type: ignore[union-attr]
    assert outcome.echo_differs_s is None


def test_a_longer_silence_ends_turns_later_and_changes_nothing_else(talk: Any) -> None:
    rows = differences(run(take_of(talk.folder), "endpoint.silence_s=0.8"), exact=False)
    ended = [row for row in rows if row.recorded and row.recorded.kind == "TurnEnded" and row.replayed]

    assert ended
    assert all(
        0.25 < row.replayed.at_s - row.recorded.at_s < 0.35  # type: ignore[union-attr]
        for row in ended
    )


def test_a_detector_that_never_hears_a_voice_takes_away_every_turn(talk: Any) -> None:
    outcome = run(take_of(talk.folder), "vad.threshold=0.999")

    assert any(heard.kind == "TurnStarted" for heard in outcome.recorded)
    assert not any(heard.kind == "TurnStarted" for heard in outcome.replayed)


def test_words_that_were_not_asked_for_are_not_known_and_a_recogniser_reads_them(tmp_path: Path, record: Any) -> None:
    record(tmp_path / "talk", seconds=7.0)
    take = take_of(tmp_path / "talk")
    wishes = "vad.threshold=0.97", "duck.over_db=3"  # another onset: none of the recorded stretches is near
    silent = run(take, *wishes)
    lengths: list[int] = []

    def read(samples: Any, voiced_s: float) -> Words:
        lengths.append(len(samples))
        return Words(text="stop", voiced_s=voiced_s)

    heard = run(take, *wishes, read=read)
    assert (silent.unknown_words > 0) is bool(lengths)
    assert 0 == heard.unknown_words
    assert not lengths or "decided: interruption, a stop word" in decided(heard)


def test_half_a_recording_gives_half_the_notes(talk: Any, tmp_path: Path) -> None:
    folder = shutil.copytree(talk.folder, tmp_path / "talk")
    first = segments_in(folder)[0].path
    for segment in segments_in(folder)[1:]:
        segment.path.unlink()
    data = first.read_bytes()
    for share in (0.35, 0.61, 0.87):
        first.write_bytes(data[: int(len(data) * share)])
        take = take_of(folder)
        outcome = run(take)

        assert outcome.same
        assert outcome.exact
        assert len(outcome.recorded) > 10


def test_a_recording_without_its_beginning_warms_up_and_then_decides_alike(tmp_path: Path, record: Any) -> None:
    talk = record(tmp_path / "talk", seconds=34.0)
    segments_in(talk.folder)[0].path.unlink()
    take = take_of(talk.folder)
    outcome = run(take)
    compared = [heard for heard in outcome.recorded if heard.decides and not heard.warming]

    assert not take.begins
    assert not outcome.exact
    assert [] == differences(outcome, exact=False)
    assert any(heard.kind == "Decided" for heard in compared)
    assert min(heard.at_s for heard in compared) > 10.0 + WARM_S


def test_a_hole_in_the_middle_changes_nothing_before_it_and_warms_up_behind_it(tmp_path: Path, record: Any) -> None:
    talk = record(tmp_path / "talk", seconds=34.0)
    segments_in(talk.folder)[1].path.unlink()
    outcome = run(take_of(talk.folder))

    assert not outcome.exact
    assert [] == [row for row in differences(outcome, exact=False) if row.at_s < 20.0 + WARM_S]
    assert [] == outcome.failures
    assert outcome.echo_differs_s is None
    assert [heard.kind for heard in outcome.replayed if heard.warming and heard.kind == "Decided"]
    assert any(heard.kind == "TurnEnded" for heard in outcome.replayed if not heard.warming and heard.at_s > 30.0)


def test_another_canceller_is_noticed(talk: Any) -> None:
    class Deaf(EchoPath):
        def clean(self, near: Any, at_s: float, start: int | None = None) -> Any:
            return super().clean(near, at_s, start) * 0.5

    take = take_of(talk.folder)
    outcome = Replay(take, lambda rate, echo: hearing_with(rate, echo, policy=Policy(), language="en"), Deaf()).run()

    assert outcome.echo_differs_s is not None
    assert outcome.echo_differs_s < 0.1


def test_microphones_that_come_and_go_are_replayed(tmp_path: Path, recorded_talk: Any, talk: Any) -> None:
    another = recorded_talk(tmp_path / "talk")
    taken = [entry for entry in takes_in(talk.folder)[0].entries() if isinstance(entry, Taken)]
    captured = [(entry.item, entry.now) for entry in taken if isinstance(entry.item, Captured)]
    for number, (item, now) in enumerate(captured):
        if number in (0, 600):
            another.open(now - 0.001)
        another.take(item, now)
        if number == 500:
            another.take(None, now + 0.02)
    another.close()

    assert run(take_of(another.folder)).same


# -- settings to try


def test_settings_to_try_take_the_place_of_the_recorded_ones() -> None:
    heeded = tried(
        Heeded(Policy()),
        (
            *("vad.threshold=0.2", "endpoint.silence_s=0.04", "duck.over_db=10", "language=de", "allow_barge_in=false"),
            *("barge_in.min_words=2", "barge_in_stop_words=halt, genug", "barge_in_min_words=3"),
        ),
    )

    assert Tuning(0.2, 0.2, endpoint_silence_s=0.04, endpoint_early_s=0.04, duck_over_db=10.0) == heeded.tuning
    assert "de" == heeded.language
    assert Policy(allow_barge_in=False, barge_in_min_words=3, barge_in_stop_words=("halt", "genug")) == heeded.policy


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        ("vad=1", rf"--set vad=1: there is no setting 'vad' to try\. Use NAME=VALUE with .*{list(NAMES)[-1]}"),
        ("vad.threshold", "--set vad.threshold: no value"),
        ("vad.threshold=loud", "--set vad.threshold=loud: 'loud' is not a number"),
        ("vad.threshold=2", "--set vad.threshold=2: vad.threshold: 2.0 is out of range"),
        ("allow_barge_in=maybe", "'maybe' is not true or false"),
        ("barge_in=maybe", "'maybe' is not true or false"),
        ("barge_in_grace_s=1", "--set barge_in_grace_s=1: barge_in_grace_s acts behind what is replayed"),
        ("barge_in_min_words=" + "9" * 5_000, "is not a whole number"),
        ("language=", "--set language=: language: '' is not a language code"),
        ("language=english", "--set language=english: language: 'english' is not a language code"),
        ("vad.release=0.9", "--set vad.release=0.9: vad.release: 0.9 is above vad.threshold"),
        ("barge_in_min_words=-1", "--set barge_in_min_words=-1: barge_in_min_words: -1 is out of range"),
        ("duck.over_db=99", "duck.over_db: 99.0 is out of range"),
        ("endpoint.max_turn_s=0.1", "endpoint.silence_s: 0.5 is not below endpoint.max_turn_s"),
    ],
)
def test_a_setting_that_cannot_be_tried_is_told(wish: str, says: str) -> None:
    with pytest.raises(SettingError, match=says):
        tried(Heeded(Policy()), [wish])


def test_settings_of_another_version_are_told(talk: Any) -> None:
    take = take_of(talk.folder)
    take.header.settings["tuning"]["unheard_of"] = 1
    with pytest.raises(AudioFileError, match=r"not those of this version .*unheard_of.* version 0\.1\.0"):
        heeded_by(take.header)


@pytest.mark.parametrize(
    "settings",
    [
        {"language": "../../etc/passwd"},
        {"language": ["x"]},
        {"policy": 5},
        {"policy": {"barge_in_min_words": 10**400}},
        {"tuning": {"vad.threshold": "x"}},
        {"tuning": {"vad.threshold": float("nan")}},
        {"tuning": [1]},
    ],
)
def test_settings_that_no_talk_can_have_are_told(settings: dict[str, Any], talk: Any) -> None:
    header = replace(take_of(talk.folder).header, settings=settings)
    with pytest.raises(AudioFileError, match="not those of this version"):
        heeded_by(header)


def test_the_order_of_the_wishes_does_not_matter() -> None:
    wishes = ["endpoint.silence_s=2", "endpoint.early_s=1", "endpoint.max_turn_s=3", "vad.release=0.1"]

    for order in permutations([*wishes, "vad.threshold=0.2"]):
        assert Tuning(0.2, 0.1, 2.0, 1.0, 3.0) == tried(Heeded(Policy()), order).tuning


def test_a_hearing_that_breaks_is_not_replayed_any_further(talk: Any) -> None:
    def hearing(rate: int, echo: Any) -> Any:
        raise SettingError("voice: too soft.", fix="Speak up.")

    outcome = Replay(take_of(talk.folder), hearing, EchoPath()).run()

    assert ["voice: too soft. Speak up."] == outcome.failures
    assert [] == outcome.recorded == outcome.replayed


def test_numbers_are_numbers() -> None:
    with pytest.raises(SettingError, match="silence_s: '1' is no number"):
        Tuning.from_mapping({"endpoint.silence_s": "1"})

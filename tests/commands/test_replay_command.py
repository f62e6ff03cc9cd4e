"""`discussion-helper replay` and `talk --record`: what they ask for, print and refuse."""

import json
import re
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from discussion_helper.app import Talk
from discussion_helper.cli import main
from discussion_helper.commands import talk as talk_command
from discussion_helper.commands.replay_names import meanings_of, names_and_meanings
from discussion_helper.errors import SettingError
from discussion_helper.events import Event
from discussion_helper.recorder.entries import Told
from discussion_helper.recorder.folder import segments_in
from discussion_helper.recorder.note_line import note_line
from discussion_helper.recorder.recorder import RecordTo
from discussion_helper.recorder.take import takes_in
from discussion_helper.recorder.talk_recording import recording_to
from discussion_helper.recorder.trials import NAMES, settings_for
from discussion_helper.session import Session
from discussion_helper.settings import Settings
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.testing.replay import replayed

SPEECH = Path(__file__).parents[2] / "audio" / "speech"


@pytest.fixture
def folder(short_talk: Path) -> Path:
    return short_talk


def printed(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> list[str]:
    assert code == main(["replay", *argv])
    return capsys.readouterr().out.splitlines()


def test_the_settings_of_the_talk_decide_as_they_did(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, last = printed(capsys, str(folder))

    assert f"Talk of {takes_in(folder)[0].began:%Y-%m-%d %H:%M:%S}, 4.0 s, 6 decisions." == first
    assert "6 decisions, all as recorded, byte for byte." == last


def test_every_decision_is_listed_with_the_time_of_day(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, str(folder), "--list")[1:-1]

    what = [" ".join(line.split()[1:3]) for line in lines]
    assert ["turn began", "user is", "pause after", "turn goes", "pause after", "turn ended,"] == what
    assert all(len("08:00:00.000") == len(line.split()[0]) for line in lines)


def test_a_list_is_there_for_programs_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = printed(capsys, str(folder), "--list", "--json")
    (take,) = json.loads(line)["takes"]

    assert "turn ended, 2.01 s of voice"[:10] == take["list"][-1]["what"][:10]
    assert take["decisions"] == len(take["list"]) == 6
    assert {"at_s", "kind", "what"} == set(take["list"][0])


@pytest.mark.parametrize("words", [["--set"], ["--set", "help"], ["{folder}", "--set"]])
def test_the_settings_to_try_are_listed(words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["replay", *(word.format(folder=folder) for word in words)])
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]

    assert not left.value.code
    assert "vad.threshold a number between 0 and 1 0.5" in lines
    assert "duck.over_db decibels from 0 to 60 8.0" in lines
    assert "barge_in true or false true" in lines
    assert "barge_in_stop_words phrases, with commas none" in lines
    assert "barge_in_min_speech_s seconds from 0.01 to 5 0.128" in lines
    assert "turn_policy open, push_to_talk, wake_word open" in lines
    assert "Seconds after which a turn is cut." in lines
    assert not any("grace" in line for line in lines)


def test_every_setting_to_try_has_a_meaning_and_a_range() -> None:
    lines = list(names_and_meanings())
    for name, kind in NAMES.items():
        at = next(at for at, line in enumerate(lines) if line.startswith(f"{name} "))
        assert lines[at + 1].startswith("    ")
        assert "number" not in kind or re.search(r"\b(from|between|above) \d", lines[at])
    assert all(len(line) <= 100 for line in lines)
    assert any("not above vad.threshold" in line for line in lines)


def test_a_setting_without_a_source_has_no_meaning() -> None:
    assert {} == meanings_of(type("Typed", (), {"__module__": "no_such_module"}))


def test_a_replay_whose_hearing_broke_is_an_error_and_no_table(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise SettingError("min_speech_s: 0 is no length.", fix="Use seconds above 0.")

    monkeypatch.setattr("discussion_helper.listening.hearing_with", broken)
    assert 1 == main(["replay", str(folder), "--set", "vad.threshold=0.6", "--list"])
    out, err = capsys.readouterr()

    assert "" == out
    said = "The replay failed: min_speech_s: 0 is no length. Use seconds above 0. Try other settings."
    assert f"discussion-helper: {said}\n" == err


def test_another_setting_shows_what_it_changes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, str(folder), "--set", "endpoint.silence_s=0.7", "--set", "endpoint.early_s=0.05")

    assert "recorded" in lines[1]
    assert "turn ended" in lines[2]
    assert lines[2].endswith("(+0.20 s)")
    assert "1 difference with these settings." == lines[3]


def test_a_program_gets_it_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = printed(capsys, str(folder), "--json", "--set", "vad.threshold=0.999")
    (take,) = json.loads(line)["takes"]

    assert (6, False, False) == (take["decisions"], take["same"], take["exact"])
    assert [None] * 6 == [row["replayed"] for row in take["differences"]]


def test_decisions_that_are_not_the_recorded_ones_are_a_failure(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = "discussion_helper.recorder.replay.note_line"
    monkeypatch.setattr(target, lambda note: note_line(note).replace(b'"own":false', b'"own":true'))
    lines = printed(capsys, str(folder), code=1)

    assert lines[-1].endswith("differences with the settings of the talk.")


def test_an_export_is_told_file_by_file(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = printed(capsys, str(folder), "--export", str(tmp_path / "out"))

    assert ["microphone.wav", "cancelled.wav", "events.jsonl", "notes.jsonl"] == [Path(line).name for line in lines]


def test_a_recording_that_broke_off_is_told(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    segment = segments_in(folder)[0].path
    (tmp_path / segment.name).write_bytes(segment.read_bytes()[:-9])
    lines = printed(capsys, str(tmp_path))

    assert "are no whole record and are left out: the recording was broken off there" in lines[1]
    assert lines[-1].endswith("byte for byte.")


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["gone"], '"gone" cannot be read: '),
        (["{folder}", "--set", "vad=1"], "there is no setting 'vad' to try. Use NAME=VALUE with language, "),
        (["{folder}", "--set", "vad.threshold=9"], "--set vad.threshold=9: vad.threshold: 9.0 is out of range"),
    ],
)
def test_what_cannot_be_replayed_is_told(
    argv: list[str], says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == main(["replay", *(word.format(folder=folder) for word in argv)])
    assert says in capsys.readouterr().err


# -- talk --record


@asynccontextmanager
async def fakes(settings: Settings, to: RecordTo | None) -> AsyncIterator[Talk]:
    session = Session(ScriptedListener(["Hello."]), EchoResponder(), SilentVoice(0.01), settings.policy)
    async with recording_to(to, settings_for(settings.policy, settings.language)) as recording:
        try:
            if recording is not None:
                recording.follow(session)
            yield Talk(session, "a microphone", "a loudspeaker", "an echo", None, recording=recording)
        finally:
            await session.stop()


def hold(tmp_path: Path, opener: Any) -> int:
    import argparse

    parser = argparse.ArgumentParser()
    talk_command.add_parser(parser.add_subparsers())
    options = ("--microphone", "fake", "--llm", "none@http://localhost")
    return talk_command.hold_talk(parser.parse_args(["talk", *options]), opener)


def test_a_talk_says_where_it_records_and_its_events_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = RecordTo(tmp_path / "talk", 5.0)
    assert 0 == hold(tmp_path, lambda settings: fakes(settings, to))
    (take,) = takes_in(to.folder)
    kinds = [entry.event["kind"] for entry in take.entries() if isinstance(entry, Told)]

    told = capsys.readouterr().err
    assert f"All that is heard and said is recorded in {to.folder}; its last 5 minutes are kept." in told
    assert ["floor", "utterance"] == [kind for kind in kinds if kind in ("floor", "utterance")][:2]
    assert "ended" == kinds[-1]
    assert "recorder" not in {thread.name for thread in threading.enumerate()}


def test_a_talk_that_is_not_recorded_says_nothing_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == hold(tmp_path, lambda settings: fakes(settings, None))
    assert "recorded in" not in capsys.readouterr().err


def test_a_recording_that_ends_is_told_once_and_the_talk_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from discussion_helper.recorder.segments import SegmentWriter

    def full(self: SegmentWriter) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SegmentWriter, "flush", full)

    @asynccontextmanager
    async def opened(settings: Settings) -> AsyncIterator[Talk]:
        async with fakes(settings, RecordTo(tmp_path / "talk")) as talk:
            assert talk.recording is not None
            talk.recording.recorder.event(Event("level", 0.0, {"dbfs": -50.0}))
            with anyio.fail_after(5.0):
                await talk.recording.trouble()
            yield talk

    assert 0 == hold(tmp_path, opened)
    told = capsys.readouterr().err
    assert 1 == told.count("has ended: No space left on device.")
    assert "Answers: 1" in told


@pytest.mark.anyio
async def test_a_limit_without_a_recording_is_refused() -> None:
    import argparse

    from discussion_helper.commands.talk_record import add_recording, record_to

    parser = argparse.ArgumentParser()
    add_recording(parser)
    assert record_to(parser.parse_args([])) is None
    assert RecordTo(Path("x"), 3.0) == record_to(parser.parse_args(["--record", "x", "--record-limit", "3"]))
    with pytest.raises(SettingError, match="record_limit: nothing is recorded"):
        record_to(parser.parse_args(["--record-limit", "3"]))


@pytest.mark.models
def test_a_real_talk_is_replayed_byte_for_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clip = SPEECH / "asterisk_en_agent-incorrect.wav"
    began = time.monotonic()
    argv = ["talk", "--input", str(clip), "--output", str(tmp_path / "answer.wav"), "--record", str(tmp_path / "talk")]
    assert 0 == main([*argv, "--max-sentences", "1", "--json"])
    document = json.loads(capsys.readouterr().out)
    took_s = time.monotonic() - began
    lines = printed(capsys, str(tmp_path / "talk"))

    assert "user" == document["utterances"][0]["speaker"]
    assert lines[-1].endswith(" decisions, all as recorded, byte for byte.")
    assert 0.0 < float(lines[0].split()[4]) < took_s
    assert replayed(tmp_path / "talk")
    assert main(["replay", str(tmp_path / "talk"), "--set", "vad.threshold=0.97", "--recognise"]) == 0

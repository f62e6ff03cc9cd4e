"""What a talk knows of its speaker's pauses, and whether it judges how turns sound."""

import argparse
from pathlib import Path
from typing import Any

import pytest

from discussion_helper import app
from discussion_helper.commands.option import PATIENT, chosen_parts
from discussion_helper.commands.talk_options import add_options
from discussion_helper.errors import ModelCorrupt, SettingError
from discussion_helper.models import load_manifest
from discussion_helper.settings import Settings
from discussion_helper.turn.smart_turn import SMART_TURN_MODEL
from discussion_helper.voice.pause_file import PauseFile

PRIVATE: Any = app.__dict__


def given(*words: str) -> Settings:
    parser = argparse.ArgumentParser()
    add_options(parser)
    return chosen_parts(parser.parse_args([*words]))


@pytest.mark.anyio
async def test_what_is_learned_in_a_talk_is_known_in_the_next(tmp_path: Path) -> None:
    settings = Settings(pause_file=tmp_path / "pauses.json")
    pauses = PRIVATE["_pauses"](settings)
    async with PRIVATE["_kept"](pauses, settings):
        pauses.learn(0.7)
        pauses.learn(1.2)

    assert PRIVATE["_pauses"](settings).pauses_s == (0.7, 1.2)


@pytest.mark.anyio
@pytest.mark.parametrize("talk", [{"learn_pauses": False}, {"inputs": (Path("clip.wav"),)}, {"pause_file": None}])
async def test_without_learning_and_for_recordings_nothing_is_read_or_kept(tmp_path: Path, talk: Any) -> None:
    PauseFile(tmp_path / "pauses.json").write((1.8,))
    settings = Settings(**{"pause_file": tmp_path / "pauses.json", **talk})
    pauses = PRIVATE["_pauses"](settings)
    async with PRIVATE["_kept"](pauses, settings):
        if pauses is not None:
            pauses.learn(0.7)

    assert pauses is None or pauses.pauses_s == (0.7,)
    assert PauseFile(tmp_path / "pauses.json").read() == (1.8,)


@pytest.mark.anyio
async def test_a_file_that_cannot_be_written_is_logged_and_the_talk_ends_well(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(pause_file=tmp_path / "file" / "pauses.json")
    pauses = PRIVATE["_pauses"](settings)
    (tmp_path / "file").write_text("no folder")
    async with PRIVATE["_kept"](pauses, settings):
        pauses.learn(0.7)

    assert "learn_pauses = false" in caplog.text


def test_a_patient_talk_waits_longer_and_the_command_line_keeps_what_it_learns() -> None:
    assert given("--patient").tuning.endpoint_patient == PATIENT
    assert given().tuning.endpoint_patient == 1.0
    assert given().pause_file is not None
    assert given().learn_pauses


def test_learning_is_true_or_false() -> None:
    with pytest.raises(SettingError, match="learn_pauses"):
        Settings(learn_pauses="yes")  # type: ignore[arg-type]


def test_a_talk_does_without_the_model_but_not_with_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    assert PRIVATE["_scorer"]() is None

    model = load_manifest().model(SMART_TURN_MODEL)
    (tmp_path / model.name).mkdir()
    (tmp_path / model.name / model.files[0].path).write_bytes(b"\0" * model.size)
    with pytest.raises(ModelCorrupt, match=SMART_TURN_MODEL):
        PRIVATE["_scorer"]()

"""The doctor."""

import json
from pathlib import Path

import pytest

from discussion_helper import doctor
from discussion_helper.cli import main
from discussion_helper.doctor import Finding

QUICK = ("--no-sound", "--no-speed")


@pytest.fixture(autouse=True)
def no_settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_CONFIG", str(tmp_path / "settings.toml"))


def findings(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, dict[str, object]]]:
    code = main(["doctor", "--json", *QUICK, *options])
    return code, {finding["part"]: finding for finding in json.loads(capsys.readouterr().out)["parts"]}


def test_a_missing_model_is_told_with_the_command_that_brings_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    code, found = findings(capsys)

    assert 1 == code
    assert found["recogniser"]["ok"] is False
    assert "models pull tiny.en" in str(found["recogniser"]["fix"])


def test_parts_that_need_no_model_can_run(capsys: pytest.CaptureFixture[str]) -> None:
    _, found = findings(capsys)

    for part in ("python", "echo canceller", "voice activity", "voice judge", "end of turns", "disk"):
        assert found[part]["ok"], found[part]


def test_an_unknown_model_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    _, found = findings(capsys, "--stt", "nonsense")

    assert found["recogniser"]["ok"] is False
    assert "nonsense" in str(found["recogniser"]["found"])


def test_an_endpoint_that_nobody_answers_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    _, found = findings(capsys, "--llm", "model@http://127.0.0.1:9/v1")

    assert found["language model"]["ok"] is False
    assert found["language model"]["fix"]


def test_a_device_that_does_not_exist_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    _, found = findings(capsys, "--device", "no such device")

    assert found["microphone"]["ok"] is False
    assert found["microphone"]["fix"]


def test_a_folder_for_models_that_cannot_be_written_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "models", Path("/proc/models")):
        monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(folder))
        _, found = findings(capsys)

        assert found["disk"]["ok"] is False
        assert "DISCUSSION_HELPER_MODELS" in str(found["disk"]["fix"])


@pytest.mark.models
def test_a_folder_that_cannot_be_written_will_do_where_the_models_are_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    _, found = findings(capsys)

    assert found["disk"]["ok"], found["disk"]
    assert "cannot be written" in str(found["disk"]["found"])


def all_but(*wrong: str) -> list[Finding]:
    return [Finding(part, part not in wrong, "found") for part in ("microphone", "loudspeaker", "recogniser", "disk")]


@pytest.mark.parametrize(
    ("wrong", "device", "code", "line"),
    [
        ([], None, 0, "You can talk here: discussion-helper talk"),
        (
            ["microphone", "loudspeaker"],
            None,
            0,
            "You can talk with recordings: discussion-helper talk --input FILE (no microphone, no loudspeaker)",
        ),
        (
            ["loudspeaker"],
            None,
            0,
            "You can talk with recordings: discussion-helper talk --input FILE (no loudspeaker)",
        ),
        (["microphone"], "USB", 1, "You cannot talk here before this is put right: microphone."),
        (
            ["microphone", "recogniser", "disk"],
            None,
            1,
            "You cannot talk here before this is put right: microphone, recogniser, disk.",
        ),
    ],
)
def test_the_last_line_says_whether_and_how_a_talk_can_be_held(
    wrong: list[str],
    device: str | None,
    code: int,
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "examine", lambda settings: all_but(*wrong))

    assert code == main(["doctor", *QUICK, *(["--device", device] if device else [])])
    assert line == capsys.readouterr().out.splitlines()[-1]


def test_the_text_has_a_line_for_each_part(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", *QUICK])
    lines = capsys.readouterr().out.splitlines()

    assert 11 == sum(line.startswith(("ok", "NO")) for line in lines)

"""E9: another version of the neural detector, which moves all probabilities, is no reason to cut people off."""

from collections.abc import Callable
from pathlib import Path

import pytest

from discussion_helper.audio.echo import EchoPath
from discussion_helper.doctor import examine
from discussion_helper.errors import ModelError, SettingError
from discussion_helper.listening import check_wake_of, hearing_with, judge_for
from discussion_helper.models import Store, load_manifest
from discussion_helper.policy import Policy
from discussion_helper.settings import Settings
from discussion_helper.tuning import Tuning
from discussion_helper.vad import silero
from discussion_helper.vad.wake_word import WakeWordDetector


@pytest.fixture
def another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """The same network under another hash."""
    file = tmp_path / "silero.onnx"
    file.write_bytes(silero.silero_path().read_bytes().replace(b"pytorch", b"PyTorch", 1))
    return lambda: monkeypatch.setattr(silero, "silero_path", lambda: file)


def test_e9_an_unknown_detector_is_refused_with_the_usual_thresholds(another_version: Callable[[], None]) -> None:
    assert judge_for(Tuning()).tuned
    another_version()
    with pytest.raises(ModelError, match=r"not the version .* faster-whisper==1\.2\.1, or set vad\.threshold"):
        judge_for(Tuning())


@pytest.mark.parametrize("tuning", [Tuning(vad_threshold=0.6), Tuning(vad_release=0.3)])
def test_e9_who_chooses_thresholds_for_it_has_it(another_version: Callable[[], None], tuning: Tuning) -> None:
    another_version()
    assert not judge_for(tuning).tuned


def test_e9_the_doctor_names_it(another_version: Callable[[], None]) -> None:
    another_version()
    (found,) = [finding for finding in examine(Settings()) if finding.part == "voice judge"]
    assert not found.ok
    assert "vad.threshold" in found.fix


def heard_for(word: str) -> Policy:
    return Policy(turn_policy="wake_word", wake_word=word)


@pytest.mark.models
def test_a_file_that_is_no_wake_word_is_told_by_its_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "word.onnx"
    file.write_bytes(b"no network")
    told = rf"wake_word: .*{file.name} is no wake word's network"
    with pytest.raises(SettingError, match=told):
        hearing_with(48_000, EchoPath(), policy=heard_for(str(file)), language="en")
    with pytest.raises(SettingError, match=told):
        check_wake_of(heard_for(str(file)))
    check_wake_of(Policy(wake_word=str(file)))

    word = Store().path_of(load_manifest().model("hey_jarvis")) / "hey_jarvis_v0.1.onnx"
    check_wake_of(heard_for(str(word)))
    check_wake_of(heard_for("okay_nabu"))
    monkeypatch.setattr(WakeWordDetector, "probability", lambda *_: 0.9)  # it takes silence for the word
    with pytest.raises(SettingError, match=r"wake_word: .*hey_jarvis_v0\.1\.onnx is no wake word's network"):
        check_wake_of(heard_for(str(word)))
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))  # the others can be fetched while it is served
    check_wake_of(heard_for(str(word)))

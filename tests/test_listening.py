"""E9: another version of the neural detector, which moves all probabilities, is no reason to cut people off."""

from collections.abc import Callable
from pathlib import Path

import pytest

from discussion_helper.doctor import examine
from discussion_helper.errors import ModelError
from discussion_helper.listening import judge_for
from discussion_helper.settings import Settings
from discussion_helper.tuning import Tuning
from discussion_helper.vad import silero


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

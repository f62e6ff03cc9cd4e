"""Smart Turn on recorded people: finished sentences, and the same ones as far as a pause in the middle."""

from pathlib import Path

import numpy as np
import pytest

from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.errors import ModelCorrupt
from discussion_helper.models import Store, load_manifest
from discussion_helper.turn.smart_turn import SMART_TURN_MODEL, SmartTurn

pytestmark = pytest.mark.models

RATE = 16_000
SPEECH = Path(__file__).parents[2] / "audio" / "speech"
TOLERANCE = 0.03
"""Of a score on another processor; near 0 and 1, where these are, rounding moves little."""


@pytest.fixture(scope="module")
def judge() -> SmartTurn:
    return SmartTurn(Store().path_of(load_manifest().model(SMART_TURN_MODEL)))


def heard(clip: str, until_s: float | None = None) -> Samples:
    """A clip up to a moment, with 0.2 s of silence behind its end."""
    samples = load(SPEECH / clip, RATE).samples
    if until_s is not None:
        return samples[: round(until_s * RATE)]
    return np.concatenate((samples, np.zeros(RATE // 5, np.float32)))


@pytest.mark.parametrize(
    ("clip", "until_s", "score"),
    [
        ("librivox_0870_sense.wav", None, 0.988),
        ("jfk.wav", 3.96, 0.006),
        ("jfk.wav", 4.53, 0.018),
        ("jfk.wav", 7.80, 0.028),
        ("mfa_acoustic_corpus.wav", 17.43, 0.006),
        ("mfa_acoustic_corpus.wav", 12.08, 0.033),
        ("cmu_arctic_a0009.wav", None, 0.990),
        ("sphinx_goforward.wav", None, 0.988),
        ("asterisk_fr_agent-loginok.wav", None, 0.989),
        ("asterisk_fr_vm-onefor-full.wav", None, 0.064),
    ],
)
def test_golden_scores(judge: SmartTurn, clip: str, until_s: float | None, score: float) -> None:
    assert judge.score(heard(clip, until_s)) == pytest.approx(score, abs=TOLERANCE)


def test_the_features_are_those_the_model_was_published_with(judge: SmartTurn) -> None:
    """The last 8 s, zeros in front, of mean 0 and variance 1, as Whisper's logarithmic spectrum of 8 decades."""
    tone = np.sin(2 * np.pi * 1_000.0 * np.arange(3 * RATE) / RATE).astype(np.float32)
    features = judge.features(0.01 * tone)

    assert features.shape == (80, 800)
    assert features.dtype == np.float32
    assert features.max() - features.min() == pytest.approx(2.0, abs=1e-4)
    assert np.allclose(features[:, :480], features.min())
    assert np.allclose(judge.features(0.5 * tone), features, atol=0.02)
    loudest = int(np.argmax(features[:, 600]))
    assert 24 <= loudest <= 28  # 1 kHz on the mel scale of 80 bands up to 8 kHz
    long = np.concatenate((np.ones(RATE, np.float32), np.tile(tone, 3)[: 8 * RATE]))
    assert np.array_equal(judge.features(long), judge.features(long[-8 * RATE :]))


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "smart-turn-v3.2-cpu.onnx").write_bytes(b"no model")

    with pytest.raises(ModelCorrupt, match="damaged or of an unknown kind"):
        SmartTurn(tmp_path)


def test_another_file_beside_the_model_is_let_be(tmp_path: Path) -> None:
    folder = Store().path_of(load_manifest().model(SMART_TURN_MODEL))
    (tmp_path / f"{SMART_TURN_MODEL}-cpu.onnx").write_bytes(next(folder.glob("*.onnx")).read_bytes())
    (tmp_path / "another.onnx").write_bytes(b"no network")
    assert SmartTurn(tmp_path).score(heard("sphinx_goforward.wav")) > 0.9

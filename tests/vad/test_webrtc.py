"""The eager gate."""

from pathlib import Path

import numpy as np
import pytest

from discussion_helper.audio.files import load
from discussion_helper.errors import SettingError
from discussion_helper.vad.webrtc import WebRtcDetector

SPEECH = Path(__file__).parents[2] / "audio" / "speech"


def answers(detector: WebRtcDetector, name: str) -> list[float]:
    samples = load(SPEECH / name, 16_000).samples
    size = detector.frame_samples
    return [detector.probability(samples[at : at + size]) for at in range(0, len(samples) - size + 1, size)]


def test_it_hears_a_voice_and_hardly_the_pause_before_it() -> None:
    found = answers(WebRtcDetector(), "sphinx_goforward.wav")

    assert set(found) == {0.0, 1.0}
    assert sum(found[:40]) < 8
    assert sum(found[60:200]) > 100


def test_a_stricter_mode_hears_less() -> None:
    eager, strict = (sum(answers(WebRtcDetector(mode=mode), "sphinx_goforward.wav")) for mode in (0, 3))

    assert eager > strict > 0


def test_after_a_reset_it_gives_the_same_answers_again() -> None:
    detector = WebRtcDetector(mode=2)
    first = answers(detector, "praatio_bobby.wav")
    detector.reset()

    assert answers(detector, "praatio_bobby.wav") == first


def test_too_loud_samples_are_clipped_and_not_wrapped() -> None:
    tone = np.sin(2 * np.pi * 200 * np.arange(160) / 16_000).astype(np.float32)

    assert WebRtcDetector(mode=0).probability(tone * 4) == WebRtcDetector(mode=0).probability(np.clip(tone * 4, -1, 1))


def test_the_wrong_number_of_samples_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 160 samples, got 512"):
        WebRtcDetector().probability(np.zeros(512, np.float32))


@pytest.mark.parametrize("mode", [-1, 4])
def test_an_unknown_mode_is_refused(mode: int) -> None:
    with pytest.raises(SettingError, match=f"no mode {mode}"):
        WebRtcDetector(mode=mode)

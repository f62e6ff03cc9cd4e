"""The wake word's detector, with the real networks."""

import sys
from functools import partial
from pathlib import Path

import anyio
import numpy as np
import pytest

from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.resample import resample
from discussion_helper.errors import ModelCorrupt, ModelError, ModelMissing
from discussion_helper.models import Store, load_manifest
from discussion_helper.tts.piper import PiperSynthesiser
from discussion_helper.vad.wake_word import WakeWordDetector, check_wake_word

AUDIO = Path(__file__).parents[2] / "audio"
CLIPS = ("speech", "noise", "backchannel")


def folder(name: str) -> Path:
    return Store().path_of(load_manifest().model(name))


def highest(detector: WakeWordDetector, samples: Samples) -> float:
    detector.reset()
    size = detector.frame_samples
    return max(detector.probability(samples[at : at + size]) for at in range(0, len(samples) - size + 1, size))


@pytest.mark.models
@pytest.mark.parametrize(
    ("name", "word"), [("okay_nabu", "Okay Nabu."), pytest.param("hey_jarvis", "Hey Jarvis.", marks=pytest.mark.slow)]
)
def test_it_hears_its_word_and_nothing_else(name: str, word: str) -> None:
    """The word is spoken by the project's own voice."""
    detector, voice = WakeWordDetector(folder(name)), PiperSynthesiser(folder("joe-medium"), steady=True)

    def spoken(text: str) -> Samples:
        speech = anyio.run(voice.synthesise, text)
        lead = np.zeros(16_000, np.float32)
        return np.concatenate((lead, resample(speech.samples, speech.rate, 16_000), lead))

    assert highest(detector, spoken(word)) > 0.5
    for text in ("Okay, now blue is a colour.", "Hey, Jarrold was here.", "What is the capital of France?"):
        assert highest(detector, spoken(text)) < 0.5
    files = [file for kind in CLIPS for file in sorted((AUDIO / kind).glob("*.*"))[:3]]
    assert max(highest(detector, load(file, 16_000).samples) for file in files) < 0.5


@pytest.mark.models
def test_files_that_are_missing_or_wrong_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"lacks .*melspectrogram"):
        WakeWordDetector(tmp_path)
    for file in folder("okay_nabu").glob("*.*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "okay_nabu.tflite").write_bytes(b"no network")
    with pytest.raises(ModelCorrupt, match="damaged"):
        WakeWordDetector(tmp_path)
    (tmp_path / "okay_nabu.tflite").unlink()
    with pytest.raises(ModelMissing, match="0 wake words"):
        WakeWordDetector(tmp_path)


@pytest.mark.models
@pytest.mark.parametrize("file", ["okay_nabu.tflite", pytest.param("hey_jarvis_v0.1.onnx", marks=pytest.mark.slow)])
def test_the_words_network_may_be_a_file_of_ones_own(file: str, tmp_path: Path) -> None:
    own = tmp_path / f"my word{Path(file).suffix.upper()}"
    own.write_bytes((folder("okay_nabu" if "nabu" in file else "hey_jarvis") / file).read_bytes())
    voice = PiperSynthesiser(folder("joe-medium"), steady=True)
    said = "Okay Nabu." if "nabu" in file else "Hey Jarvis."
    speech = anyio.run(voice.synthesise, said)
    anyio.run(voice.aclose)
    lead = np.zeros(16_000, np.float32)
    word = np.concatenate((lead, resample(speech.samples, speech.rate, 16_000), lead))

    detector = WakeWordDetector(folder("okay_nabu"), own=own)

    assert highest(detector, word) > 0.5
    assert highest(detector, load(AUDIO / "speech" / "sphinx_goforward.wav", 16_000).samples) < 0.5


@pytest.mark.models
@pytest.mark.parametrize("suffix", [".onnx", ".tflite"])
def test_a_file_that_is_none_is_named_with_what_it_should_be(suffix: str, tmp_path: Path) -> None:
    other = tmp_path / f"other{suffix}"
    contents = [b"no network"]
    if suffix == ".onnx":
        contents.append((folder("okay_nabu") / "embedding_model.onnx").read_bytes())  # takes something else
    for content in contents:
        other.write_bytes(content)
        for look in (partial(WakeWordDetector, folder("okay_nabu"), own=other), partial(check_wake_word, other)):
            with pytest.raises(ModelCorrupt, match=rf"other\{suffix} is no wake word's network") as refused:
                look()
            assert "openWakeWord" in refused.value.fix


@pytest.mark.models
def test_a_words_own_network_is_known_without_the_others() -> None:
    check_wake_word(folder("okay_nabu") / "okay_nabu.tflite")
    check_wake_word(folder("hey_jarvis") / "hey_jarvis_v0.1.onnx")


@pytest.mark.models
def test_without_its_runtime_the_fix_installs_that_and_not_a_package_of_this_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)

    with pytest.raises(ModelError, match=r"okay_nabu needs LiteRT .* Run: pip install 'ai-edge-litert"):
        WakeWordDetector(folder("okay_nabu"))


@pytest.mark.models
def test_a_step_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 1280 samples, got 160"):
        WakeWordDetector(folder("okay_nabu")).probability(np.zeros(160, np.float32))

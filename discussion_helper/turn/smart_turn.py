"""Smart Turn v3.2: a small Whisper encoder that was trained to hear whether a turn is complete, in 23 languages."""

from pathlib import Path

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import ModelCorrupt
from discussion_helper.stt.mel import LogMel
from discussion_helper.vad.network import small_network

__all__ = ["SMART_TURN_MODEL", "SmartTurn"]

SMART_TURN_MODEL = "smart-turn-v3.2"
"""Its name in the manifest, whose hash decides which file is loaded: another version would want other thresholds."""
_RATE = 16_000
_SAMPLES = 8 * _RATE
"""What the model sees; zeros stand before what is shorter."""
_MELS, _FRAMES = 80, _SAMPLES // 160
_LEAST_VARIANCE = 1e-7
"""As in Whisper's feature extractor, where it normalises."""


class SmartTurn:
    """A `Prosody`, on one core. `score` takes 45 ms there, of which the features are a third.

    The features are those that the model was published with: the last 8 s, zeros before them, all of it brought to a
    mean of 0 and a variance of 1, and then Whisper's logarithmic mel spectrum of 80 bands and 800 frames.
    """

    def __init__(self, folder: Path) -> None:
        """`folder`: of the model in the store, verified there. Raises ModelCorrupt."""
        found = sorted(folder.glob("*.onnx"), key=lambda file: (not file.stem.startswith(SMART_TURN_MODEL), file.name))
        file = found[0] if found else folder  # beside it there may be another one that somebody tries
        self._mel = LogMel(_MELS, padding=0)
        try:
            self._session = small_network(file.read_bytes())
            self._input = self._session.get_inputs()[0].name
            self.score(np.zeros(_RATE, np.float32))
        except Exception as error:  # onnxruntime's errors share no base class
            fix = f"Run: discussion-helper models pull {SMART_TURN_MODEL}"
            raise ModelCorrupt(f"The turn model {file} is damaged or of an unknown kind.", fix=fix) from error

    def score(self, samples: Samples) -> float:
        """Probability that the speaker has finished; samples at 16 kHz, of which the last 8 s count."""
        [output] = self._session.run(None, {self._input: self.features(samples)[None]})
        return float(output.flat[0])

    def features(self, samples: Samples) -> Samples:
        """What the model sees of them: shape (80, 800)."""
        window = np.zeros(_SAMPLES, np.float32)
        last = samples[-_SAMPLES:]
        window[_SAMPLES - len(last) :] = last
        window = (window - window.mean()) / np.sqrt(window.var() + _LEAST_VARIANCE)
        features: Samples = self._mel(window.astype(np.float32))[:, :_FRAMES]
        return np.ascontiguousarray(features, np.float32)

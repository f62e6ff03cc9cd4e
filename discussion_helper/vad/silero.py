"""The judge: the neural detector Silero VAD, as streaming ONNX."""

from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import ModelCorrupt, ModelMissing
from discussion_helper.vad.network import small_network

__all__ = ["SileroDetector", "silero_path"]

_TUNED_SHA256 = "4cbf549b8326f60f80f2536d9eefeb450a9abe83365a098031c89719f1be17d2"
"""`silero_vad_v6.onnx` of faster-whisper 1.2.1; the thresholds in `turn` were measured with it."""

_CONTEXT = 64
"""Samples of the frame before that the model sees again."""

_NAMES = "input", "h", "c"
"""The model's inputs: (1, 576) samples and its memory, twice (1, 1, 128)."""


def silero_path() -> Path:
    """Where faster-whisper keeps its copy. Raises ModelMissing when there is none."""
    spec = find_spec("faster_whisper")
    found = Path(spec.origin).parent / "assets" / "silero_vad_v6.onnx" if spec and spec.origin else None
    if found is None or not found.is_file():
        what = "The voice detector silero_vad_v6.onnx is not installed."
        raise ModelMissing(what, fix="Run: pip install faster-whisper")
    return found


def _corrupt(file: Path) -> ModelCorrupt:
    fix = "Run: pip install --force-reinstall faster-whisper"
    return ModelCorrupt(f"The voice detector {file} is damaged or of an unknown kind.", fix=fix)


class SileroDetector:
    """Voice probability for every 32 ms at 16 kHz, in about 100 µs on one core, without idle threads.

    One instance per stream: it remembers. `tuned` is False when the file is not the one that the thresholds were
    measured with (another version of faster-whisper): a talk refuses it with these (`listening.judge_for`).
    Raises ModelMissing, or ModelCorrupt when the file cannot be loaded or does not call silence silence.
    """

    rate = 16_000
    frame_samples = 512
    _memory: list[Samples]

    def __init__(self, path: Path | None = None) -> None:
        file = path or silero_path()
        if not file.is_file():
            raise ModelMissing(f"The voice detector {file} does not exist.", fix="Correct the path, or leave it out.")
        content = file.read_bytes()
        self.tuned = sha256(content).hexdigest() == _TUNED_SHA256
        try:
            self._session = small_network(content)
            self.reset()
            silent = self.probability(np.zeros(self.frame_samples, np.float32))
        except Exception as error:  # onnxruntime's errors share no base class
            raise _corrupt(file) from error
        if not silent < 0.1:
            raise _corrupt(file)
        self.reset()

    def probability(self, samples: Samples) -> float:
        """Of the next 512 samples of the stream. Raises ValueError for another number of samples."""
        if len(samples) != self.frame_samples:
            raise ValueError(f"expected {self.frame_samples} samples, got {len(samples)}")
        self._input[0, :_CONTEXT] = self._input[0, -_CONTEXT:]
        self._input[0, _CONTEXT:] = samples
        output, *self._memory = self._session.run(None, dict(zip(_NAMES, [self._input, *self._memory], strict=True)))
        return float(output.flat[0])

    def reset(self) -> None:
        """Forget the stream so far."""
        self._input = np.zeros((1, _CONTEXT + self.frame_samples), np.float32)
        self._memory = [np.zeros((1, 1, 128), np.float32) for _ in "hc"]

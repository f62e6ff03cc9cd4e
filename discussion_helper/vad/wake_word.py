"""The wake word's detector: openWakeWord's networks, on onnxruntime and LiteRT."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import ModelCorrupt, ModelError, ModelMissing
from discussion_helper.regular_file import regular_bytes
from discussion_helper.vad.network import small_network

__all__ = ["FIX_RUNTIME", "WakeWordDetector", "check_wake_word"]

FIX_RUNTIME = "Run: pip install 'ai-edge-litert>=2.1'"
"""Not this package with its extra: the one of its name on the package index is another."""
_FEATURES = "melspectrogram.onnx", "embedding_model.onnx"
_BEFORE = 480
"""Samples of the step before that the first network sees again: three of its hops of 10 ms."""
_BANDS, _ROWS, _NEW_ROWS = 32, 76, 8
"""Of the spectrogram: bands, rows that the second network sees, and those that a step of 80 ms adds."""
_VALUES, _STEPS = 96, 16
"""That the second network gives for each step, and the steps that the word's own network sees: 1.28 s."""

_Scores = Callable[[NDArray[np.float32]], float]


class WakeWordDetector:
    """How likely the wake word has just been said, for every 80 ms at 16 kHz.

    `folder` holds `melspectrogram.onnx`, `embedding_model.onnx` and the word's own network, .onnx or .tflite. What the
    three are fed with is openWakeWord's: samples in the range of 16 bits; the spectrogram x as x / 10 + 2; 76 of its
    rows; 16 embeddings. A step takes 1.4 ms on one core (1.8 % of it), nearly all of it the embedding.

    `own` is another file for the word's own network; then `folder` may hold one, or none.

    Raises ModelMissing, ModelCorrupt for files that cannot be loaded or take silence for the word, and ModelError where
    LiteRT, which runs .tflite, is not installed.
    """

    rate = 16_000
    frame_samples = 1_280
    _rows: NDArray[np.float32]
    _embeddings: NDArray[np.float32]

    def __init__(self, folder: Path, *, own: Path | None = None) -> None:
        mel, embedding = (_content(folder / name) for name in _FEATURES)
        network = _own(folder) if own is None else own
        broken = _corrupt(folder) if own is None else _no_wake_word(own)
        try:
            self._mel, self._embedding = small_network(mel), small_network(embedding)
            self._scores = _scores_of(network)
            self._rows = np.zeros((_ROWS, _BANDS), np.float32)
            self._quiet_row = self._rows_of(np.zeros(_BEFORE + self.frame_samples, np.float32))[-1]
            self.reset()
            silent = self.probability(np.zeros(self.frame_samples, np.float32))
        except ModelError:
            raise
        except Exception as error:  # the runtimes' errors share no base class
            raise broken from error
        if not silent < 0.1:
            raise broken
        self.reset()

    def probability(self, samples: Samples) -> float:
        """0.0 to 1.0, after the next 1280 samples of the stream. Raises ValueError for another number of samples."""
        if len(samples) != self.frame_samples:
            raise ValueError(f"expected {self.frame_samples} samples, got {len(samples)}")
        self._heard[:_BEFORE] = self._heard[-_BEFORE:]
        self._heard[_BEFORE:] = samples * np.float32(32_767.0)
        self._rows = np.concatenate((self._rows[_NEW_ROWS:], self._rows_of(self._heard)))
        self._embeddings = np.concatenate((self._embeddings[1:], self._embedded()))
        return self._scores(self._embeddings[None])

    def reset(self) -> None:
        """Forget the stream: it was silent so far."""
        self._heard = np.zeros(_BEFORE + self.frame_samples, np.float32)
        self._rows = np.tile(self._quiet_row, (_ROWS, 1))
        self._embeddings = np.tile(self._embedded(), (_STEPS, 1))

    def _rows_of(self, samples: Samples) -> NDArray[np.float32]:
        rows: NDArray[np.float32] = _run(self._mel, samples[None]).reshape(-1, _BANDS)
        if len(rows) != _NEW_ROWS:
            raise ValueError(f"{len(rows)} rows of a step")
        return rows / np.float32(10.0) + np.float32(2.0)

    def _embedded(self) -> NDArray[np.float32]:
        return _run(self._embedding, self._rows[None, :, :, None]).reshape(1, _VALUES)


def check_wake_word(own: Path) -> None:
    """See whether a file is a word's own network, alone: with the other two the detector sees more. Takes 0.02 s.

    Raises ModelCorrupt where it is not, and ModelError where LiteRT, which runs .tflite, is not installed.
    """
    try:
        score = _scores_of(own)(np.zeros((1, _STEPS, _VALUES), np.float32))
    except ModelError:
        raise
    except Exception as error:  # the runtimes' errors share no base class
        raise _no_wake_word(own) from error
    if not 0.0 <= score <= 1.0:
        raise _no_wake_word(own)


def _scores_of(network: Path) -> _Scores:
    return _litert(network) if network.suffix.lower() == ".tflite" else _onnx(network)


def _run(network: Any, values: NDArray[np.float32]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = network.run(None, {network.get_inputs()[0].name: values})[0]
    return found


def _content(file: Path) -> bytes:
    try:
        return regular_bytes(file)
    except FileNotFoundError:
        what = f"The wake word's model lacks {file}."
        raise ModelMissing(what, fix=f"Run: discussion-helper models pull {file.parent.name}") from None


def _own(folder: Path) -> Path:
    found = [file for file in sorted(folder.glob("*")) if file.suffix in (".onnx", ".tflite")]
    own = [file for file in found if file.name not in _FEATURES]
    if len(own) != 1:
        what = f"{folder} holds {len(own)} wake words' networks where there is to be one."
        raise ModelMissing(what, fix=f"Run: discussion-helper models pull {folder.name}")
    return own[0]


def _onnx(file: Path) -> _Scores:
    network = small_network(_content(file))
    return lambda embeddings: float(_run(network, embeddings).flat[0])


def _litert(file: Path) -> _Scores:
    try:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
    except ImportError as error:
        raise ModelError(f"The wake word {file.stem} needs LiteRT (ai-edge-litert).", fix=FIX_RUNTIME) from error
    # Without its delegates, which announce themselves on stderr: so small a network takes 0.02 ms either way.
    plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    network = Interpreter(model_content=_content(file), num_threads=1, experimental_op_resolver_type=plain)
    network.allocate_tensors()
    given, gives = network.get_input_details()[0]["index"], network.get_output_details()[0]["index"]

    def scores(embeddings: NDArray[np.float32]) -> float:
        network.set_tensor(given, embeddings)
        network.invoke()
        return float(network.get_tensor(gives).flat[0])

    return scores


def _corrupt(folder: Path) -> ModelCorrupt:
    fix = f"Run: discussion-helper models pull {folder.name}"
    return ModelCorrupt(f"The wake word's model in {folder} is damaged or of an unknown kind.", fix=fix)


def _no_wake_word(file: Path) -> ModelCorrupt:
    fix = f"Name a network that was trained for openWakeWord: {_STEPS} x {_VALUES} values in, a score of 0 to 1 out."
    return ModelCorrupt(f"{file} is no wake word's network, or is damaged.", fix=fix)

"""Log-mel spectra as Whisper wants them, without waking a thread."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.spinning import READING_SPINS, brief_spins

__all__ = ["LogMel"]


class LogMel:
    """faster-whisper's features of samples at 16 kHz: shape (mels, (samples + padding) / 160).

    Only its product with the filters is replaced: through BLAS it takes 1 ms and leaves OpenBLAS's threads spinning
    for 0.1 s, on the core that the encoder needs (measured on two cores: 95 of 190 ms of processor time in a turn,
    and an encoder on two threads twice as slow).
    """

    def __init__(self, mels: int, *, padding: int = 160) -> None:
        """`padding`: zeros behind the samples."""
        with brief_spins(READING_SPINS):  # it loads CTranslate2, maybe before any recogniser does
            from faster_whisper.feature_extractor import FeatureExtractor

        self._extractor = FeatureExtractor(feature_size=mels)
        self._padding = padding
        self._extractor.mel_filters = _Bands(self._extractor.mel_filters)

    def __call__(self, samples: Samples) -> NDArray[np.float32]:
        features: NDArray[np.float32] = self._extractor(samples, padding=self._padding)
        return features


class _Bands:
    """Triangular filters (mels, bins), each kept as the bins where it is not 0."""

    def __init__(self, filters: NDArray[np.float32]) -> None:
        found = [np.flatnonzero(row) for row in filters]
        self._bands = [(bins[0], row[bins[0] : bins[-1] + 1, None]) for bins, row in zip(found, filters, strict=True)]

    def __matmul__(self, power: NDArray[Any]) -> NDArray[np.float32]:
        """The energy in each band: (mels, frames) of (bins, frames)."""
        rows = [(weights * power[first : first + len(weights)]).sum(axis=0) for first, weights in self._bands]
        return np.stack(rows).astype(np.float32)

"""The eager gate: WebRTC's voice activity detector."""

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import SettingError

__all__ = ["WebRtcDetector"]


class WebRtcDetector:
    """Says yes or no (1.0 or 0.0) for every 10 ms at 16 kHz, in 2 to 4 µs.

    It hears a voice 10 to 20 ms after it starts, and takes keys and music for one as well. `mode`: 0 (says yes
    most easily) to 3. Raises SettingError for another mode.
    """

    rate = 16_000
    frame_samples = 160

    def __init__(self, *, mode: int = 3) -> None:
        if mode not in range(4):
            raise SettingError(f"The WebRTC detector has no mode {mode!r}.", fix="Choose 0, 1, 2 or 3.")
        self._mode = mode
        self.reset()

    def probability(self, samples: Samples) -> float:
        """1.0 if these 160 samples hold a voice, else 0.0. Raises ValueError for another number of samples."""
        if len(samples) != self.frame_samples:
            raise ValueError(f"expected {self.frame_samples} samples, got {len(samples)}")
        pcm = (np.clip(samples, -1.0, 1.0) * 32767.0).astype(np.int16)
        return float(self._vad.is_speech(pcm.tobytes(), self.rate))

    def reset(self) -> None:
        """Forget the level of the background."""
        import webrtcvad

        self._vad = webrtcvad.Vad(self._mode)

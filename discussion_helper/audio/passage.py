"""The way past the echo canceller, for a talker who is much louder than the echo can be."""

import numpy as np

from discussion_helper.audio.frames import Samples

__all__ = ["HOLD", "OVER_DB", "Passage"]

OVER_DB = 10.0
"""So far above the echo and noise that were expected, the microphone is heard as it came."""
HOLD = 20
"""And for so many blocks of 10 ms after that: a talker's next syllable begins as softly as the first one."""


class Passage:
    """Fades between what the canceller left and the microphone as it came, in blocks of 10 ms at 16 kHz."""

    def __init__(self, lag: int) -> None:
        """`lag`: samples by which the canceller's output is late."""
        self._lag = lag
        self.reset()

    def reset(self) -> None:
        """Back to the canceller."""
        self._before: Samples = np.zeros(self._lag, np.float32)
        self._share = 0.0
        self._hold = 0

    def pick(self, near: Samples, clean: Samples, over_db: float) -> Samples:
        """`over_db`: the level of `near` above the one expected if nobody spoke. Equally late as `clean`."""
        late = np.concatenate((self._before, near))
        self._before = late[len(near) :]
        self._hold = HOLD if over_db > OVER_DB else max(0, self._hold - 1)
        share = 1.0 if self._hold else 0.0
        if share == self._share == 0.0:
            return clean
        weight = np.linspace(self._share, share, len(near), dtype=np.float32)
        self._share = share
        mixed: Samples = clean + weight * (late[: len(near)] - clean)
        return mixed

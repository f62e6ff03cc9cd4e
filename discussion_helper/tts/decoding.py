"""Decoding: the second half of a voice's network, which makes sound of frames, a piece at a time."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discussion_helper.audio.frames import Samples

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, RunOptions

__all__ = ["CONTEXT", "Decoder", "Frames"]

CONTEXT = 12
"""Frames before and behind a piece that its sound depends on. Measured with joe-medium: with 8 the largest difference
to the whole was 7e-4 of full scale, with 12 and more 1e-6."""


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """What the first half of the network made of a sentence."""

    values: NDArray[np.float32]
    """Shape (1, channels, frames)."""
    widths: NDArray[np.int64] | None
    """How many frames each phoneme id has; None where that is not known."""

    def __len__(self) -> int:
        return int(self.values.shape[-1])


@dataclass(frozen=True, slots=True)
class Decoder:
    """A network from frames to sound; `name` is what it calls them."""

    session: "InferenceSession"
    name: str

    def sound(self, frames: Frames, start: int, end: int, options: "RunOptions") -> Samples:
        """Of the frames from `start` to `end`, as they sound within the whole; all frames are equally long."""
        first, last = max(0, start - CONTEXT), min(len(frames), end + CONTEXT)
        (made,) = self.session.run(None, {self.name: frames.values[:, :, first:last]}, options)
        samples = np.asarray(made, np.float32).reshape(-1)
        hop = len(samples) // (last - first)
        return samples[(start - first) * hop : (end - first) * hop]

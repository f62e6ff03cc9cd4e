"""A recording in the place of a microphone."""

import os
from collections.abc import AsyncGenerator

import anyio
import numpy as np

from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples, silence
from discussion_helper.clock import now

__all__ = ["recorded"]

_FRAME_S = 0.02
_LATEST_S = 1.0
"""So much is made up for where the program was held up."""


async def recorded(*paths: str | os.PathLike[str], rate: int, pause_s: float = 0.5) -> AsyncGenerator[Samples, None]:
    """Blocks of 20 ms as time passes: each file after `pause_s` of silence, and silence for ever behind the last one.

    Who stops sending has closed the microphone; who is silent has said all. WAV, FLAC, Ogg or MP3, of 2 minutes at
    most. Raises AudioFileError.
    """
    parts = [silence(pause_s, rate)]
    for path in paths:
        frame = await anyio.to_thread.run_sync(load, path, rate, limiter=anyio.CapacityLimiter(1))
        parts += [frame.samples, silence(pause_s, rate)]
    said, block, at, due_s = np.concatenate(parts), round(_FRAME_S * rate), 0, now()
    while True:
        due_s = max(due_s + _FRAME_S, now() - _LATEST_S)
        await anyio.sleep(max(0.0, due_s - now()))
        samples = said[at : at + block]
        at += len(samples)
        yield np.pad(samples, (0, block - len(samples)))

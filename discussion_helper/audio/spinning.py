"""How long the threads of GNU OpenMP spin while they wait for each other."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["READING_SPINS", "brief_spins"]

_SPINS = "GOMP_SPINCOUNT"
READING_SPINS = 3000
"""Of the recogniser's library. With two threads a reading of 3 s takes 83 ms on two idle cores, and 814 beside three
programs that never rest; with OpenMP's own 300,000 it takes 80 and 4242, with 1000 136 and 782, and one thread needs
135 and 906 (measured). All that loads the library, faster-whisper's too, has to do it with this."""


@contextmanager
def brief_spins(spins: int = 1000) -> Iterator[None]:
    """Load libraries in here so that these threads spin `spins` times, where the user has not said otherwise.

    GNU OpenMP spins 300 times longer by default. On a machine that does anything else, that takes the core from the
    very thread it waits for: two threads on two busy cores then decode 1 to 12 tokens a second, with this 30, and on
    idle cores 82 instead of 96 (measured, with llama.cpp). The variable is read when OpenMP is loaded, by whatever
    needs it first (PortAudio does, for its sound servers), so it is set for that moment alone; other platforms'
    OpenMP does not know it.
    """
    if _SPINS in os.environ or "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    os.environ[_SPINS] = str(spins)
    try:
        yield
    finally:
        os.environ.pop(_SPINS, None)

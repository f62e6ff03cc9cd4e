"""Whether there is a terminal to draw on."""

import os
from typing import TextIO

__all__ = ["is_terminal"]


def is_terminal(stream: TextIO | None) -> bool:
    """Whether the stream is one that can be drawn on."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"

"""Free files: how many more this process may open, which libraries below do not tell."""

import os
from contextlib import suppress

from discussion_helper.audio.system_fix import system_fix
from discussion_helper.errors import DeviceError

__all__ = ["too_few_files"]

_ENOUGH = 10
"""A device of PulseAudio takes eight, and all are closed again when one is wanting (measured)."""
_FIX = {
    "win32": "Close what has so many files open in it.",
    "": "Let it open more: ulimit -n 1024.",
}


def too_few_files(what: str) -> DeviceError | None:
    """The error for `what` (a beginning without a full stop) when files are short; None when they are not."""
    free = _free(_ENOUGH)
    if free == _ENOUGH:
        return None
    more = f"only {free} more file{'s' if free > 1 else ''}" if free else "no more files"
    return DeviceError(f"{what}, and this process may open {more}.", fix=system_fix(_FIX))


def _free(most: int) -> int:
    """So many at least, up to `most`."""
    opened: list[int] = []
    try:
        with suppress(OSError):
            for _ in range(most):
                opened.append(os.open(os.devnull, os.O_RDONLY))  # noqa: PERF401 - those that were opened are kept
        return len(opened)
    finally:
        for descriptor in opened:
            os.close(descriptor)

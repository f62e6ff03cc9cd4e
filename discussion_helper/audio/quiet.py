"""Keeps what C libraries write to their `stderr` out of the terminal while devices are in use."""

import ctypes
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

__all__ = ["QuietLibraries", "silence_alsa", "silence_portaudio", "while_open"]


class QuietLibraries:
    """From `hold` to `release`, C's `stderr` is the null device; nested and from any thread, it counts.

    PortAudio writes a line there for every call of the system that fails, from its own thread, when a device goes away
    or refuses a rate, and on Linux it cannot be told not to. Descriptor 2 stays as it is, and so does all that Python
    writes there: errors, logs, tracebacks. What other C libraries say with `fprintf(stderr, ...)` in the meantime is
    lost. Does nothing without glibc, where `stderr` cannot be replaced.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0
        self._before: int | None = None
        self._null: int | None = None

    def hold(self) -> None:
        """Be quiet from now on."""
        with self._lock:
            self._holders += 1
            if self._holders == 1:
                self._hush()

    def release(self) -> None:
        """Undo one `hold`; the last one lets the libraries speak again."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._give_back()

    @contextmanager
    def held_off(self) -> Generator[bool]:
        """Inside, libraries are quiet and `hold` and `release` wait; whether nobody holds it."""
        with self._lock:
            unused = not self._holders
            if unused:
                self._hush()
            try:
                yield unused
            finally:
                if unused:
                    self._give_back()

    # -- with the lock held

    def _hush(self) -> None:
        if (stderr := _c_stderr()) is not None:
            self._null = self._null or _open_null()
            if self._null:
                self._before, stderr.value = stderr.value, self._null

    def _give_back(self) -> None:
        if self._before and (stderr := _c_stderr()) is not None:
            stderr.value, self._before = self._before, None


while_open = QuietLibraries()
"""The one of this process, as `stderr` is. It is held while a stream of PortAudio is open."""


def silence_alsa() -> None:
    """Keep ALSA from writing every underrun on stderr, which it does from PortAudio's thread at any time."""
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libasound.so.2").snd_lib_error_set_handler(_nothing())


def silence_portaudio(name: str) -> None:
    """Keep the PortAudio in the library `name` from writing its errors on stderr; it cannot be told on Linux."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(name).PaUtil_SetDebugPrintFunction(_nothing())


def _nothing() -> ctypes.c_void_p:
    """A function that does nothing. It must be one of C: one of Python would wait for the interpreter.

    `abs` takes whatever comes and has no effect.
    """
    library = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
    return ctypes.cast(library.abs, ctypes.c_void_p)


def _c_stderr() -> Any:
    """The variable `stderr` of glibc; None elsewhere, for it may be constant there."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return ctypes.c_void_p.in_dll(library, "stderr") if hasattr(library, "gnu_get_libc_version") else None


def _open_null() -> int | None:
    """A `FILE *` of C that takes everything; it stays open, for a library may be writing to it at any time."""
    library = ctypes.CDLL(None)
    library.fopen.restype = ctypes.c_void_p
    found: int | None = library.fopen(os.devnull.encode(), b"w")
    return found

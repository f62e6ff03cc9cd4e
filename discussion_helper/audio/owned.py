"""Devices that have one owner on this machine."""

import hashlib
import os
import platform
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from discussion_helper.audio.file_claim import claim
from discussion_helper.errors import DeviceError

__all__ = ["Owned", "microphones"]

_FIX = "End that talk, mute it, or choose another device."
_SERVER = ("PULSE_SERVER", "PULSE_SOURCE")
"""Variables by which one name stands for another device."""


class Owned:
    """Names that somebody has to himself, from `take` to `release` or to the end of the process. From any thread.

    Among programs a claim on a file in `folder` says so, which ends with its program in any way; where none can be
    made, this program keeps its own apart.
    """

    def __init__(self, folder: Callable[[], Path]) -> None:
        """`folder` is asked when something is taken, and made then."""
        self._folder = folder
        self._lock = Lock()
        self._held: dict[str, int | None] = {}
        """Name to the descriptor of its file."""

    def take(self, name: str) -> None:
        """Own it. Raises DeviceError if it is owned."""
        with self._lock:
            if name in self._held:
                raise DeviceError(f'"{name}" is in use by another talk of this program.', fix=_FIX)
            self._held[name] = self._claimed(name)

    def release(self, name: str) -> None:
        """Own it no more. Idempotent."""
        with self._lock:
            descriptor = self._held.pop(name, None)
            if descriptor is not None:
                os.close(descriptor)

    def _claimed(self, name: str) -> int | None:
        try:
            descriptor = _opened(self._folder(), name)
        except OSError:  # no folder of this user's can be written
            return None
        try:
            if claim(descriptor):
                _sign(descriptor)
                return descriptor
            owner = os.read(descriptor, 20)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        who = f" (process {owner.decode()})" if owner.isdigit() else ""
        raise DeviceError(f'"{name}" is in use by another discussion-helper{who}.', fix=_FIX)


def _opened(folder: Path, name: str) -> int:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    device = [name, platform.node(), *(os.environ.get(variable, "") for variable in _SERVER)]  # a home may be shared
    file = hashlib.sha256("\0".join(device).encode(errors="replace")).hexdigest()[:32]
    return os.open(folder / file, os.O_RDWR | os.O_CREAT, 0o600)


def _sign(descriptor: int) -> None:
    """Say who has it, for whoever is refused. Raises nothing where that cannot be written."""
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
    except OSError:  # a full disk
        pass


def _folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_state_dir("discussion_helper", appauthor=False)) / "microphones"


microphones = Owned(_folder)
"""Those of this machine. Two talks on one would answer the same words, and each other; where a microphone is not shared
by the system, the second would hear nothing and say nothing of it."""

"""Devices that have one owner in this process."""

from threading import Lock

from discussion_helper.errors import DeviceError

__all__ = ["Owned", "microphones"]


class Owned:
    """Names that somebody has to himself, from `take` to `release`. From any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._names: frozenset[str] = frozenset()

    def take(self, name: str) -> None:
        """Own it. Raises DeviceError if it is owned."""
        with self._lock:
            if name in self._names:
                raise DeviceError(
                    f'"{name}" is in use by another talk of this program.',
                    fix="End that talk, mute it, or choose another device.",
                )
            self._names |= {name}

    def release(self, name: str) -> None:
        """Own it no more. Idempotent."""
        with self._lock:
            self._names -= {name}


microphones = Owned()
"""Those of this process, for devices are the machine's. Two talks on one would answer the same words, and each other;
where a microphone is not shared by the system, the second would hear nothing and say nothing of it."""

"""Waits for the interpreter's lock: how long a thread that wants it has to wait, and what the others are at then."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

__all__ = ["PERIOD_S", "LockWaits", "QueueTime", "Wait", "longest"]

PERIOD_S = 0.001
"""How often it asks."""
TOLD_S = 0.003
"""From here on it is looked at what the other threads do."""
DEPTH = 3
"""Callers named of each."""
_SCHEDSTAT = Path("/proc/thread-self/schedstat")
_RESTING = {"acquire", "get", "join", "poll", "select", "sleep", "wait", "_wait_for_tstate_lock"}


class QueueTime:
    """How long the calling thread waited for a core so far, in seconds; always 0 where the system does not tell."""

    def __init__(self) -> None:
        self._file = _SCHEDSTAT.open() if _SCHEDSTAT.exists() else None

    def read(self) -> float:
        """Until now."""
        if self._file is None:
            return 0.0
        self._file.seek(0)
        return int(self._file.read().split()[1]) / 1e9


@dataclass(frozen=True, slots=True)
class Wait:
    """One wait, which began at `at_s`; `queued_s` of the time was for a core and is not in `waited_s`."""

    at_s: float
    waited_s: float
    queued_s: float
    where: tuple[str, ...] = ()


class LockWaits:
    """A thread that sleeps for a millisecond, then wants the lock, from entering to leaving."""

    def __init__(self) -> None:
        self._over = False
        self._waits: list[Wait] = []
        self._thread = threading.Thread(target=self._run, name="lock-waits", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over = True
        self._thread.join(1.0)

    def take(self) -> list[Wait]:
        """Those since the last call."""
        taken, self._waits = self._waits, []
        return taken

    def _run(self) -> None:
        queue = QueueTime()
        before = queue.read()
        while not self._over:
            at_s = time.monotonic()
            time.sleep(PERIOD_S)
            late = time.monotonic() - at_s - PERIOD_S
            now = queue.read()
            queued, before = now - before, now
            where = _busy() if late - queued > TOLD_S else ()
            self._waits.append(Wait(at_s, max(0.0, late - queued), queued, where))


def longest(waits: Sequence[Wait], count: int) -> list[tuple[str, int, float]]:
    """Where the longest waits were: the place, how many waits over 3 ms there were, and the longest in seconds."""
    counts, worst = Counter[str](), dict[str, float]()
    for wait in waits:
        for place in wait.where:
            counts[place] += 1
            worst[place] = max(worst.get(place, 0.0), wait.waited_s)
    places = sorted(worst, key=lambda place: -worst[place])[:count]
    return [(place, counts[place], worst[place]) for place in places]


def _busy() -> tuple[str, ...]:
    """What the threads do that do not rest: one of them has had the lock, and is still where it had it."""
    own, names = threading.get_ident(), {thread.ident: thread.name for thread in threading.enumerate()}
    frames = [(names.get(ident, "?"), frame) for ident, frame in sys._current_frames().items() if ident != own]
    return tuple(f"{name}: {_stack(frame)}" for name, frame in frames if frame.f_code.co_name not in _RESTING)


def _stack(frame: FrameType | None) -> str:
    calls: list[str] = []
    while frame is not None and len(calls) < DEPTH:
        calls.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} {frame.f_code.co_name}")
        frame = frame.f_back
    return " < ".join(calls)

"""What a process costs: processor time and memory."""

import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discussion_helper.errors import DiscussionError

if TYPE_CHECKING:
    import psutil

__all__ = ["MB", "Usage", "UsageMeter", "daemon_pid"]

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Over a stretch of time. One core that is busy all the time is 100 %."""

    seconds: float
    cpu_percent: float
    peak_mb: float
    """The most memory that the process held since it began, in MB of 10^6 bytes."""


class UsageMeter:
    """Measures a process and those it started, from now on. Raises DiscussionError when it has ended."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._began_s = time.monotonic()
        self._cpu_s = self._spent()

    def read(self) -> Usage:
        """Since the meter was made."""
        seconds = time.monotonic() - self._began_s
        percent = 100.0 * (self._spent() - self._cpu_s) / seconds
        return Usage(round(seconds, 1), round(percent, 1), round(_peak_bytes(self._pid) / MB, 1))

    def _spent(self) -> float:
        import psutil

        try:
            process = psutil.Process(self._pid)
            return sum(map(_cpu_s, [process, *process.children(recursive=True)]))
        except psutil.NoSuchProcess:
            raise DiscussionError("The program that was measured has ended.") from None


def daemon_pid() -> int | None:
    """The PulseAudio that this process started, if it did."""
    import psutil

    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if process.name() == "pulseaudio":
                return int(process.pid)
    return None


def _cpu_s(process: "psutil.Process") -> float:
    import psutil

    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:  # ended meanwhile
        return 0.0
    return float(times.user + times.system)


def _peak_bytes(pid: int) -> int:
    """The kernel's own high-water mark of this process: `getrusage` would count what its parent held before it."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0

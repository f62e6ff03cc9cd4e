"""Start, idling and end: how long the talk takes to listen, what it costs while nobody speaks, how soon it is gone."""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from discussion_helper.bench.progress import Progress
from discussion_helper.bench.talk_handle import TalkHandle
from discussion_helper.bench.terminal import Terminal
from discussion_helper.bench.usage import UsageMeter, daemon_pid
from discussion_helper.errors import DiscussionError

__all__ = ["SETTLED_PERCENT", "SETTLE_LIMIT_S", "SETTLE_S", "IdleRow", "StartRow", "run_idle", "run_starts"]

SETTLE_S = 2.0
SETTLED_PERCENT = 25.0
"""Below this over 2 s the models are loaded: that keeps a core busy."""
SETTLE_LIMIT_S = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRow:
    """One start, in seconds from the start of the process."""

    number: int
    listening_s: float
    """Until the microphone was open."""
    warm_s: float
    """Until all models were loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleRow:
    """What `discussion-helper talk` costs in a terminal, with the microphone open and nobody speaking."""

    seconds: float
    cpu_percent: float
    daemon_percent: float | None
    """Of the sound server, which is not the talk's."""
    peak_mb: float
    shutdown_s: float
    """From Ctrl-C to the end of the process."""


def run_starts(environment: Mapping[str, str], log: Path, count: int, progress: Progress) -> list[StartRow]:
    """Start the talk `count` times. Raises DiscussionError."""
    rows: list[StartRow] = []
    for number in range(1, count + 1):
        with TalkHandle(environment, log) as talk:
            listening_s, warm_s = talk.listening_s - talk.started_s, talk.warm_s - talk.started_s
        rows.append(StartRow(number=number, listening_s=round(listening_s, 3), warm_s=round(warm_s, 3)))
        progress.step("starts", number, count, f"listens after {listening_s:.2f} s, warm after {warm_s:.2f} s")
    return rows


def run_idle(environment: Mapping[str, str], seconds: float, progress: Progress) -> IdleRow:
    """Leave `discussion-helper talk` alone for so long. Raises DiscussionError."""
    with Terminal([sys.executable, "-m", "discussion_helper", "talk"], environment) as terminal:
        _settle(terminal)
        talk, daemon = UsageMeter(terminal.pid), daemon_pid()
        sound = UsageMeter(daemon) if daemon else None
        time.sleep(seconds)  # what is measured is that nothing happens
        if not terminal.running:
            raise DiscussionError("`discussion-helper talk` ended by itself.", fix="Run it in a terminal to see why.")
        usage, served = talk.read(), sound.read() if sound else None
        asked = time.monotonic()
        gone = terminal.interrupt()
        shutdown_s = time.monotonic() - asked
    if not gone:
        raise DiscussionError(f"`discussion-helper talk` did not end within {shutdown_s:.0f} s of Ctrl-C.")
    progress.step("idle", 1, 1, f"{usage.cpu_percent:.1f} % of a core")
    return IdleRow(
        seconds=usage.seconds,
        cpu_percent=usage.cpu_percent,
        daemon_percent=served.cpu_percent if served else None,
        peak_mb=usage.peak_mb,
        shutdown_s=round(shutdown_s, 2),
    )


def _settle(terminal: Terminal) -> None:
    """Wait until the models are loaded, which from outside only the processor tells."""
    deadline = time.monotonic() + SETTLE_LIMIT_S
    busy = False
    while time.monotonic() < deadline and terminal.running:
        meter = UsageMeter(terminal.pid)
        time.sleep(SETTLE_S)
        if not terminal.running:
            break
        percent = meter.read().cpu_percent
        if busy and percent < SETTLED_PERCENT:
            return
        busy = busy or percent >= SETTLED_PERCENT
    raise DiscussionError("`discussion-helper talk` did not come to rest.", fix="Run it in a terminal to see why.")

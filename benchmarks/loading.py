"""Measure the first seconds of a talk: how soon it listens, and what is held up while its models are loaded.

    python -m benchmarks.loading [--rounds N] [--clips FOLDER]

Each start is a process of its own, with files as devices: from opening the talk until recogniser, language model and
voice are loaded, once with the interpreter as it is and once as the command `talk` sets it, in turn. The figures are
medians. late: from the device's callback to the end of the audio thread's work on a block. loop: how late the event
loop wakes a task. lock: how long a thread waits for the interpreter's lock that wants it every millisecond.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from statistics import median
from typing import Any

import anyio
import psutil
from rich.console import Console
from rich.table import Table

from benchmarks.lock_waits import LockWaits
from benchmarks.pauses import Pauses
from discussion_helper.app import Talk, open_talk
from discussion_helper.bench.lag import LagMeter
from discussion_helper.commands.interpreter import PromptInterpreter
from discussion_helper.settings import Settings

__all__ = ["main"]

LIMIT_S = 60.0
LOADINGS = ("plain", "as talk")
"""As any program, and as the command `talk`."""


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clips", type=Path, default=Path("audio"), help="folder of the recorded clips")
    parser.add_argument("--child", choices=LOADINGS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        _be_loaded(given.child, given.clips)
    else:
        _print(given.rounds, given.clips)


def _print(rounds: int, clips: Path) -> None:
    found: dict[str, list[dict[str, float]]] = {name: [] for name in LOADINGS}
    for name in [name for _ in range(rounds) for name in LOADINGS]:
        command = [sys.executable, "-m", "benchmarks.loading", "--child", name, "--clips", str(clips)]
        found[name].append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout.splitlines()[-1]))
    table = Table("measure", *LOADINGS, title="while models are loaded, ms")
    for measure in found[LOADINGS[0]][0]:
        table.add_row(measure, *(f"{median(one[measure] for one in found[name]):.1f}" for name in LOADINGS))
    Console().print(table)


def _be_loaded(name: str, clips: Path) -> None:
    interpreter = PromptInterpreter()
    with interpreter if name == "as talk" else nullcontext(), LockWaits() as waits:
        opener = interpreter.watching(open_talk) if name == "as talk" else open_talk
        told = anyio.run(_loaded, waits, opener, clips)
    print(json.dumps(told), flush=True)
    os._exit(0)


async def _loaded(
    waits: LockWaits, opener: Callable[[Settings], AbstractAsyncContextManager[Talk]], clips: Path
) -> dict[str, float]:
    meter, pauses, began = LagMeter(), Pauses(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, pauses:
        settings = Settings(inputs=tuple(sorted((clips / "speech").glob("*"))[:1]), output=Path(folder) / "out.wav")
        async with opener(settings) as talk, anyio.create_task_group() as tasks:
            warm = [_told_when_warm(part) for part in _parts(talk)]
            tasks.start_soon(meter.run)
            events = talk.session.events("device")
            waits.take()
            talk.session.start()
            with anyio.fail_after(LIMIT_S):
                await anext(events)
                listening = time.perf_counter() - began
                for event in warm:
                    await event.wait()
            tasks.cancel_scope.cancel()
            health, lags, found = talk.health(), [lag for _, lag in meter.take()], waits.take()
            loaded = time.perf_counter() - began
    began = time.perf_counter()
    gc.collect()
    told = {
        "listening after": listening,
        "loaded after": loaded,
        "late P99": health.late_p99_s,
        "late worst": health.late_worst_s,
        "loop worst": max(lags),
        "lock worst": max(wait.waited_s for wait in found),
        "collections": sum(length for _, length in pauses.found),
        "longest collection": max((length for _, length in pauses.found), default=0.0),
        "a whole collection then": time.perf_counter() - began,
    }
    return {name: 1e3 * value for name, value in told.items()} | {
        "objects frozen": gc.get_freeze_count(),
        "memory, MB": psutil.Process().memory_info().rss / 1e6,
    }


def _parts(talk: Talk) -> tuple[Any, ...]:
    discussion = talk.session.discussion
    return discussion.listener, discussion.responder, discussion.voice


def _told_when_warm(part: Any) -> anyio.Event:
    """Set once the part has loaded what it needs, without having it load anything twice."""
    event, warmup = anyio.Event(), part.warmup

    async def watched() -> None:
        await warmup()
        event.set()

    part.warmup = watched
    return event


if __name__ == "__main__":
    main()

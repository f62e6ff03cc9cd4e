"""Threads that yield: what computes for long gives the processor to what listens and plays."""

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from discussion_helper.audio.free_memory import give_back

__all__ = ["STEP_BACK", "call_behind"]

_T = TypeVar("_T")
STEP_BACK = 5
"""Steps of niceness. Beside three models that never rest, on two cores with other programs on them, a block of the
microphone was 38 ms late without it, 14 with 5 and 10 with 10, and a wait for the interpreter's lock was 1.3, 0.75 and
0.4 ms long (P99, medians of four rounds in turn), while the models answered as many turns. With 10 they would be left
a tenth of a core that another program wants, with 5 a third."""


def call_behind(work: Callable[[], _T], *, gives_back: bool = False) -> _T:
    """Call `work` in a thread of its own that yields, and wait for it; what it returned, or what it raised.

    Threads that are started in there yield too, also those of a library: a model that is loaded so computes so. A
    thread cannot take back that it yields, so it is a new one, never one that is lent to others. Linux alone gives
    each thread its niceness; elsewhere it is a thread like any other. `gives_back`: behind the work, while
    nobody waits, memory that is free goes back to the system, whoever freed it.
    """
    outcome: Future[_T] = Future()

    def run() -> None:
        try:
            _step_back()
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)
        if gives_back:
            give_back()

    threading.Thread(target=run, name="model", daemon=True).start()
    return outcome.result()


def _step_back() -> None:
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with suppress(OSError):  # a sandbox may forbid it
            os.setpriority(os.PRIO_PROCESS, thread, min(19, os.getpriority(os.PRIO_PROCESS, thread) + STEP_BACK))

"""Threads that yield to those that listen and play."""

import mmap
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discussion_helper.audio import yielding
from discussion_helper.audio.yielding import STEP_BACK, call_behind


def _niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_gives_what_the_work_returned() -> None:
    assert call_behind(lambda: 6 * 7) == 42


def test_raises_what_the_work_raised() -> None:
    def work() -> None:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        call_behind(work)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives each thread its niceness")
def test_where_it_may_not_yield_it_works_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "setpriority", refuse)
    assert call_behind(lambda: 6 * 7) == 42


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives each thread its niceness")
def test_the_work_and_what_it_starts_yield_and_the_caller_does_not() -> None:
    before = _niceness()

    def work() -> tuple[int, int]:
        own, inherited = _niceness(), []
        started = threading.Thread(target=lambda: inherited.append(_niceness()))
        started.start()
        started.join()
        return own, inherited[0]

    assert call_behind(work) == (min(19, before + STEP_BACK),) * 2
    assert _niceness() == before


@pytest.mark.parametrize("says_so", [False, True])
def test_memory_goes_back_behind_what_says_so_alone(monkeypatch: pytest.MonkeyPatch, says_so: bool) -> None:
    given: list[str] = []
    monkeypatch.setattr(yielding, "give_back", lambda: given.append(threading.current_thread().name))

    call_behind(lambda: None, **({"gives_back": True} if says_so else {}))
    _join()

    assert given == ["model"] * says_so


@pytest.mark.skipif(sys.platform != "linux", reason="what keeps freed memory is glibc")
def test_what_the_work_has_freed_goes_back_to_the_system() -> None:
    def work() -> Any:
        blocks = [np.ones(12_000, np.float32) for _ in range(2_000)]  # 96 MB, each too small to be given back alone
        return blocks[-1]  # it keeps all below it in the heap

    call_behind(lambda: None, gives_back=True)
    before = _resident_mb()
    kept = call_behind(work, gives_back=True)
    _join()

    assert len(kept) == 12_000
    assert _resident_mb() - before < 20.0


def _join() -> None:
    for thread in threading.enumerate():
        if thread.name == "model":
            thread.join()


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * mmap.PAGESIZE / 2**20

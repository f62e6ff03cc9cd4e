"""Threads that yield to those that listen and play."""

import os
import sys
import threading

import pytest

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

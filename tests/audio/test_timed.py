"""Calls that may hang: what comes back in time, what is raised, what is left alone."""

import threading

import pytest

from discussion_helper.audio.timed import within


def test_a_call_that_comes_back_is_true() -> None:
    ran: list[str] = []

    assert within(10.0, lambda: ran.append(threading.current_thread().name))

    assert ran == ["portaudio"]


def test_what_it_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        within(10.0, lambda: 1 / 0)


def test_a_call_that_hangs_is_false_and_left_to_a_thread_that_keeps_nobody() -> None:
    let_go = threading.Event()

    assert not within(0.05, lambda: let_go.wait(30.0))

    (thread,) = (one for one in threading.enumerate() if one.name == "portaudio")
    assert thread.daemon
    let_go.set()
    thread.join(10.0)
    assert not thread.is_alive()

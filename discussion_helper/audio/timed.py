"""Calls into the system's audio that may hang."""

import ctypes
from collections.abc import Callable
from threading import Thread

__all__ = ["within"]


def within(seconds: float, call: Callable[[], object]) -> bool:
    """Run `call` on a thread of its own; False if it has not come back after `seconds`. Raises what it raises.

    What hangs is left to its thread, which does not keep the program from ending.
    """
    raised: list[BaseException] = []

    def run() -> None:
        if windll := getattr(ctypes, "windll", None):
            windll.ole32.CoInitializeEx(None, 0)  # WASAPI wants it on every thread that opens something
        try:
            call()
        except BaseException as error:
            raised.append(error)

    thread = Thread(target=run, name="portaudio", daemon=True)
    thread.start()
    thread.join(seconds)
    if raised:
        raise raised[0]
    return not thread.is_alive()

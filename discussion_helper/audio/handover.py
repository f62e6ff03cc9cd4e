"""The way from the audio thread to the event loop, and the only one."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["LoopHandover"]


class LoopHandover:
    """Runs functions on the event loop it was made on (asyncio or trio), called from any thread.

    They run soon, one after the other, in the order of the calls, and must neither block nor raise. The loop's own
    queue holds them and has no bound: it is for events (a decision, an utterance), not for every block of audio.
    Raises RuntimeError when it is made where no loop runs.
    """

    def __init__(self) -> None:
        self._schedule: Callable[..., object] | None = _door()

    def call(self, fn: Callable[..., object], *args: Any) -> None:
        """Run `fn(*args)` on the loop; never waits for it. Ignored after `close()` and once the loop is gone.

        What was handed over before `close()` and has not run yet is dropped as well.
        """
        schedule = self._schedule
        if schedule is None:
            return
        try:
            schedule(self._run, fn, args)
        except RuntimeError:  # the loop is closed; trio's RunFinishedError is one too
            self._schedule = None

    def close(self) -> None:
        """Hand over nothing more. Idempotent; from any thread."""
        self._schedule = None

    def _run(self, fn: Callable[..., object], args: tuple[Any, ...]) -> None:
        if self._schedule is not None:
            fn(*args)


def _door() -> Callable[..., object]:
    """The running loop's own thread-safe way in."""
    try:
        return asyncio.get_running_loop().call_soon_threadsafe
    except RuntimeError:
        trio = sys.modules.get("trio")  # where trio runs, somebody has imported it
    try:
        if trio is not None:
            return trio.lowlevel.current_trio_token().run_sync_soon  # type: ignore[no-any-return]
    except RuntimeError:
        pass
    raise RuntimeError("LoopHandover() must be made on a running event loop.")

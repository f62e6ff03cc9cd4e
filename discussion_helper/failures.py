"""What concurrent tasks failed with: the first of it, and all of it in a line."""

import asyncio
import sys

__all__ = ["Carried", "failures_in", "is_interruption", "told"]


class Carried(Exception):
    """A KeyboardInterrupt, SystemExit or the like out of a part, on its way to whoever waits for the session.

    Raised as it is in one of the session's tasks, it would stop the event loop and every other session with it.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


def failures_in(error: BaseException) -> list[BaseException]:
    """The errors inside exception groups, first one first; the cancellations they brought about are left out."""
    if isinstance(error, Carried):
        return [error.error]
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    inside = [failure for each in error.exceptions for failure in failures_in(each)]
    return [failure for failure in inside if not isinstance(failure, _cancellations())] or inside


def is_interruption(error: BaseException) -> bool:
    """Whether Ctrl-C brought it about: a library that is being loaded makes an ImportError of it, and whoever loads it
    takes that for a broken model. In more than half of the cases where it came while onnxruntime was loaded (20 of 34).
    """
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        seen.append(cause)
        cause = cause.__cause__ or cause.__context__
    return any(isinstance(each, KeyboardInterrupt) for each in seen)


def _cancellations() -> tuple[type[BaseException], ...]:
    trio = sys.modules.get("trio")  # imported by whoever runs on it
    return (asyncio.CancelledError,) if trio is None else (asyncio.CancelledError, trio.Cancelled)


def told(*errors: BaseException) -> str:
    """Each error's text, or its type's name where it has none; one line, nothing twice."""
    return "; ".join(dict.fromkeys(_text(failure) for error in errors for failure in failures_in(error)))


def _text(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:  # an error that cannot even say what it is must not hide that there was one
        text = ""
    return text or type(error).__name__

"""The document that `talk --json` prints."""

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from discussion_helper.commands.screen import complain
from discussion_helper.session import Session

__all__ = ["Document", "document_of", "stdout_kept"]

_LOCK_LIMIT_S = 0.2
"""How long the last words wait for a document that is being printed."""


def document_of(session: Session | None) -> dict[str, Any]:
    """The transcript and the timings so far; empty before there is a session."""
    if session is None:
        return {"utterances": [], "timings": [], "interruption_rate": 0.0}
    state = session.state
    return {key: state[key] for key in ("utterances", "timings", "interruption_rate")}


class Document:
    """Printed once, whoever asks first, from whichever thread. `session` is set as soon as there is one."""

    def __init__(self, stream: TextIO | None) -> None:
        """`stream` None: nothing is printed."""
        self.session: Session | None = None
        self.lost = False
        """It could not be written, and somebody wanted to read it."""
        self._stream = stream
        self._lock = threading.Lock()
        self._printed = False

    def silent(self) -> bool:
        """Whether there is no turn in it yet."""
        return self.session is None or not self.session.discussion.conversation.utterances

    def print(self) -> None:
        """Print it, unless that was done."""
        if not self._lock.acquire(timeout=_LOCK_LIMIT_S):
            return
        try:
            if self._stream is not None and not self._printed:
                self._printed = True
                self._write(self._stream)
        finally:
            self._lock.release()

    def _write(self, stream: TextIO) -> None:
        try:
            print(json.dumps(document_of(self.session), indent=2), file=stream, flush=True)
        except BrokenPipeError:
            pass  # nobody wants it
        except OSError as error:
            self.lost = True
            complain(f"discussion-helper: The document could not be written: {error.strerror}.")


@contextmanager
def stdout_kept() -> Iterator[TextIO]:
    """Standard output for the document alone: what libraries print there goes to stderr meanwhile."""
    try:
        kept = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):  # not real ones
        yield sys.stdout
        return
    try:
        yield kept
    finally:
        sys.stdout.flush()
        os.dup2(kept.fileno(), sys.stdout.fileno())
        with suppress(OSError):  # a document that could not be written
            kept.close()

"""The document that `talk --json` prints."""

import threading
from typing import Any, TextIO

from discussion_helper.commands import stdout
from discussion_helper.commands.json_text import json_text
from discussion_helper.commands.talk_thread import kept_id
from discussion_helper.parts import Thread
from discussion_helper.session import Session

__all__ = ["Document", "document_of"]

_LOCK_LIMIT_S = 0.2
"""How long the last words wait for a document that is being printed."""


def document_of(session: Session | None, thread: Thread | None = None) -> dict[str, Any]:
    """The transcript and the timings so far; empty before there is a session. `thread_id`: where they are kept."""
    if session is None:
        return {"utterances": [], "timings": [], "interruption_rate": 0.0}
    state, kept = session.state, kept_id(thread)
    document = {key: state[key] for key in ("utterances", "timings", "interruption_rate")}
    return document if kept is None else {**document, "thread_id": kept}


class Document:
    """Printed once, whoever asks first. `session` and what keeps it are set as soon as there are any."""

    def __init__(self, stream: TextIO | None) -> None:
        """`stream` None: nothing is printed."""
        self.session: Session | None = None
        self.thread: Thread | None = None
        self.lost = 0
        """The exit code for a document that could not be written; 0 when that did not happen."""
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
            print(json_text(document_of(self.session, self.thread), indent=2), file=stream, flush=True)
        except OSError as error:
            self.lost = stdout.code_for(error)

"""Errors of text streams.

SessionError                      something about one stream, its thread or an event in it
├── SessionClosedError            the stream takes nothing any more
├── SessionNotFoundError          no stream of that id is open
├── ThreadNotFoundError           no thread of that id is stored
├── ThreadCorruptError            a stored thread cannot be read
├── StoreBusyError                another process has the store, or wrote to the thread
├── SaveError                     a turn could not be stored
├── QueueFullError                too many events wait
├── EventDroppedError             an interrupt took the event out of the queue
├── UnsupportedEventError         the stream does not know this kind of event
├── TurnLimitError                the model went on calling tools
└── ProcessError                  an event failed; the cause is chained
    └── TurnCancelledError        its turn was cancelled, by `cancel`, an interrupt or the end of the stream
"""

from discussion_helper.errors import DiscussionError
from discussion_helper.failures import told

__all__ = [
    "EventDroppedError",
    "ProcessError",
    "QueueFullError",
    "SaveError",
    "SessionClosedError",
    "SessionError",
    "SessionNotFoundError",
    "StoreBusyError",
    "ThreadCorruptError",
    "ThreadNotFoundError",
    "TurnCancelledError",
    "TurnLimitError",
    "UnsupportedEventError",
]


class SessionError(DiscussionError):
    """Base of the errors of text streams."""


class SessionClosedError(SessionError):
    """The stream is closed; the text holds its id."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"Session {session_id} is closed.", fix="Attach to its thread again.")


class SessionNotFoundError(SessionError):
    """No stream of that id is open."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"Session {session_id!r} was not found.", fix="Use the id of an open one, or attach it.")


class ThreadNotFoundError(SessionError):
    """No thread of that id is stored."""

    def __init__(self, thread_id: str) -> None:
        super().__init__(f"Thread {thread_id!r} was not found.", fix="Use the id of a stored one.")


class ThreadCorruptError(SessionError):
    """A stored thread cannot be read; the text names it and says why."""


class StoreBusyError(SessionError):
    """Another process uses the store in a way that ours would break."""


class SaveError(SessionError):
    """A turn could not be stored; the cause is chained."""


class QueueFullError(SessionError):
    """As many events wait as may."""

    def __init__(self, session_id: str, held: int) -> None:
        super().__init__(f"{held} events wait in session {session_id}.", fix="Wait until some are done.")


class EventDroppedError(SessionError):
    """An interrupt took the event out of the queue before it was processed."""

    def __init__(self, kind: str) -> None:
        what = "The message" if kind == "user_message" else f"The event ({kind})"
        super().__init__(f"{what} waited when an interrupt came, and was not answered.", fix="Send it again.")


class UnsupportedEventError(SessionError):
    """The stream does not know this kind of event."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"unsupported event kind: {kind}", fix="Use user_message or interrupt.")


class TurnLimitError(SessionError):
    """The model was called as often as one message allows, and still called tools."""

    def __init__(self, max_turns: int) -> None:
        super().__init__(f"The model still called tools in its turn number {max_turns}.", fix="Allow more turns.")


class ProcessError(SessionError):
    """An event failed; `__cause__` is what it failed with."""

    def __init__(self, cause: BaseException | None = None) -> None:
        super().__init__(f"process event: {told(cause)}" if cause is not None else "process event: it failed")
        self.__cause__ = cause

    @property
    def reason(self) -> BaseException:
        """What people are told: the cause where there is one, without the words before it."""
        return self.__cause__ or SessionError("It failed.")


class TurnCancelledError(ProcessError):
    """The event's turn was cancelled. Not a cancellation of whoever waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.what, self.args = "process event: the turn was cancelled", ("process event: the turn was cancelled", "")

    @property
    def reason(self) -> BaseException:
        """What people are told."""
        return SessionError("The answer was cancelled.")

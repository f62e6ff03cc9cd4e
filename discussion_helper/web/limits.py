"""How much anybody may ask of the server."""

from dataclasses import dataclass, fields

from discussion_helper.errors import SettingError

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Raises SettingError for what is not above 0."""

    sessions: int = 1000
    """Live sessions."""
    remote: int = 4
    """Of them those at a client's microphone: each has models of its own.

    With the smallest ones, the server takes 0.9 GB for one of them, and up to 0.5 GB more for each further one."""
    abandoned_s: float = 300.0
    """After so long without a watcher, a client and a turn a session for clients' microphones is ended."""
    watchers: int = 64
    """Streams of one session that are followed or answered at the same time."""
    all_watchers: int = 1500
    """Of all sessions; each is a connection, of which the server takes 2048."""
    body: int = 64 * 1024
    """Bytes of a request's body."""
    request_s: float = 60.0
    """Until an answer begins: a first look at the models takes some seconds."""
    body_s: float = 10.0
    """Until a request's body is there."""
    send_s: float = 30.0
    """How long a watcher may leave a full connection unread before that is closed; it can resume then."""
    held_bytes: int = 1024 * 1024
    """Of the events that wait for one watcher, or one event that is larger; with more it is too far behind."""
    heartbeat_s: float = 5.0
    """Between signs of life in a stream: a page takes a connection for lost after 12 s without any."""

    headers: int = 32 * 1024
    """Bytes of a request's headers."""
    headers_s: float = 10.0
    """Until a request's headers are there; the server closes the connection then."""
    rate: float = 200.0
    """Requests a second of one address; `Door.STRANGERS` of them without the token."""
    rate_of_all: float = 400.0
    """Requests a second of all."""
    burst_s: float = 10.0
    """How many seconds' worth of them may come at once: a page that opens asks for much."""
    wrong_a_minute: float = 10.0
    """Wrong tokens and passwords of one address; ten times as many of all."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                what = f"{field.name}: {getattr(self, field.name)!r} is no limit."
                raise SettingError(what, fix="Use a number above 0.")

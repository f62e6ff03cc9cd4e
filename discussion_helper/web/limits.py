"""How much anybody may ask of the server."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from discussion_helper.errors import SettingError

__all__ = ["SLOWEST", "Limits", "raised_by"]

SLOWEST = 4096
"""Bytes a second of a body; slower than a telephone line of 1996 is nobody who means it."""
_OPTIONS: Mapping[str, str] = {"remote": "--talks", "abandoned_s": "--abandon-after"}
"""Of `discussion-helper serve`, for those of the limits that have one."""


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
    watchers: int = 256
    """Streams of one session that are followed or answered at the same time: all the tabs that a browser may follow by
    WebSockets, of which it has 255 to a server."""
    microphones: int = 8
    """Connections of one session for a client's microphone, of which one at a time has it: no watcher takes their
    place."""
    all_watchers: int = 1500
    """Of all sessions; each is a connection."""
    connections: int = 2048
    """At the same time; strangers' too, of which there are fewer than what this leaves beside `all_watchers`."""
    strangers: int = 512
    """Of them those on which nothing has come yet that lets anybody in: with more, the oldest is closed."""
    strangers_of_one: int = 256
    """Of one address (64 bits of IPv6); not of a proxy that is trusted."""
    body: int = 64 * 1024
    """Bytes of a request's body."""
    request_s: float = 60.0
    """Until an answer begins: a first look at the models takes some seconds."""
    body_s: float = 10.0
    """Between two pieces of a request's body. The whole of it has as long, and 1 s more for each 4 KiB of `body`."""
    send_s: float = 30.0
    """How long a watcher may leave a full connection unread before that is closed; it can resume then."""
    held_bytes: int = 1024 * 1024
    """Of the events that wait for one watcher, or one event that is larger; with more it is too far behind."""
    heartbeat_s: float = 5.0
    """Between signs of life in a stream: a page takes a connection for lost after 12 s without any."""

    headers: int = 32 * 1024
    """Bytes of a request's headers."""
    headers_s: float = 5.0
    """Until a request's headers are there, or a connection is encrypted; the server closes it then. So long, too, may
    the rest of a body still come that was answered before."""
    rate: float = 200.0
    """Requests a second of one address; `Door.STRANGERS` of them without the token."""
    rate_of_all: float = 400.0
    """Requests a second of all."""
    burst_s: float = 10.0
    """How many seconds' worth of them may come at once: a page that opens asks for much."""
    wrong_a_minute: float = 10.0
    """Wrong tokens and passwords of one address; ten times as many of all, half of them kept for addresses that sent
    none of late."""

    @property
    def whole_body_s(self) -> float:
        """Until a request's whole body is there, however it comes."""
        return self.body_s + self.body / SLOWEST

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                what = f"{field.name}: {getattr(self, field.name)!r} is no limit."
                raise SettingError(what, fix="Use a number above 0.")


def raised_by(field: str) -> str:
    """How whoever runs the server raises that limit, for an error's fix."""
    option = _OPTIONS.get(field)
    return f"{f'serve {option}, ' if option else ''}create_app: Limits.{field}"

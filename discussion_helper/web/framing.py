"""How an event goes out: as one of a stream of server-sent events, or as a text message of a WebSocket."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from discussion_helper.web.encoding import encoded

__all__ = ["MESSAGES", "RETRY_MS", "SERVER_SENT", "Framing", "messages_of"]

RETRY_MS = 1000
"""What a browser is told to wait before it comes back."""
_PIECE = 4096
"""Characters of a message; in UTF-8 that is 16 KiB at most. A browser tells nothing of a message before all of it is
there, so that a large one would look like a dead connection on a slow link."""
_MORE, _LAST = "+", "."
"""What a piece begins with. No message does: those are JSON objects."""


@dataclass(frozen=True, slots=True)
class Framing:
    """Frames are UTF-8."""

    first: bytes
    """Before all events; b"" = nothing."""
    alive: bytes
    """A sign of life, which is no event."""
    of: Callable[[str, bytes, str], bytes]
    """The frame of an event of this kind, with this content in JSON, and this id; "" = it has none, as a `gap`."""


def _server_sent(kind: str, content: bytes, place: str) -> bytes:
    number = f"id: {place}\n".encode() if place else b""
    return b"%bevent: %b\ndata: %b\n\n" % (number, kind.encode(), content)


def _message(kind: str, content: bytes, place: str) -> bytes:
    number = b'"id":%b,' % encoded(place) if place else b""
    return b'{%b"event":%b,"data":%b}' % (number, encoded(kind), content)


def messages_of(frame: bytes) -> Iterator[str]:
    """The frame of a message, in pieces where it is large."""
    text = frame.decode()
    if len(text) <= _PIECE:
        yield text
        return
    for at in range(0, len(text), _PIECE):
        yield (_MORE if at + _PIECE < len(text) else _LAST) + text[at : at + _PIECE]


SERVER_SENT = Framing(b"retry: %d\n\n" % RETRY_MS, b":\n\n", _server_sent)
MESSAGES = Framing(b"", b"{}", _message)

"""How a connection of sound ends, as the server's close codes have it."""

from collections.abc import Mapping
from typing import Any

import httpx

from discussion_helper.client.answers import refusal_of
from discussion_helper.client.errors import NotLetIn, Refused, ServerError

__all__ = ["error_of", "is_over", "refusal_at"]

_OVER, _ROTATED = 1000, 1008
_ENDS: Mapping[int, tuple[str, str]] = {
    1001: ("The server stops.", "Come back when it runs again."),
    1009: ("A block of the microphone was too long.", "Give 5 to 200 ms at a time."),
    4001: ("Another client has taken the microphone.", "Take it back with take=True."),
    4003: ("The server took too many frames in a row for wrong.", "Use the client of the server's version."),
    4010: ("The server heard no hello in time.", "Try again."),
    4409: ("Another client has the microphone of this session.", "Take it with take=True."),
}
"""After any other one it may be made again."""


def is_over(code: int | None) -> bool:
    """It ended as it should. Raises ServerError where it cannot be made again."""
    if code == _ROTATED:
        raise NotLetIn("The token was rotated.")
    if code is not None and code in _ENDS:
        what, fix = _ENDS[code]
        raise ServerError(what, fix=fix)
    return code == _OVER


def error_of(message: Mapping[str, Any]) -> ServerError:
    """Of the server's `error` message."""
    return ServerError(str(message.get("what", "A frame was wrong."))[:500], fix=str(message.get("fix", ""))[:500])


def refusal_at(status: int, body: bytes, headers: Mapping[str, str]) -> Refused:
    """Of a WebSocket that was not opened."""
    return refusal_of(httpx.Response(status, content=body, headers={"retry-after": headers.get("retry-after", "")}))

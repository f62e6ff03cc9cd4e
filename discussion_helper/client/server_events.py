"""Server-sent events, as they come out of a stream of bytes."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from discussion_helper.client.errors import ServerError

__all__ = ["MOST_BYTES", "EventReader", "ServerEvent"]

MOST_BYTES = 16 * 1024 * 1024
"""Of one event. A snapshot holds a whole conversation, of which an hour has some 100 kB."""
_LONGEST_RETRY_S = 60.0


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event. `id`: where its reader is then, to resume from; "" in one that has no place of its own, as a `gap`."""

    id: str
    kind: str
    at_s: float | None
    """On the session's clock, where it says so."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The rest of it."""


class EventReader:
    """Bytes in, events out, wherever the bytes were parted. Lines end with \\n: texts may hold any other end of one."""

    def __init__(self) -> None:
        self.retry_s = 1.0
        """What the server wants to be waited before a reader comes back."""
        self._rest = b""
        self._fields: dict[bytes, bytes] = {}

    def feed(self, data: bytes) -> list[ServerEvent]:
        """The events that are whole now. Raises ServerError for what is none of this server."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MOST_BYTES:
            what = f"An event of the server has more than {MOST_BYTES} bytes."
            raise ServerError(what, fix="See whether it is a server of this program.")
        return list(self._events_of(lines))

    def _events_of(self, lines: list[bytes]) -> Iterator[ServerEvent]:
        for line in lines:
            name, colon, value = line.removesuffix(b"\r").partition(b":")
            if name:
                self._fields[name] = value.removeprefix(b" ")
            elif not colon and self._fields:  # an empty line; one that begins with a colon is a comment
                fields, self._fields = self._fields, {}
                self._note_retry(fields.get(b"retry", b""))
                if b"data" in fields:
                    yield _event(fields[b"data"], fields.get(b"id", b""))

    def _note_retry(self, value: bytes) -> None:
        if value.isdigit() and len(value) < 10:
            self.retry_s = min(_LONGEST_RETRY_S, int(value) / 1000)


def _event(data: bytes, place: bytes) -> ServerEvent:
    try:
        told = json.loads(data)
        kind, at_s = told["kind"], told.get("at_s")
        if not isinstance(kind, str) or not (at_s is None or isinstance(at_s, int | float)):
            raise ValueError("its kind or time is none")
        number = place.decode("ascii")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        fix = "See whether it is a server of this program."
        raise ServerError(f"An event of the server has another form ({error}).", fix=fix) from None
    rest = {name: value for name, value in told.items() if name not in ("kind", "at_s")}
    return ServerEvent(number, kind, at_s, rest)

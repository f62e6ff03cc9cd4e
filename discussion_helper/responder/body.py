"""The body of an endpoint's answer, read within bounds whatever it sends."""

import codecs
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

__all__ = ["MOST_BYTES", "Events", "TooLong", "is_stream", "shorten"]

MOST_BYTES = 128 * 1024
"""Of one event of a stream, and of an answer that is none: the client keeps either whole. A whole reply of 4000
characters in one event takes 48 kB at most (12 bytes an escape). Full of empty objects, one of this length takes the
client a second and 30 MB (measured)."""

_BLANK_LINES = (b"\n\n", b"\n\r\n", b"\r\r")
_DONE = re.compile(rb"[\r\n]data: ?\[DONE\]")
_LONGEST_MARK = 13
"""Bytes of the longest of these."""


class TooLong(Exception):
    """An event of the stream is longer than MOST_BYTES."""


def is_stream(response: Any) -> bool:
    """Whether a response of the HTTP client is a stream of events that answers a chat completion."""
    kind = response.headers.get("content-type", "")
    return bool(response.is_success and response.request.method == "POST" and kind.startswith("text/event-stream"))


async def shorten(response: Any) -> None:
    """A hook for every response of the HTTP client: of what is no stream, only the first MOST_BYTES are read."""
    if not is_stream(response):
        whole = response.aiter_bytes
        response.aiter_bytes = lambda: _beginning(whole())


async def _beginning(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    room = MOST_BYTES
    async with aclosing(parts):  # type: ignore[type-var]  # the client's is a generator
        async for part in parts:
            yield part[:room]
            room -= len(part)
            if room <= 0:
                return


class Events:
    """Watches the bytes of a stream of events on their way to the client, without keeping them.

    A byte that is no UTF-8 arrives there as U+FFFD: the client gives up at one, and it is a letter of a word at most.
    """

    def __init__(self, response: Any) -> None:
        """Watch `response`, a stream that nobody has begun to read."""
        self.done = False
        """The mark of a proper end, `data: [DONE]`, has come; what comes after it is not read."""
        self._size = 0  # of the event that is open
        self._tail = b"\n"
        whole = response.aiter_bytes
        response.aiter_bytes = lambda: self._watched(whole())

    async def _watched(self, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        text = codecs.getincrementaldecoder("utf-8")(errors="replace")
        async with aclosing(parts):  # type: ignore[type-var]  # the client's is a generator
            async for part in parts:
                self._take(part)
                yield text.decode(part).encode()
                if self.done:
                    return

    def _take(self, part: bytes) -> None:
        text = self._tail + part
        self.done = self.done or _DONE.search(text) is not None
        end = max(text.rfind(mark) + len(mark) if mark in text else 0 for mark in _BLANK_LINES)
        self._size = len(text) - end if end else self._size + len(part)
        self._tail = text[-_LONGEST_MARK:]
        if self._size > MOST_BYTES:
            raise TooLong

"""A hub: a server that keeps repositories of model files, and downloads that go on where they broke off."""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Self

import httpx

from discussion_helper.errors import SettingError
from discussion_helper.models.part import Part, SourceFailed

__all__ = ["Hub"]

_ATTEMPTS = 5
"""Requests for one file, as long as each brings it forward."""

_MOST_STEPS = 10
"""Addresses asked one after the other for one file: a hub points to where the bytes are, in one step or two."""

_SLOWEST = 1024
"""Bytes a second, on average over a request, below which a server counts as stalled."""

_RANGE = re.compile(r"bytes (\d+)-\d+/(?:\d+|\*)")


class Hub:
    """Fetches files from the hub at `base`: the argument, else DISCUSSION_HELPER_HUB, else HF_ENDPOINT, else
    https://huggingface.co. A hub that cannot be reached is asked once, not again for every file.

    `connect_s` limits the wait for a connection (for each address of the server), `stall_s` the wait for the next
    bytes. A context manager; it holds its connections until it is closed.
    """

    def __init__(self, base: str | None = None, *, connect_s: float = 4.0, stall_s: float = 20.0) -> None:
        self._base, self.name = _checked(base or _configured())
        self._stall_s = stall_s
        self._timeout = httpx.Timeout(stall_s, connect=connect_s)
        self._client: httpx.Client | None = None
        self._unreachable = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.close()

    def fetch(self, route: str, part: Part, report: Callable[[int], None]) -> None:
        """Bring `part` to its full size, going on from what it has, and settle it.

        `report` is given the bytes that have arrived. Raises SourceFailed, and OSError when they cannot be written.
        """
        resumed = part.size > 0
        self._complete(route, part, report)
        try:
            part.settle()
        except SourceFailed:
            if not resumed:  # what was kept from an earlier time may be what is wrong
                raise
            self._complete(route, part, report)
            part.settle()

    def _complete(self, route: str, part: Part, report: Callable[[int], None]) -> None:
        if part.size > part.file.size:
            part.discard()
        reason = ""
        for _ in range(_ATTEMPTS):
            before = part.size
            if before == part.file.size:
                return
            try:
                self._receive(route, part, before, report)
                reason = f"{self.name} sent {part.size} of {part.file.size} bytes of {part.file.path}"
            except (httpx.ReadTimeout, TimeoutError):
                reason = f"{self.name} sent nothing more of {part.file.path} for {self._stall_s:g} s"
            except (httpx.ReadError, httpx.RemoteProtocolError):
                reason = f"{self.name} broke off in {part.file.path}"
            begins_anew = before > 0 and part.size == 0
            if part.size <= before and not begins_anew:
                break
        if part.size != part.file.size:
            raise SourceFailed(reason)

    def _receive(self, route: str, part: Part, offset: int, report: Callable[[int], None]) -> None:
        """One request, from `offset` on. A 416 or a wrong range discards the part, so that the next one starts anew."""
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-"} if offset else {})
        try:
            with self._asked(self._base + route, headers) as response:
                if offset and not _continues(response, offset):
                    part.discard()
                    return
                self._check(response, part, offset)
                self._copy(response, part, offset if response.status_code == httpx.codes.PARTIAL_CONTENT else 0, report)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            self._unreachable = f"{self.name} cannot be reached ({_plain(error)})"
            raise SourceFailed(self._unreachable) from error
        except (httpx.ReadTimeout, httpx.ReadError, httpx.RemoteProtocolError):
            raise
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SourceFailed(f"{self.name}: {_plain(error)}") from error

    @contextmanager
    def _asked(self, url: str, headers: dict[str, str]) -> Iterator[httpx.Response]:
        """The answer, wherever the hub points to; what a redirection itself holds is never read."""
        client = self._connected()
        request = client.build_request("GET", url, headers=headers)
        for _ in range(_MOST_STEPS):
            with closing(client.send(request, stream=True)) as response:
                if response.next_request is None:
                    yield response
                    return
                request = response.next_request
        raise SourceFailed(f"{self.name} points on and on, {_MOST_STEPS} times")

    def _check(self, response: httpx.Response, part: Part, offset: int) -> None:
        if response.status_code not in (httpx.codes.OK, httpx.codes.PARTIAL_CONTENT):
            raise SourceFailed(f"{self.name} answered {response.status_code} for {part.file.path}")
        begins = offset if response.status_code == httpx.codes.PARTIAL_CONTENT else 0
        length = response.headers.get("Content-Length", "")
        encoded = response.headers.get("Content-Encoding", "identity") != "identity"
        if length.isdecimal() and not encoded and begins + int(length) != part.file.size:
            raise SourceFailed(
                f"{self.name} offers {begins + int(length)} bytes for {part.file.path} instead of {part.file.size}"
            )

    def _copy(self, response: httpx.Response, part: Part, offset: int, report: Callable[[int], None]) -> None:
        begun, done = time.monotonic(), offset
        with part.open(at=offset) as out:
            for chunk in response.iter_bytes():
                done += len(chunk)
                if done > part.file.size:
                    raise SourceFailed(f"{self.name} sends more than {part.file.size} bytes for {part.file.path}")
                out.write(chunk)
                out.flush()  # so that a killed download keeps what it had
                report(done)
                took = time.monotonic() - begun
                if took > self._stall_s and done - offset < took * _SLOWEST:
                    raise TimeoutError

    def _connected(self) -> httpx.Client:
        if self._unreachable:
            raise SourceFailed(self._unreachable)
        if self._client is None:
            try:
                self._client = httpx.Client(timeout=self._timeout)
            except (ValueError, OSError, ImportError, httpx.InvalidURL) as error:  # proxy and certificate settings
                self._unreachable = f"{self.name} cannot be asked ({_plain(error)})"
                raise SourceFailed(self._unreachable) from error
        return self._client


def _configured() -> str:
    return os.environ.get("DISCUSSION_HELPER_HUB") or os.environ.get("HF_ENDPOINT") or "https://huggingface.co"


def _checked(base: str) -> tuple[str, str]:
    """The base without a slash at its end, and the server's name, which alone appears in texts."""
    try:
        url = httpx.URL(base)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host or url.query or url.fragment:
        raise SettingError(
            "DISCUSSION_HELPER_HUB is not the address of a hub.", fix="Set it to one such as https://huggingface.co."
        )
    return base.rstrip("/"), url.host if url.port is None else f"{url.host}:{url.port}"


def _continues(response: httpx.Response, offset: int) -> bool:
    """Whether the answer to a request for a range does not contradict it. The whole file (200) is no contradiction."""
    if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
        return False
    if response.status_code != httpx.codes.PARTIAL_CONTENT:
        return True
    begins = _RANGE.match(response.headers.get("Content-Range", ""))
    return begins is not None and int(begins[1]) == offset


def _plain(error: Exception) -> str:
    """One line, without an address in it: one may carry a password."""
    text = re.sub(r"^\[Errno -?\d+\] ", "", " ".join(str(error).split())) or type(error).__name__
    return re.sub(r"\S+://\S+", "<address>", text)

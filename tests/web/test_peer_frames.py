"""What a peer may send to a WebSocket of a real server: a close code, and not one line of the log."""

import base64
import logging
import os
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import anyio
import anyio.abc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.web import Limits, Server, bound_socket, create_app
from discussion_helper.web.audio_wire import MOST_BYTES, SUBPROTOCOL
from discussion_helper.web.peer_frames import MOST_FRAGMENTS

pytestmark = pytest.mark.anyio

WITHIN_S = 20.0
HELLO = b'{"type": "hello", "rate": 8000}'
CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def frame(
    opcode: int, data: bytes = b"", *, fin: bool = True, rsv: int = 0, masked: bool = True, more: int = 0
) -> bytes:
    """As a client sends it. `more`: bytes that it says it has, and has not."""
    head, length = bytes([fin << 7 | rsv << 4 | opcode]), len(data) + more
    bit = masked << 7
    if length < 126:
        head += bytes([bit | length])
    elif length < 2**16:
        head += bytes([bit | 126]) + struct.pack("!H", length)
    else:
        head += bytes([bit | 127]) + struct.pack("!Q", length)
    return head + (bytes(4) if masked else b"") + data  # a mask of zeros changes nothing


def head_of(path: str, *more: str) -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade"]
    lines += ["Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}", f"Sec-WebSocket-Protocol: {SUBPROTOCOL}", *more]
    return "\r\n".join([*lines, "", ""]).encode()


class Told(logging.Handler):
    """What is logged as a warning or worse, by anybody."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def listening_to_logs() -> Iterator[list[str]]:
    """Inside a server: uvicorn hands nothing on to the root, and takes other handlers away when it begins."""
    told, loggers = Told(), [logging.getLogger(name) for name in ("", "uvicorn.error")]
    for logger in loggers:
        logger.addHandler(told)
    try:
        yield told.lines
    finally:
        for logger in loggers:
            logger.removeHandler(told)


@asynccontextmanager
async def served(**options: Any) -> AsyncIterator[tuple[list[str], int]]:
    """What it logs, and its port."""
    app = create_app(token=None, open_remote=lambda wish: fake_remote_talk((), policy=wish.policy), **options)
    started = anyio.Event()
    server = Server(app, started=started.set)
    with bound_socket("127.0.0.1", 0) as listening:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            await started.wait()
            with listening_to_logs() as logged:
                yield logged, listening.getsockname()[1]
                server.should_exit = True


async def opened(port: int) -> str:
    """The path of the sound of a session."""
    body = b'{"transport": "remote"}'
    head = f"POST /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    async with await anyio.connect_tcp("127.0.0.1", port) as asking:
        await asking.send(head + body)
        answer = await asking.receive()
    return answer.decode().partition("location: ")[2].partition("\r\n")[0] + "/audio"


@asynccontextmanager
async def connected(port: int, path: str, *more: str) -> AsyncIterator[anyio.abc.SocketStream]:
    async with await anyio.connect_tcp("127.0.0.1", port) as peer:
        await peer.send(head_of(path, *more))
        assert (await peer.receive()).startswith(b"HTTP/1.1 101")
        yield peer


async def rest_of(peer: anyio.abc.SocketStream) -> bytes:
    """All that comes until the server closes."""
    told = b""
    with anyio.fail_after(WITHIN_S):
        try:
            while True:
                told += await peer.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return told


def code_in(told: bytes) -> int:
    """Of the close frame in it; 0 = there is none."""
    while told:
        opcode, length, at = told[0] & 15, told[1], 2
        if length == 126:
            (length,), at = struct.unpack_from("!H", told, 2), 4
        if opcode == CLOSE:
            return int.from_bytes(told[at : at + 2], "big")
        told = told[at + length :]
    return 0


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        pytest.param(frame(TEXT, b'{"type": "\xff"}'), 1007, id="text that is no utf-8"),
        pytest.param(frame(TEXT, b"\xff") + frame(PING) * 20 + frame(TEXT, b"\xff"), 1007, id="and pings behind it"),
        pytest.param(frame(TEXT, b"\xc3", fin=False) + frame(CONT, b"("), 1007, id="in pieces that are no utf-8"),
        pytest.param(frame(BINARY, bytes(MOST_BYTES + 1)), 1009, id="too long"),
        pytest.param(frame(BINARY, more=10**9), 1009, id="says that it is huge"),
        pytest.param(frame(BINARY, more=2**63), 1009, id="a length of 64 bits"),
        pytest.param(frame(TEXT, bytes(MOST_BYTES), fin=False) + frame(CONT, b"x"), 1009, id="too long in pieces"),
        pytest.param(
            frame(TEXT, fin=False) + frame(CONT, fin=False) * (MOST_FRAGMENTS + 10), 1009, id="too many empty pieces"
        ),
        *(pytest.param(frame(opcode), 1002, id=f"opcode {opcode}") for opcode in (3, 7, 11, 15)),
        *(pytest.param(frame(TEXT, b"{}", rsv=rsv), 1002, id=f"reserved {rsv}") for rsv in (1, 2, 4)),
        pytest.param(frame(TEXT, b"{}", masked=False), 1002, id="no mask"),
        pytest.param(frame(PING, fin=False), 1002, id="a ping in pieces"),
        pytest.param(frame(PING, bytes(126)), 1002, id="a long ping"),
        pytest.param(frame(CONT, b"x"), 1002, id="goes on with nothing"),
        pytest.param(frame(TEXT, fin=False) + frame(TEXT, b"{}"), 1002, id="a text inside a text"),
        pytest.param(frame(CLOSE, b"\x03"), 1002, id="half a close code"),
        pytest.param(frame(CLOSE, struct.pack("!H", 1005)), 1002, id="a close code that is none"),
        pytest.param(frame(CLOSE, struct.pack("!H", 1000) + b"\xff"), 1007, id="a reason that is no utf-8"),
        pytest.param(frame(CLOSE, struct.pack("!H", 3000) + b"bye"), 3000, id="closes"),
    ],
)
@pytest.mark.parametrize("said", [b"", frame(TEXT, HELLO)], ids=["before hello", "after hello"])
async def test_what_is_wrong_closes_with_its_code_and_nothing_is_logged(sent: bytes, code: int, said: bytes) -> None:
    async with served() as (logged, port), connected(port, await opened(port)) as peer:
        await peer.send(said + sent)
        told = await rest_of(peer)

    assert code == code_in(told)
    assert [] == logged


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ([f"X-{number}: y" for number in range(140)], b"431"),
        (["X-Long: " + "x" * 9000], b"431"),
        (["Content-Length: 5"], b"400"),
        (["Sec-WebSocket-Key: again"], b"400"),
    ],
    ids=["many", "long", "a body", "two keys"],
)
async def test_headers_that_no_websocket_has_are_answered_and_closed(more: list[str], status: bytes) -> None:
    async with served() as (logged, port):
        path = await opened(port)
        async with await anyio.connect_tcp("127.0.0.1", port) as peer:
            await peer.send(head_of(path, *more))
            answer = await rest_of(peer)

    assert status == answer.split(b" ")[1]
    assert [] == logged


async def test_frames_that_do_not_wait_for_the_answer_end_the_connection_and_nothing_else() -> None:
    async with served() as (logged, port):
        path = await opened(port)
        for early in (frame(TEXT, b"\xff"), frame(PING), frame(3), frame(CLOSE), b"\x00" * 50):
            for parted in (False, True):
                async with await anyio.connect_tcp("127.0.0.1", port) as peer:
                    head = head_of(path)
                    await peer.send(head if parted else head + early)
                    await peer.send(early)
                    await peer.send(frame(CLOSE))
                    await rest_of(peer)

    assert [] == logged


async def test_who_reads_no_pongs_gets_no_more_of_them() -> None:
    async with served() as (logged, port), connected(port, await opened(port)) as peer:
        with anyio.move_on_after(2.0):
            for _ in range(300):
                await peer.send(frame(PING, bytes(125)) * 400)
                await anyio.lowlevel.checkpoint()

    assert [] == logged


FRAMES = st.lists(
    st.one_of(
        st.builds(
            frame,
            st.integers(0, 15),
            st.binary(max_size=200),
            fin=st.booleans(),
            rsv=st.sampled_from([0, 0, 0, 1, 7]),
            masked=st.sampled_from([True, True, True, False]),
            more=st.sampled_from([0, 0, 0, 1, 70_000, 2**40]),
        ),
        st.just(frame(TEXT, HELLO)),
        st.binary(max_size=60),
    ),
    max_size=12,
)


@given(peers=st.lists(FRAMES, min_size=10, max_size=10))
@settings(max_examples=4)
def test_whatever_bytes_come_the_server_lives_and_logs_nothing(peers: list[list[bytes]]) -> None:
    async def run() -> None:
        async with served(limits=Limits(rate=1e6, rate_of_all=1e6)) as (logged, port):
            path = await opened(port)
            for several in peers:
                async with connected(port, path) as peer:
                    with anyio.move_on_after(0.2), suppress(anyio.BrokenResourceError):
                        await peer.send(b"".join(several) + frame(CLOSE))
                        await rest_of(peer)
            async with connected(port, path) as again:
                await again.send(frame(TEXT, b'{"type": "hello", "rate": 8000, "take": true}'))
                assert b"welcome" in await again.receive()
        assert [] == logged

    anyio.run(run)

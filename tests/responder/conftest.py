"""An OpenAI-compatible endpoint on 127.0.0.1 that answers as a test tells it to."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest


@dataclass
class Exchange:
    """One request as it arrived, and the means to answer it byte by byte."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    writer: asyncio.StreamWriter
    gone: anyio.Event = field(default_factory=anyio.Event)
    """Set when the client has closed its side."""

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def respond(self, status: int, body: bytes, kind: str = "application/json") -> None:
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        await self.send(head.encode() + b"Connection: close\r\n\r\n" + body)

    async def refuse(self, status: int, message: str = "") -> None:
        await self.respond(status, json.dumps({"error": {"message": message}}).encode())

    async def begin(self, *, chunked: bool = True) -> None:
        """The head of a stream. One that is not chunked ends where the connection ends."""
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
        await self.send(head + (b"Transfer-Encoding: chunked\r\n\r\n" if chunked else b"\r\n"))

    async def data(self, text: str, *, chunked: bool = True) -> None:
        line = f"data: {text}\n\n".encode()
        await self.send(b"%x\r\n%s\r\n" % (len(line), line) if chunked else line)

    async def delta(self, *, chunked: bool = True, finish: str | None = None, **delta: Any) -> None:
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        await self.data(json.dumps({**chunk, "choices": [_choice(delta, finish)]}), chunked=chunked)

    async def end(self) -> None:
        await self.data("[DONE]")
        await self.send(b"0\r\n\r\n")

    async def stream(self, *pieces: str) -> None:
        """A whole reply."""
        await self.begin()
        for piece in pieces:
            await self.delta(content=piece)
        await self.delta(finish="stop")
        await self.end()


def _choice(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish}


Answer = Callable[[Exchange], Awaitable[None]]


class FakeEndpoint:
    """`answer` is called for each request; the connection closes when it returns."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.answer: Answer = lambda exchange: exchange.stream("Hello there.")
        self._handlers: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def host(self) -> str:
        assert self._server is not None
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def base_url(self) -> str:
        return f"http://{self.host}/v1"

    async def __aenter__(self) -> "FakeEndpoint":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        try:
            exchange = await _read(reader, writer)
            self.exchanges.append(exchange)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_watch, reader, exchange)
                await self.answer(exchange)
                tasks.cancel_scope.cancel()
        except (OSError, asyncio.IncompleteReadError, BaseExceptionGroup):  # the client went away, or sent nothing
            pass
        finally:
            self._handlers.discard(task)
            writer.close()


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Exchange:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Exchange(first.split()[1], headers, json.loads(body or b"{}"), writer)


async def _watch(reader: asyncio.StreamReader, exchange: Exchange) -> None:
    with contextlib.suppress(OSError):
        await reader.read()
    exchange.gone.set()


@pytest.fixture
async def endpoint() -> AsyncIterator[FakeEndpoint]:
    async with FakeEndpoint() as endpoint:
        yield endpoint

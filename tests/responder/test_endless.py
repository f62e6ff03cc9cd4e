"""Endpoints that never stop sending: little of it is read, and the error comes within the limits."""

import gzip
import json
import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from discussion_helper.errors import DiscussionError, EndpointRefused, EndpointStalled, ResponderError
from discussion_helper.responder.body import MOST_BYTES
from discussion_helper.responder.endpoint import EndpointResponder
from discussion_helper.types import Message

if TYPE_CHECKING:
    from tests.responder.conftest import Exchange, FakeEndpoint

pytestmark = pytest.mark.anyio

HELLO: list[Message] = [{"role": "user", "content": "Hello?"}]
BUFFERED = 16 * 1024 * 1024
"""More than the sockets' buffers hold on both sides."""
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def responder(endpoint: "FakeEndpoint", **limits: float) -> EndpointResponder:
    return EndpointResponder(base_url=endpoint.base_url, model="m", **limits)  # type: ignore[arg-type]


class Flood:
    """Answers with a head, then with the same bytes for ever."""

    def __init__(self, head: bytes, again: bytes) -> None:
        self.head, self.again = head, again
        self.sent = 0

    async def __call__(self, exchange: "Exchange") -> None:
        self.sent = 0
        await exchange.send(self.head)
        while not exchange.gone.is_set():
            await exchange.send(self.again)
            self.sent += len(self.again)


async def failure(answering: EndpointResponder) -> DiscussionError:
    with pytest.raises(ResponderError) as caught:
        async for _ in answering.reply(HELLO):
            pass
    await answering.aclose()
    return caught.value


@pytest.mark.parametrize("status", [307, 400, 404, 500])
@pytest.mark.parametrize("kind", ["application/json", "text/html", "text/event-stream"])
async def test_an_endless_error(endpoint: "FakeEndpoint", status: int, kind: str) -> None:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n\r\n"
    flood = endpoint.answer = Flood(head.encode(), b"data: no\n\n" * 5000)
    error = await failure(responder(endpoint))
    assert isinstance(error, EndpointRefused)
    assert f"({status} " in error.what
    assert len(str(error)) < 600
    assert flood.sent < BUFFERED


@pytest.mark.parametrize(
    "again", [b"x" * 60_000, b"data: x\n" * 8000, b"data: \r" * 8000, b":" * 60_000], ids=["", "data", "cr", "comment"]
)
async def test_an_endless_event(endpoint: "FakeEndpoint", again: bytes) -> None:
    flood = endpoint.answer = Flood(STREAM + b"data: ", again)
    error = await failure(responder(endpoint))
    assert isinstance(error, EndpointRefused)
    assert error.what == f"{endpoint.host} sent 128 KiB in one event of a stream of chat completions."
    assert flood.sent < BUFFERED


async def test_an_endless_event_after_the_first_text(endpoint: "FakeEndpoint") -> None:
    said = b'data: {"choices": [{"delta": {"content": "Well. "}}]}\n\n'
    endpoint.answer = Flood(STREAM + said, b"x" * 60_000)
    answering = responder(endpoint)
    clauses: Any = answering.reply(HELLO)
    assert await anext(clauses) == "Well."
    with pytest.raises(EndpointRefused, match="128 KiB in one event"):
        await anext(clauses)
    await answering.aclose()


@pytest.mark.parametrize("again", [b": keep-alive\n\n" * 50, b"event: ping\ndata: {}\n\n" * 50, b"\n" * 1000])
async def test_endless_events_that_say_nothing(endpoint: "FakeEndpoint", again: bytes) -> None:
    endpoint.answer = Flood(STREAM, again)
    began = time.perf_counter()
    error = await failure(responder(endpoint, first_token_s=0.3))
    assert isinstance(error, EndpointStalled)
    assert "has not begun to answer within 0.3 s" in error.what
    assert time.perf_counter() - began < 5  # the machine may be busy


async def test_an_endless_list_of_models(endpoint: "FakeEndpoint") -> None:
    flood = endpoint.answer = Flood(STREAM, b"data: x\n\n" * 5000)
    answering = responder(endpoint)
    await answering.warmup()
    await answering.aclose()
    assert flood.sent < BUFFERED


async def test_a_small_body_that_unpacks_to_a_large_one(endpoint: "FakeEndpoint") -> None:
    packed = gzip.compress(b"x" * 50 * MOST_BYTES)
    head = b"HTTP/1.1 400 X\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    endpoint.answer = lambda exchange: exchange.send(head + packed)
    error = await failure(responder(endpoint))
    assert isinstance(error, EndpointRefused)
    assert "(400 Bad Request): " in error.what


async def test_json_that_is_too_deep(endpoint: "FakeEndpoint") -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.data("[" * 100_000)

    endpoint.answer = answer
    assert "not a stream of chat completions" in (await failure(responder(endpoint))).what


def content(text: str) -> bytes:
    return f"data: {json.dumps({'choices': [{'delta': {'content': text}}]})}\r\n\r\n".encode()


@pytest.mark.parametrize("cut", [1, 7, 1000, 10**6])
async def test_a_long_stream_of_short_events_is_read_to_its_end(endpoint: "FakeEndpoint", cut: int) -> None:
    whole = content("") * (20 if cut < 100 else 8000) + content("That is all.") + b"data: [DONE]\r\n\r\n"

    async def answer(exchange: "Exchange") -> None:
        await exchange.begin(chunked=False)
        for at in range(0, len(whole), cut):
            await exchange.send(whole[at : at + cut])

    endpoint.answer = answer
    answering = responder(endpoint)
    with anyio.fail_after(30):
        assert [clause async for clause in answering.reply(HELLO)] == ["That is all."]
    await answering.aclose()

"""Endpoints at the wrong address: each kind of mistake is named, at once, and nothing is sent elsewhere."""

import asyncio
import socket
import ssl
import time
import traceback
from typing import TYPE_CHECKING, Any

import pytest

from discussion_helper.errors import DiscussionError, EndpointRefused, EndpointUnreachable, ResponderError
from discussion_helper.responder.endpoint import EndpointResponder
from discussion_helper.responder.unreachable import why
from discussion_helper.types import Message

if TYPE_CHECKING:
    from tests.responder.conftest import Exchange, FakeEndpoint

pytestmark = pytest.mark.anyio

KEY = "sk-test-a/b+c"
HELLO: list[Message] = [{"role": "user", "content": "Hello?"}]


async def failures(base_url: str) -> list[DiscussionError]:
    """Of warming up and of a reply, which must not differ."""
    responder = EndpointResponder(base_url=base_url, model="m", api_key=KEY)
    with pytest.raises(ResponderError) as warming:
        await responder.warmup()
    with pytest.raises(ResponderError) as replying:
        await anext(responder.reply(HELLO))
    await responder.aclose()
    for error in (warming.value, replying.value):
        assert KEY not in "".join(traceback.format_exception(error))
    return [warming.value, replying.value]


async def failure(base_url: str, kind: type[ResponderError]) -> DiscussionError:
    warming, replying = await failures(base_url)
    assert str(warming) == str(replying)
    assert type(warming) is type(replying) is kind
    assert "\n" not in str(warming)
    return warming


async def test_a_refused_connection_is_told_at_once() -> None:
    began = time.perf_counter()
    error = await failure("http://127.0.0.1:9/v1", EndpointUnreachable)
    assert "nothing listens there" in error.what
    assert time.perf_counter() - began < 3  # it takes 0.02 s; the client is imported too


@pytest.mark.parametrize("host", ["localhost", "nobody.invalid"])
async def test_a_name_that_is_not_known(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setenv("NO_PROXY", "*")
    error = await failure(f"http://{host}/v1", EndpointUnreachable)
    assert error.what == f"{host} cannot be reached: its name is not known."
    assert error.fix == "Check the name in the URL, and the network."


async def test_tls_where_there_is_none() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        error = await failure(f"https://{host}/v1", EndpointUnreachable)
    assert error.what == f"{host} cannot be reached over TLS."
    assert "http:// for one without" in error.fix


async def test_what_does_not_speak_http(endpoint: "FakeEndpoint") -> None:
    endpoint.answer = lambda exchange: exchange.send(b"\x15\x03\x03\x00\x02\x02\x46")  # a TLS alert
    error = await failure(endpoint.base_url, EndpointUnreachable)
    assert "without an answer over HTTP" in error.what
    assert "https:// is for a server with TLS" in error.fix


@pytest.mark.parametrize(("status", "kind"), [(200, "text/event-stream"), (400, "text/plain")])
async def test_a_body_that_is_not_compressed_as_it_says(endpoint: "FakeEndpoint", status: int, kind: str) -> None:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n"
    endpoint.answer = lambda exchange: exchange.send(head.encode() + b"not a zip")
    error = await failure(endpoint.base_url, EndpointRefused)
    assert error.what == f"{endpoint.host} sent an answer that is not compressed the way it says (Content-Encoding)."


def test_a_certificate_that_is_not_trusted() -> None:
    inner = ssl.SSLCertVerificationError(1, "certificate verify failed")
    inner.verify_message = "self-signed certificate."
    group = ExceptionGroup("two addresses", [ConnectionAbortedError(), inner])
    outer, middle = RuntimeError(), OSError("all attempts failed")
    outer.__context__, middle.__cause__ = middle, group
    assert why(outer)[0] == "has a certificate that is not trusted (self-signed certificate)"


def test_causes_in_a_circle_end() -> None:
    first, second = OSError(), OSError()
    first.__cause__, second.__cause__ = second, first
    assert why(first) == ("cannot be reached", "")


def moved(to: str, status: int = 307) -> bytes:
    return f"HTTP/1.1 {status} X\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_another_address_is_named_and_not_followed(endpoint: "FakeEndpoint", status: int) -> None:
    to = f"http://user:secret@{endpoint.host}/elsewhere?key={KEY}#x"
    endpoint.answer = lambda exchange: exchange.send(moved(to, status))
    error = await failure(endpoint.base_url, EndpointRefused)
    assert f"{endpoint.host} points to another address, http://{endpoint.host}/elsewhere ({status} " in error.what
    assert "name its address" in error.fix
    assert [exchange.path for exchange in endpoint.exchanges] == ["/v1/models", "/v1/chat/completions"]


async def test_a_circle_is_named(endpoint: "FakeEndpoint") -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.send(moved(exchange.path))

    endpoint.answer = answer
    _, error = await failures(endpoint.base_url)
    url = f"{endpoint.base_url}/chat/completions"
    assert error.what == f"{endpoint.host} points in a circle: {url} leads to itself (307 Temporary Redirect)."


@pytest.mark.parametrize("to", ["", "http://[", "\x1b[2J"])
async def test_an_address_that_is_none(endpoint: "FakeEndpoint", to: str) -> None:
    endpoint.answer = lambda exchange: exchange.send(moved(to))
    for error in await failures(endpoint.base_url):
        assert isinstance(error, ResponderError)
        assert "\x1b" not in str(error)


@pytest.mark.parametrize(
    ("header", "fix"),
    [("17", "Wait 17 s,"), ("", "Wait a little,"), ("Fri, 31 Dec 1999 23:59:59 GMT", "Wait a little,")],
)
async def test_how_long_to_wait_is_told(endpoint: "FakeEndpoint", header: str, fix: str) -> None:
    head = f"HTTP/1.1 429 X\r\nRetry-After: {header}\r\nContent-Length: 0\r\n\r\n"
    endpoint.answer = lambda exchange: exchange.send(head.encode())
    responder = EndpointResponder(base_url=endpoint.base_url, model="m")
    with pytest.raises(EndpointRefused) as caught:
        await anext(responder.reply(HELLO))
    await responder.aclose()
    assert caught.value.fix.startswith(fix)


@pytest.mark.parametrize("echo", [f"Bearer {KEY}", "key=sk-test-a%2Fb%2Bc", "x" * 195 + KEY, "y" * 1995 + KEY])
async def test_a_key_that_the_server_repeats_is_left_out(endpoint: "FakeEndpoint", echo: str) -> None:
    endpoint.answer = lambda exchange: exchange.refuse(500, echo)
    for error in await failures(endpoint.base_url):
        assert "sk-test" not in str(error)

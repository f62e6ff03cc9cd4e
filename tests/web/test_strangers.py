"""Connections on which nothing has come that lets anybody in: they keep nobody out who has the token."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.abc
import httpx
import pytest
from starlette.applications import Starlette

from discussion_helper.errors import SettingError
from discussion_helper.web import Limits, Server, bound_socket
from discussion_helper.web.http1 import Http1
from discussion_helper.web.strangers import Strangers, among
from discussion_helper.web.tls import tls_context

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
CERT, KEY = (Path(__file__).parent / f"loopback-{what}.pem" for what in ("cert", "key"))
TOKEN = "a-token-of-which-nobody-guesses-the-rest"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
WITHIN_S = 20.0


class One:
    """A connection from somewhere."""

    def __init__(self, address: str, gone: list["One"]) -> None:
        self.address = address
        self._gone = gone

    def send_away(self) -> None:
        self._gone.append(self)


async def thinned(strangers: Strangers, addresses: list[str]) -> list[int]:
    """The numbers of those that are sent away, in their order."""
    gone: list[One] = []
    several = [One(address, gone) for address in addresses]
    for one in several:
        strangers.add(one)
    for _ in range(4):
        await anyio.lowlevel.checkpoint()
    return [several.index(one) for one in gone]


@pytest.mark.parametrize(
    ("addresses", "gone"),
    [
        (["1.1.1.1"] * 3, []),
        (["1.1.1.1"] * 5, [0, 1]),
        (["1.1.1.1"] * 4 + ["2.2.2.2"], [0]),
        (["2.2.2.2", *["1.1.1.1"] * 3, "3.3.3.3", "4.4.4.4"], [1]),  # whoever has the most, not the oldest of all
        (["1.1.1.1", "2.2.2.2", "3.3.3.3", "4.4.4.4", "5.5.5.5", "6.6.6.6"], [0]),
        (["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4"], [0]),  # one line of somebody's
        (["2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:3::1", "2001:db8:0:4::1"], []),
        (["::ffff:1.1.1.1"] * 2 + ["1.1.1.1"] * 2, [0]),
        (["::ffff:1.1.1.1", "::ffff:1.1.1.2", "::ffff:1.1.1.3", "::ffff:1.1.1.4"], []),
        (["10.0.0.1"] * 5, []),  # a proxy
        (["10.0.0.1"] * 6, [0]),
        ([""] * 4, [0]),
    ],
)
async def test_of_too_many_the_oldest_goes(addresses: list[str], gone: list[int]) -> None:
    strangers = Strangers(of_one=3, of_all=5, trusted=among(["10.0.0.0/8"]))

    assert gone == await thinned(strangers, addresses)
    assert len(addresses) - len(gone) == len(strangers)


async def test_who_was_let_in_or_has_left_counts_no_more() -> None:
    strangers, gone = Strangers(of_one=2, of_all=2), list[One]()
    first, *others = [One("1.1.1.1", gone) for _ in range(3)]
    strangers.add(first)
    strangers.add(first)
    strangers.discard(first)
    strangers.discard(first)
    for one in others:
        strangers.add(one)
    await anyio.sleep(0.01)

    assert ([], 2) == (gone, len(strangers))


def test_a_proxy_that_is_no_address_is_told() -> None:
    with pytest.raises(SettingError, match="proxies: 'localhost' is no address"):
        among(["localhost"])


@asynccontextmanager
async def served(app: Starlette, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[tuple[Server, int]]:
    started = anyio.Event()
    server = Server(app, started=started.set, tls=tls)
    with bound_socket("127.0.0.1", 0) as listening:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            await started.wait()
            yield server, listening.getsockname()[1]
            server.should_exit = True


async def idlers(stack: AsyncExitStack, port: int, count: int, sent: bytes = b"") -> list[anyio.abc.SocketStream]:
    """Connections that send this much, and then nothing."""
    several = []
    for _ in range(count):
        one = await stack.enter_async_context(await anyio.connect_tcp("127.0.0.1", port))
        if sent:
            await one.send(sent)
        several.append(one)
    return several


async def is_closed(one: anyio.abc.SocketStream) -> bool:
    """By the server, without an answer; or it waits for more."""
    with anyio.move_on_after(WITHIN_S):
        try:
            await one.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return True
    return False


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(WITHIN_S):
        while not condition():
            await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"])
@pytest.mark.parametrize("encrypted", [False, True])
async def test_who_has_the_token_comes_in_while_many_strangers_idle(
    app_of: AppOf, sent: bytes, encrypted: bool
) -> None:
    app = app_of(token=TOKEN, limits=Limits(strangers_of_one=10, connections=40, headers_s=60.0))
    tls, verify = (tls_context(CERT, KEY), ssl.create_default_context(cafile=str(CERT))) if encrypted else (None, False)
    async with served(app, tls=tls) as (server, port), AsyncExitStack() as stack:
        connections = server.server_state.connections
        first, *_ = await idlers(stack, port, 100, sent)
        owner = httpx.AsyncClient(base_url=f"http{'s' * encrypted}://127.0.0.1:{port}", headers=BEARER, verify=verify)
        async with owner:
            answers = [await owner.get("/sessions")]
            assert await is_closed(first)
            await until(lambda: len(connections) <= 11)
            (mine,) = (one for one in connections if isinstance(one, Http1) and one._is_known)
            await idlers(stack, port, 30, sent)
            answers.append(await owner.get("/sessions"))
            assert mine in connections  # it was let in: it is not the oldest of the strangers

    assert [200, 200] == [answer.status_code for answer in answers]


async def test_whoever_was_refused_since_is_a_stranger_again(app_of: AppOf) -> None:
    app = app_of(token=TOKEN, limits=Limits(strangers_of_one=2))
    async with served(app) as (server, port), httpx.AsyncClient() as client, AsyncExitStack() as stack:
        url, connections = f"http://127.0.0.1:{port}/sessions", server.server_state.connections
        await client.get(url, headers=BEARER)
        (connection,) = connections
        await idlers(stack, port, 4)
        await until(lambda: len(connections) == 3)
        assert connection in connections
        assert 401 == (await client.get(url)).status_code
        await until(lambda: len(connections) == 2)


async def test_a_header_every_now_and_then_gives_no_more_time(app_of: AppOf) -> None:
    async with served(app_of(limits=Limits(headers_s=0.3))) as (server, port), AsyncExitStack() as stack:
        (slow,) = await idlers(stack, port, 1, b"GET / HTTP/1.1\r\n")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(trickled, slow, b"X: y\r\n")
            assert await is_closed(slow)
            tasks.cancel_scope.cancel()
        await until(lambda: not server.server_state.connections)


async def trickled(one: anyio.abc.SocketStream, piece: bytes) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            await one.send(piece)
            await anyio.sleep(0.02)


async def test_the_rest_of_a_body_that_was_answered_before_it_came_is_not_waited_for(app_of: AppOf) -> None:
    head = b"POST /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\n"
    async with served(app_of(token=TOKEN, limits=Limits(headers_s=0.3))) as (server, port), AsyncExitStack() as stack:
        (slow,) = await idlers(stack, port, 1, head)
        assert b" 401 " in await slow.receive()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(trickled, slow, b"x")
            assert await is_closed(slow)
            tasks.cancel_scope.cancel()
        await until(lambda: not server.server_state.connections)


async def test_with_too_many_connections_the_answer_names_the_limit(app_of: AppOf) -> None:
    limits = Limits(connections=2)
    async with served(app_of(limits=limits)) as (_, port), AsyncExitStack() as stack:
        await idlers(stack, port, 2)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            answer = await client.get("/sessions")

    assert (503, True) == (answer.status_code, "Limits.connections" in answer.json()["fix"])
    assert "DENY" == answer.headers["x-frame-options"]


async def test_who_says_nothing_where_tls_is_spoken_is_sent_away_in_time(app_of: AppOf) -> None:
    app, tls = app_of(limits=Limits(headers_s=0.2)), tls_context(CERT, KEY)
    async with served(app, tls=tls) as (server, port), AsyncExitStack() as stack:
        silent, plain = await idlers(stack, port, 2)
        await plain.send(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert await is_closed(silent)
        await until(lambda: not server.server_state.connections and not server.server_state.tasks)


async def test_a_server_with_unfinished_handshakes_stops_at_once(
    app_of: AppOf, caplog: pytest.LogCaptureFixture
) -> None:
    async with AsyncExitStack() as stack:
        async with served(app_of(), tls=tls_context(CERT, KEY)) as (server, port):
            await idlers(stack, port, 5)
            await until(lambda: len(server.server_state.connections) == 5)
            loop = asyncio.get_running_loop()
            began_s = loop.time()
        took_s = loop.time() - began_s

    assert took_s < 2.0
    assert [] == caplog.messages

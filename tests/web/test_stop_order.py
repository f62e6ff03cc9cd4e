"""What a server ends first, what a second signal does, and who is too slow with a request."""

import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import pytest
from starlette.applications import Starlette

from discussion_helper import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text import Manager, TextDelta
from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider
from discussion_helper.web import Limits, Server, Wish, bound_socket

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ManagerOf = Callable[..., Manager]
AT_MOST_S = 2.0
"""From the wish to stop to the end of `serve`."""
AT_ONCE_S = 1.2
"""The same after a second signal, on a loaded machine; waiting would take ENDING_S + GRACE_S = 1.7 s at least."""


class Place:
    """Opens sessions as devices do, and writes down what happens."""

    def __init__(self) -> None:
        self.order: list[str] = []

    @asynccontextmanager
    async def open(self, wish: Wish) -> AsyncIterator[Session]:
        yield Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice(), wish.policy)
        await anyio.lowlevel.checkpoint()
        self.order.append("microphone free")


@asynccontextmanager
async def running(app: Starlette, **options: Any) -> AsyncIterator[tuple[Server, httpx.AsyncClient]]:
    """A server, and a client whose connections are open until the server ends them; left when both are over."""
    started = anyio.Event()
    server = Server(app, started=started.set, **options)
    with bound_socket("127.0.0.1", 0) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with anyio.create_task_group() as tasks, httpx.AsyncClient(base_url=url, timeout=10) as client:
            tasks.start_soon(server.serve, [listening])
            await started.wait()
            yield server, client


async def test_microphones_are_free_before_any_connection_ends(app_of: AppOf, manager_of: ManagerOf) -> None:
    place, provider = Place(), ScriptedProvider([TextDelta("par"), FOREVER])
    told: list[str] = []
    ready = [anyio.Event() for _ in range(3)]

    async def follow(began: anyio.Event, what: str, asked: Any) -> None:
        async with asked as answer:
            lines = answer.aiter_lines()
            await anext(lines)
            began.set()
            told.extend([f"{what}: {line}" async for line in lines])
        place.order.append(f"{what} over")

    async with manager_of(provider) as manager:
        app = app_of(manager=manager, open_voice=place.open)
        async with running(app, ending=manager.aclose) as (server, client):
            voice = (await client.post("/sessions", json={"transport": "local"})).json()["url"]
            text = (await client.post("/sessions", json={"kind": "text"})).json()["url"]
            async with anyio.create_task_group() as tasks:
                body = {"content": "hi", "kinds": ["text_delta"]}
                tasks.start_soon(follow, ready[0], "voice", client.stream("GET", f"{voice}/events"))
                tasks.start_soon(follow, ready[1], "text", client.stream("GET", f"{text}/events"))
                tasks.start_soon(follow, ready[2], "turn", client.stream("POST", f"{text}/messages", json=body))
                for began in ready:
                    await began.wait()
                asked_s = time.perf_counter()
                server.should_exit = True
        took_s = time.perf_counter() - asked_s

    assert "microphone free" == place.order[0]
    assert {"voice over", "text over", "turn over"} == set(place.order[1:])
    assert {"voice: event: ended", "text: event: ended"} <= set(told)
    assert took_s < AT_MOST_S
    kinds = [entry["kind"] for entry in reversed(app.state.audit.entries)]
    assert ["microphone_opened", "microphone_closed"] == kinds
    assert all("local" == entry["where"] and entry["by"] for entry in app.state.audit.entries)


class Mutable(ScriptedListener):
    """Tells what a microphone tells that is closed and opened again."""

    def tell(self, which: str, state: str) -> None:
        assert self._reporter is not None
        self._reporter.report("device", which=which, state=state)


async def test_the_audit_follows_a_microphone_that_is_muted_and_lost(
    app_of: AppOf, client_of: Callable[..., Any], settled: Callable[[], Any]
) -> None:
    listener = Mutable([], stays_open=True)

    @asynccontextmanager
    async def open_voice(wish: Wish) -> AsyncIterator[Session]:
        yield Session(listener, EchoResponder(), SilentVoice(), wish.policy)

    app = app_of(open_voice=open_voice)
    async with client_of(app, headers={"User-Agent": "a test"}) as client:
        url = (await client.post("/sessions", json={"transport": "local"})).json()["url"]
        for which, state in (
            *(("microphone", "open"), ("microphone", "muted"), ("loudspeaker", "open"), ("microphone", "open")),
            *(("microphone", "hanging"), ("loudspeaker", "lost"), ("microphone", "lost"), ("microphone", "open")),
        ):
            await settled()
            listener.tell(which, state)
        await settled()
        await client.delete(url)
        await settled()
        told = list(reversed((await client.get("/audit")).json()))

    assert ["opened", "closed"] * 3 == [entry["kind"].removeprefix("microphone_") for entry in told]
    assert {("local", url.rpartition("/")[2], "127.0.0.1 a test")} == {
        (entry["where"], entry["session"], entry["by"]) for entry in told
    }


async def test_a_second_signal_waits_for_nobody(app_of: AppOf, manager_of: ManagerOf) -> None:
    hurries: list[int] = []
    ending = anyio.Event()

    async def end() -> None:
        ending.set()
        await anyio.sleep_forever()

    async with manager_of(ScriptedProvider()) as manager:
        options = {"ending": end, "hurried": hurries.append}
        async with running(app_of(manager=manager), **options) as (server, client):
            url = (await client.post("/sessions", json={"kind": "text"})).json()["url"]
            async with client.stream("GET", f"{url}/events") as events:
                lines = events.aiter_lines()
                await anext(lines)
                server.handle_exit(signal.SIGTERM, None)
                await ending.wait()
                asked_s = time.perf_counter()
                server.handle_exit(signal.SIGTERM, None)
                async for _ in lines:
                    pass
        took_s = time.perf_counter() - asked_s

    assert [signal.SIGTERM] == hurries
    assert took_s < AT_ONCE_S


@pytest.mark.parametrize(
    "sent", [[b""], [b"GET / HTTP/1.1\r\nHost: 127.0"], [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET"]]
)
async def test_who_does_not_end_the_headers_is_sent_away(app_of: AppOf, serving: Any, sent: list[bytes]) -> None:
    async with serving(app_of(limits=Limits(headers_s=0.2))) as served:
        port = int(served.url.rpartition(":")[2])
        with anyio.fail_after(4):  # uvicorn closes what is idle after 5 s
            async with await anyio.connect_tcp("127.0.0.1", port) as slow:
                for whole in sent[:-1]:
                    await slow.send(whole)
                    assert b" 403 " in await slow.receive()
                await slow.send(sent[-1])
                assert [] == [part async for part in slow if b"HTTP/1.1" in part]


async def test_a_stream_outlives_the_time_of_the_headers(app_of: AppOf, serving: Any) -> None:
    async with serving(app_of(limits=Limits(headers_s=0.05, heartbeat_s=0.1))) as served:
        url = (await served.client.post("/sessions", json={"transport": "fake"})).json()["url"]
        async with served.client.stream("GET", f"{url}/events") as events:
            beats = 0
            async for line in events.aiter_lines():
                beats += line == ":"
                if beats == 3:
                    break


async def test_headers_that_are_too_large_are_refused_while_they_come(app_of: AppOf, serving: Any) -> None:
    async with serving(app_of(limits=Limits(headers=2000))) as served:
        whole = await served.client.get("/health", headers={"X-Long": "x" * 3000})
        port = int(served.url.rpartition(":")[2])
        async with await anyio.connect_tcp("127.0.0.1", port) as endless:
            await endless.send(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 4000)
            with anyio.fail_after(5):
                answer = await endless.receive()

    assert 431 == whole.status_code
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 431"))


async def test_what_is_no_http_is_refused_and_nothing_is_printed(
    app_of: AppOf, serving: Any, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serving(app_of()) as served:
        port = int(served.url.rpartition(":")[2])
        async with await anyio.connect_tcp("127.0.0.1", port) as asking:
            await asking.send(b"\x16\x03\x01 no HTTP\r\n\r\n")
            answer = await asking.receive()

    assert answer.startswith(b"HTTP/1.1 400")
    assert ([], ("", "")) == (caplog.messages, capsys.readouterr())


HEADS = (
    (b"GET /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n", 400),
    (b"GET /sessions HTTP/1.1\r\n", 400),
    (b"GET /sessions HTTP/1.0\r\n", 403),
    (b"GET http://evil.example/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\n", 404),
    (b"GET http://127.0.0.1/sessions HTTP/1.1\r\nHost: evil.example\r\n", 403),
    (b"GET /sessions HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: 127.0.0.1\r\n", 403),
    (b"GET /sessions HTTP/1.1\r\nHost: evil.example\r\nForwarded: host=127.0.0.1;for=127.0.0.1\r\n", 403),
    (b"GET /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: null\r\n", 403),
    (b"GET /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 1.2.3.4\r\n", 200),
)
"""The first lines of a request, and its answer."""


async def test_no_header_makes_another_name_known(app_of: AppOf, serving: Any) -> None:
    token = "a-token-of-which-nobody-guesses-the-rest"
    async with serving(app_of(token=token)) as served:
        port = int(served.url.rpartition(":")[2])
        for head, status in HEADS:
            async with await anyio.connect_tcp("127.0.0.1", port) as asking:
                await asking.send(head + b"Authorization: Bearer " + token.encode() + b"\r\nConnection: close\r\n\r\n")
                answer = await asking.receive()
            assert (head, f"{status}".encode()) == (head, answer.split(b" ")[1])

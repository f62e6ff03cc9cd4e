"""How a server stops: whoever follows a session is told how it ended, and nobody can hold the server up."""

import json
import socket
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discussion_helper.text import Manager, TextDelta
from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider
from discussion_helper.web import Server, bound_socket

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ManagerOf = Callable[..., Manager]

AT_MOST_S = 2.0
"""From the wish to stop to the end of `serve`."""


async def stopped(
    app: Starlette, ending: Any, follow: Callable[[httpx.AsyncClient, str, anyio.Event], Any], *, ready: int
) -> float:
    """Serve, follow with `ready` clients, stop once each has begun; how long that took."""
    began = [anyio.Event() for _ in range(ready)]
    started = anyio.Event()
    server = Server(app, started=started.set, ending=ending)
    with bound_socket("127.0.0.1", 0) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with anyio.create_task_group() as tasks, httpx.AsyncClient(base_url=address, timeout=10) as client:
            over = anyio.Event()

            async def serve() -> None:
                await server.serve([listening])
                over.set()

            tasks.start_soon(serve)
            await started.wait()
            url = str((await client.post("/sessions", json={"kind": "text"})).json()["url"])
            for each in began:
                tasks.start_soon(follow, client, url, each)
            for each in began:
                await each.wait()
            asked = time.perf_counter()
            server.should_exit = True
            await over.wait()
            took_s = time.perf_counter() - asked
    return took_s


async def test_watchers_are_told_how_it_ended(app_of: AppOf, manager_of: ManagerOf) -> None:
    provider = ScriptedProvider([TextDelta("par"), FOREVER])
    lines: list[dict[str, Any]] = []
    events: list[str] = []

    async def follow(client: httpx.AsyncClient, url: str, began: anyio.Event) -> None:
        async with client.stream("GET", f"{url}/events?kinds=floor,ended,lifecycle") as watched:
            told = watched.aiter_lines()
            await anext(told)
            body = {"content": "hi", "kinds": ["text_delta"]}
            async with client.stream("POST", f"{url}/messages", json=body) as answered:
                rest = answered.aiter_lines()
                lines.append(json.loads(await anext(rest)))
                began.set()
                lines.extend([json.loads(line) async for line in rest])
            events.extend([line.removeprefix("data: ") async for line in told if line.startswith("data: ")])

    async with manager_of(provider) as manager:
        await stopped(app_of(manager=manager), manager.aclose, follow, ready=1)

    assert ["par", "cancelled", "done"] == [line.get("content") or line["phase"] for line in lines]
    phases = [json.loads(event) for event in events]
    assert {"kind": "ended", "reason": "stopped"} == {key: phases[-1][key] for key in ("kind", "reason")}
    assert ["cancelled", "done"] == [event["phase"] for event in phases if event["kind"] == "lifecycle"][-2:]


async def test_clients_that_do_not_read_do_not_hold_it_up(app_of: AppOf, manager_of: ManagerOf) -> None:
    provider = ScriptedProvider([*(TextDelta("x" * 30_000) for _ in range(600)), FOREVER])
    connections: list[socket.socket] = []

    async def stall(client: httpx.AsyncClient, url: str, began: anyio.Event) -> None:
        where = urlsplit(str(client.base_url))
        connection = socket.create_connection((where.hostname or "", where.port or 0))
        connections.append(connection)
        body = json.dumps({"content": "hi", "kinds": ["text_delta"]})
        head = f"POST {url}/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall((head + body).encode())
        await provider.asked()
        began.set()

    async with manager_of(provider) as manager:
        took_s = await stopped(app_of(manager=manager), manager.aclose, stall, ready=2)
    for connection in connections:
        connection.close()

    assert took_s < AT_MOST_S


async def test_a_session_that_does_not_end_does_not_hold_it_up(app_of: AppOf, manager_of: ManagerOf) -> None:
    async def follow(client: httpx.AsyncClient, url: str, began: anyio.Event) -> None:
        async with client.stream("GET", f"{url}/events") as watched:
            lines = watched.aiter_lines()
            await anext(lines)
            began.set()
            assert [] == [line async for line in lines if line.startswith("data")][1:]  # no more than the snapshot

    async with manager_of(ScriptedProvider()) as manager:
        took_s = await stopped(app_of(manager=manager), anyio.sleep_forever, follow, ready=1)

    assert took_s < AT_MOST_S


async def test_a_session_that_ends_badly_is_logged_and_the_server_ends(
    app_of: AppOf, manager_of: ManagerOf, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail() -> None:
        raise OSError("the device is stuck")

    async def follow(_: httpx.AsyncClient, __: str, began: anyio.Event) -> None:
        began.set()
        await anyio.lowlevel.checkpoint()

    async with manager_of(ScriptedProvider()) as manager:
        await stopped(app_of(manager=manager), fail, follow, ready=1)

    assert "a session did not end well" in caplog.messages


HEADS = {
    "half": b"POST /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{",
    "slow": b"GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
}


@pytest.mark.parametrize("name", sorted(HEADS))
async def test_a_request_that_is_not_done_with_when_it_stops_is_told_so(
    app_of: AppOf, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    """A body that is not whole yet; and an answer that does not come."""
    came, started = anyio.Event(), anyio.Event()

    async def slow(_: Request) -> Response:
        came.set()
        await anyio.sleep_forever()
        raise AssertionError

    server = Server(app_of(routes=[Route("/slow", slow)]), started=started.set)
    with bound_socket("127.0.0.1", 0) as listening:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            await started.wait()
            async with await anyio.connect_tcp("127.0.0.1", listening.getsockname()[1]) as client:
                await client.send(HEADS[name])
                while not server.server_state.tasks:
                    await anyio.lowlevel.checkpoint()
                if name == "slow":
                    await came.wait()
                server.should_exit = True
                told = b""
                with anyio.fail_after(AT_MOST_S):
                    while b"Try again when it runs." not in told:
                        told += await client.receive()

    assert told.startswith(b"HTTP/1.1 503")
    said = "".join(capfd.readouterr())
    assert "Traceback" not in said
    assert (name == "half") == (said == "")  # of what it had to cancel uvicorn tells

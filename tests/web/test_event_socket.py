"""Following sessions over a WebSocket at a real server: what the stream tells, and how it ends."""

import json
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from discussion_helper.registry import Sessions
from discussion_helper.text import Manager, PropertiesEvent, UserMessageEvent
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.types import Utterance
from discussion_helper.web import Limits
from discussion_helper.web.event_socket import HEARD, SUBPROTOCOL

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ManagerOf = Callable[..., Manager]
Serving = Callable[..., Any]
EventsIn = Callable[[httpx.Response], Any]
Event = tuple[str, str, Any]
ROOT = Path(__file__).parents[2]
TOKEN = "a-token-for-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
KINDS = "floor,utterance,text_delta,lifecycle,turn_complete"
WITHIN_S = 20.0


@asynccontextmanager
async def following(served: Any, path: str, **options: Any) -> AsyncIterator[ClientConnection]:
    usual: dict[str, Any] = {"subprotocols": [SUBPROTOCOL], "proxy": None, "max_size": None, "max_queue": None}
    with anyio.fail_after(WITHIN_S):
        async with connect(served.url.replace("http", "ws", 1) + path, **(usual | options)) as watcher:
            yield watcher


async def whole(watcher: ClientConnection) -> str:
    """The next message, of its pieces where it has some."""
    told = str(await watcher.recv())
    if told[0] not in "+.":
        return told
    return told[1:] + (await whole(watcher) if told[0] == "+" else "")


async def one(watcher: ClientConnection) -> Event:
    """The next event: its id, its kind, its data."""
    while True:
        told = json.loads(await whole(watcher))
        if told:
            assert told["event"] == told["data"]["kind"]
            return told.get("id", ""), told["event"], told["data"]


async def rest(watcher: ClientConnection) -> tuple[list[Event], int | None]:
    """All to the end, and the code of that."""
    told = []
    try:
        while True:
            told.append(await one(watcher))
    except ConnectionClosed:
        return told, watcher.close_code


async def opened(served: Any, **body: Any) -> str:
    answer = await served.client.post("/sessions", json={"transport": "fake", **body})
    assert 201 == answer.status_code
    return str(answer.json()["url"])


async def ended(served: Any) -> str:
    """A session that is over."""
    url = await opened(served, turns=["Hello"])
    await served.server._app.state.sessions.get(url.rpartition("/")[2]).wait()
    return url


async def test_it_tells_what_the_stream_tells(app_of: AppOf, serving: Serving, events_in: EventsIn) -> None:
    async with serving(app_of()) as served:
        url = await opened(served)
        async with (
            following(served, f"{url}/events") as watcher,
            served.client.stream("GET", f"{url}/events") as stream,
        ):
            first = await one(watcher)
            await served.client.post(f"{url}/say", json={"text": "Straße 😀\n水"})
            await served.client.delete(url)
            told, code = await rest(watcher)
            streamed = [(event.id, event.kind, event.data) async for event in events_in(stream)]

    assert SUBPROTOCOL == watcher.subprotocol
    assert ("snapshot", 1000) == (first[1], code)
    assert streamed[1:] == told
    assert {"utterance", "floor", "ended"} <= {kind for _, kind, _ in told}
    assert first[2]["state"]["id"] == streamed[0][2]["state"]["id"]


@pytest.mark.parametrize("cut", [0, 3, 7, 19])
async def test_who_comes_back_misses_nothing_and_gets_nothing_twice_while_much_happens(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, events_in: EventsIn, echo: ScriptedProvider, cut: int
) -> None:
    messages, len_of_all = 10, 1 + 10 * 12
    async with manager_of(echo) as manager, serving(app_of(manager=manager)) as served:
        url = await opened(served, kind="text", transport="local")
        whole: list[Event] = []
        parts: list[Event] = []

        async def stream() -> None:
            async with served.client.stream("GET", f"{url}/events?kinds={KINDS}") as response:
                events = events_in(response)
                for _ in range(len_of_all):
                    event = await anext(events)
                    whole.append((event.id, event.kind, event.data))

        async def leave_and_come_back() -> None:
            while len(parts) < len_of_all:
                after = f"&after={parts[-1][0]}" if parts else ""
                async with following(served, f"{url}/events?kinds={KINDS}{after}") as watcher:
                    parts.extend([await one(watcher) for _ in range(min(cut + 1, len_of_all - len(parts)))])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stream)
            tasks.start_soon(leave_and_come_back)
            while served.server._app.state.live.watchers(url.rpartition("/")[2]) < 2:
                await anyio.lowlevel.checkpoint()
            for number in range(messages):
                await served.client.post(f"{url}/say", json={"text": f"message {number}"})

    assert whole[1:] == parts[1:]
    assert len_of_all == len({number for number, _, _ in whole})
    assert "snapshot" not in {kind for _, kind, _ in parts[1:]}


async def test_the_place_to_go_on_from_is_in_the_address_or_in_the_header(
    app_of: AppOf, serving: Serving, events_in: EventsIn
) -> None:
    async with serving(app_of()) as served:
        url = await ended(served)
        async with following(served, f"{url}/events?kinds=ended") as watcher:
            (snapshot, last), code = await rest(watcher)
        async with following(served, f"{url}/events?after={snapshot[0]}") as watcher:
            by_address = await rest(watcher)
        header = {"Last-Event-ID": snapshot[0]}
        async with following(served, f"{url}/events?after=none", additional_headers=header) as watcher:
            by_header = await rest(watcher)
        async with served.client.stream("GET", f"{url}/events?after={snapshot[0]}") as response:
            streamed = [(event.id, event.kind, event.data) async for event in events_in(response)]
        async with following(served, f"{url}/events?after={last[0]}") as watcher:
            nothing = await rest(watcher)
        async with following(served, f"{url}/events?after=00000000-1") as watcher:
            stale = (await one(watcher))[2]
        seen = await served.client.head(f"{url}/events?after={last[0]}")

    assert (["snapshot", "ended"], 1000) == ([snapshot[1], last[1]], code)
    assert ([last], 1000) == by_address == by_header
    assert [last] == streamed
    assert ([], 1000) == nothing
    assert (True, "epoch", 204) == (stale["stale"], stale["why"], seen.status_code)


@pytest.mark.parametrize("letter", ["x", "水", "😀"])
async def test_a_large_event_comes_in_messages_that_a_slow_link_has_soon(
    app_of: AppOf, serving: Serving, letter: str
) -> None:
    async with serving(app_of()) as served:
        url = await opened(served)
        words = letter * 30_000
        await served.client.post(f"{url}/say", json={"text": words[:10_000]})
        session = served.server._app.state.sessions.get(url.rpartition("/")[2])
        session.discussion._record.add(Utterance("user", words))
        async with following(served, f"{url}/events") as watcher:
            messages = [str(await watcher.recv())]
            while messages[-1].startswith("+"):
                messages.append(str(await watcher.recv()))
        session.discussion._record.add(Utterance("user", words))
        snapshot = json.loads("".join(message[1:] for message in messages))

    assert words == snapshot["data"]["state"]["utterances"][-1]["text"]
    assert 16 * 1024 + 1 >= max(len(message.encode()) for message in messages)
    assert ["+"] * (len(messages) - 1) + ["."] == [message[0] for message in messages]


async def test_who_comes_back_and_missed_nothing_is_told_so_at_once(app_of: AppOf, serving: Serving) -> None:
    async with serving(app_of(limits=Limits(heartbeat_s=1000))) as served:
        url = await opened(served)
        async with following(served, f"{url}/events") as watcher:
            last, _, _ = await one(watcher)
        async with following(served, f"{url}/events?after={last}") as watcher:
            assert "{}" == await watcher.recv()


async def test_what_cannot_be_told_is_a_close_code_of_its_own(app_of: AppOf, serving: Serving) -> None:
    async with serving(app_of(limits=Limits(watchers=1))) as served:
        url = await opened(served)
        codes = {}
        wrong = {"session": "/sessions/nobody-knows-it/events", "kind": f"{url}/events?kinds={'x' * 200}"}
        for name, path in wrong.items():
            async with following(served, path) as watcher:
                assert [] == (await rest(watcher))[0]
                codes[name] = watcher.close_code, watcher.close_reason
        async with following(served, f"{url}/events") as first, following(served, f"{url}/events") as second:
            assert "snapshot" == (await one(first))[1]
            assert [] == (await rest(second))[0]
            codes["place"] = second.close_code, second.close_reason
        for protocols in ([], ["discussion-helper.audio.v1"]):
            with pytest.raises(InvalidStatus) as refused:
                async with following(served, f"{url}/events", subprotocols=protocols or None):
                    pass
            assert 400 == refused.value.response.status_code
            assert SUBPROTOCOL in json.loads(refused.value.response.body)["fix"]

    assert (4404, "There is no session of that id.") == codes["session"]
    assert (4422, "kinds: there is no kind ") == (codes["kind"][0], str(codes["kind"][1])[:24])
    assert (4503, "1 watchers follow this session, and no more may.") == codes["place"]


async def test_the_list_of_sessions_is_told_too(app_of: AppOf, serving: Serving) -> None:
    async with serving(app_of()) as served, following(served, "/events") as watcher:
        assert ("snapshot", []) == ((first := await one(watcher))[1], first[2]["sessions"])
        url = await opened(served)
        assert ("opened", url) == ((told := await one(watcher))[1], f"/sessions/{told[2]['id']}")
        await served.client.delete(url)
        assert "ended" == (await one(watcher))[1]


async def test_where_nothing_happens_there_are_signs_of_life(app_of: AppOf, serving: Serving) -> None:
    async with serving(app_of(limits=Limits(heartbeat_s=0.05))) as served:
        url = await opened(served)
        async with following(served, f"{url}/events?kinds=timing") as watcher:
            told = [json.loads(await watcher.recv()) for _ in range(3)]

    assert ["snapshot", None, None] == [one.get("event") for one in told]
    assert [{}, {}] == told[1:]


async def test_what_a_watcher_sends_is_thrown_away_and_too_much_of_it_ends_it(app_of: AppOf, serving: Serving) -> None:
    async with serving(app_of()) as served:
        url = await opened(served)
        async with following(served, f"{url}/events") as watcher:
            await one(watcher)
            for number in range(HEARD - 1):
                await watcher.send("x" * 60_000 if number % 2 else b"\x00")
            await served.client.post(f"{url}/say", json={"text": "Hello"})
            after = await one(watcher)
            await watcher.send("one more")
            _, code = await rest(watcher)

    assert ("utterance", 4003) == (after[1], code)


async def test_who_does_not_keep_up_gets_a_gap_as_the_last_and_comes_back_after_it(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, echo: ScriptedProvider
) -> None:
    app = app_of(manager=(manager := manager_of(echo)), limits=Limits(held_bytes=10_000))
    async with manager, serving(app) as served:
        url = await opened(served, kind="text", transport="local")
        stream = manager.list()[0]
        path = f"{url}/events?kinds=properties"
        async with following(served, path) as watcher:
            first = await one(watcher)
            for number in range(20):  # at once, without a chance to send one
                stream.hub.publish(PropertiesEvent({"text": f"{number} " + "x" * 1_000}))
            told, code = await rest(watcher)
        async with following(served, f"{path}&after={first[0]}") as watcher:
            again = await one(watcher)

    assert ([("", "gap", 20)], 4002) == ([(number, kind, data["missed"]) for number, kind, data in told], code)
    assert ("snapshot", "behind") == (again[1], again[2]["why"])


def stalled(url: str, path: str) -> socket.socket:
    """A watcher that reads nothing, not even the answer."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.connect((host, int(port)))
    head = (
        *(f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade"),
        *("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="),
        *(f"Sec-WebSocket-Protocol: {SUBPROTOCOL}", "", ""),
    )
    slow.sendall("\r\n".join(head).encode())
    return slow


def is_open(served: Any, client: socket.socket) -> bool:
    """The server still has its connection."""
    return client.getsockname() in {connection.client for connection in served.server.server_state.connections}


async def until_full(app: Any, stream: Any) -> None:
    """Tell so much that somebody who does not read can be sent no more."""
    while not app.state.live.watchers(stream.id):
        await anyio.lowlevel.checkpoint()
    while not app.state.live._stuck:
        await stream.emit(PropertiesEvent({"text": "x" * 100_000}))
        await anyio.lowlevel.checkpoint()


async def test_who_reads_nothing_is_broken_off_in_time_and_slows_nobody(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, echo: ScriptedProvider
) -> None:
    app = app_of(manager=(manager := manager_of(echo)), limits=Limits(send_s=0.2))
    async with manager, serving(app) as served:
        url = await opened(served, kind="text", transport="local")
        stream = manager.list()[0]
        with stalled(served.url, f"{url}/events?kinds=properties") as slow:
            await until_full(app, stream)
            await stream.process(UserMessageEvent("hi"))
            with anyio.fail_after(3):
                while app.state.live.watchers(stream.id) or is_open(served, slow):
                    await anyio.lowlevel.checkpoint()
    assert 0 == len(stream.hub)


@pytest.mark.timed
async def test_who_reads_nothing_does_not_hold_up_the_end_of_the_server(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, echo: ScriptedProvider, capfd: pytest.CaptureFixture[str]
) -> None:
    app = app_of(manager=(manager := manager_of(echo)))
    async with manager, AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(app))
        url = await opened(served, kind="text", transport="local")
        with stalled(served.url, f"{url}/events?kinds=properties"):
            await until_full(app, manager.list()[0])
            began = time.monotonic()
            await stack.aclose()
            took_s = time.monotonic() - began

    assert took_s < 1.0
    assert ("", "") == capfd.readouterr()


@pytest.mark.timed
async def test_the_servers_end_has_a_code_and_the_sessions_end_before_it_another(
    app_of: AppOf, serving: Serving, capfd: pytest.CaptureFixture[str]
) -> None:
    sessions: Sessions[Any] = Sessions()
    ends: dict[str, Any] = {}
    for ending in (None, sessions.aclose):
        async with AsyncExitStack() as stack:
            served = await stack.enter_async_context(serving(app_of(sessions)))
            served.server._ending = ending
            url = await opened(served)
            watchers = [
                await stack.enter_async_context(following(served, path)) for path in (f"{url}/events", "/events")
            ]
            for watcher in watchers:
                await one(watcher)
            began = time.monotonic()
            served.server.should_exit = True
            told = [await rest(watcher) for watcher in watchers]
            ends[str(ending is None)] = [([kind for _, kind, _ in events], code) for events, code in told]
            assert time.monotonic() - began < 1.0

    assert [([], 1001), ([], 1001)] == ends["True"]
    assert [(["floor", "ended"], 1000), (["ended", "ended"], 1001)] == ends["False"]
    assert ("", "") == capfd.readouterr()


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"additional_headers": {}}, 401),
        ({"host": "127.0.0.1", "url": "ws://evil.example"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"additional_headers": BEARER | {"Sec-Fetch-Site": "cross-site"}}, 403),
    ],
    ids=["no-token", "another-name", "another-page", "another-site"],
)
async def test_it_has_the_door_of_every_other_route(
    app_of: AppOf, serving: Serving, options: dict[str, Any], status: int
) -> None:
    async with serving(app_of(token=TOKEN), headers=BEARER) as served:
        path, port = f"{await opened(served)}/events", int(served.url.rpartition(":")[2])
        own = {name: value for name, value in options.items() if name != "url"}
        usual = {"subprotocols": [SUBPROTOCOL], "proxy": None, "additional_headers": BEARER, "port": port}
        with pytest.raises(InvalidStatus) as refused:
            async with connect(f"{options.get('url', 'ws://127.0.0.1')}:{port}{path}", **(usual | own)):
                pass
    assert status == refused.value.response.status_code


async def test_a_new_token_closes_it(app_of: AppOf, serving: Serving) -> None:
    async with serving(app_of(token=TOKEN), headers=BEARER) as served:
        url = await opened(served)
        async with following(served, f"{url}/events", additional_headers=BEARER, origin=served.url) as watcher:
            await one(watcher)
            await served.client.post("/token/rotate")
            _, code = await rest(watcher)
        assert not served.server._app.state.live.watching

    assert 1008 == code


async def test_the_document_of_the_routes_names_its_protocol(app_of: AppOf, client_of: Callable[..., Any]) -> None:
    async with client_of(app_of()) as client:
        sockets = (await client.get("/openapi.json")).json()["x-websocket"]
    for path, line in (("/sessions/{session_id}/events", "Event"), ("/events", "ListEvent")):
        described = sockets[path]
        protocol = (ROOT / described["protocol"]).read_text(encoding="utf-8")
        assert SUBPROTOCOL == described["subprotocol"]
        assert f"`{SUBPROTOCOL}`" in protocol
        assert line == described["message"]["properties"]["data"]["$ref"].rpartition("/")[2]
        assert {"400", "401", "403", "429"} == described["refusals"].keys()

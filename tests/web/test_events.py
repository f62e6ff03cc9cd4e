"""Following sessions over a real connection."""

import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import httpx
import pytest
from starlette.applications import Starlette

from discussion_helper.registry import Sessions
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text import InterruptEvent, Manager, PropertiesEvent, TextDelta, UserMessageEvent
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.text.step import HISTORY
from discussion_helper.web import Limits

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ManagerOf = Callable[..., Manager]
Serving = Callable[..., Any]
EventsIn = Callable[[httpx.Response], Any]
TURN = ["utterance", "floor", "floor", "utterance", "timing", "floor"]


async def opened(served: Any, **body: Any) -> str:
    answer = await served.client.post("/sessions", json={"transport": "fake", **body})
    assert 201 == answer.status_code
    return str(answer.json()["url"])


async def some(events: Any, number: int) -> list[Any]:
    return [await anext(events) for _ in range(number)]


async def test_two_watchers_get_equal_lists_and_a_late_one_the_state_and_what_follows(
    app_of: AppOf, serving: Serving, events_in: EventsIn
) -> None:
    async with serving(app_of()) as served:
        url = await opened(served)
        stream = served.client.stream
        async with stream("GET", f"{url}/events") as one, stream("GET", f"{url}/events") as two:
            first, second = events_in(one), events_in(two)
            snapshots = [await anext(first), await anext(second)]
            await served.client.post(f"{url}/say", json={"text": "Hello"})
            lists = [await some(first, 6), await some(second, 6)]
            async with stream("GET", f"{url}/events") as three:
                late = events_in(three)
                snapshot = await anext(late)
                await served.client.post(f"{url}/say", json={"text": "Again"})
                following = await some(first, 6)
                assert following == await some(late, 6)

    assert "text/event-stream" == one.headers["content-type"].partition(";")[0]
    assert ["snapshot", "snapshot"] == [event.kind for event in snapshots]
    assert lists[0] == lists[1]
    assert TURN == [event.kind for event in lists[0]] == [event.data["kind"] for event in lists[0]]
    assert ["Hello", "Hello"] == [u["text"] for u in snapshot.data["state"]["utterances"]]
    assert lists[0][-1].id == snapshot.id
    assert len({event.id for event in lists[0] + following}) == 12


async def test_the_end_of_a_session_ends_the_stream_and_who_has_seen_it_need_not_come_back(
    app_of: AppOf, serving: Serving, events_in: EventsIn
) -> None:
    async with serving(app_of()) as served:
        url = await opened(served, turns=["Hello"])
        session = served.server._app.state.sessions.get(url.rpartition("/")[2])
        await session.wait()
        async with served.client.stream("GET", f"{url}/events?kinds=ended") as response:
            told = [event async for event in events_in(response)]
        again = await served.client.get(f"{url}/events", headers={"Last-Event-ID": told[-1].id})
        headers = {"Last-Event-ID": told[0].id}
        async with served.client.stream("GET", f"{url}/events", headers=headers) as response:
            rest = [event async for event in events_in(response)]

    assert ["snapshot", "ended"] == [event.kind for event in told]
    assert told[1].data["reason"] == "finished"
    assert told[1:] == rest
    assert 204 == again.status_code


@pytest.mark.parametrize("query", ["kinds=utterance, timing", "kinds=utterance&kinds=timing"])
async def test_only_the_kinds_that_are_asked_for_come(
    app_of: AppOf, serving: Serving, events_in: EventsIn, query: str
) -> None:
    async with serving(app_of()) as served:
        url = await opened(served)
        async with served.client.stream("GET", f"{url}/events?{query}") as response:
            events = events_in(response)
            await anext(events)
            await served.client.post(f"{url}/say", json={"text": "Hello"})
            kinds = [event.kind for event in await some(events, 3)]

    assert ["utterance", "utterance", "timing"] == kinds


async def test_the_first_byte_comes_at_once_and_a_sign_of_life_without_an_id_when_nothing_happens(
    app_of: AppOf, serving: Serving
) -> None:
    async with serving(app_of(limits=Limits(heartbeat_s=0.05))) as served:
        url = await opened(served)
        async with served.client.stream("GET", f"{url}/events?kinds=timing") as response:
            lines = response.aiter_lines()
            head = [await anext(lines) for _ in range(2)]
            while not (await anext(lines)).startswith(":"):
                pass
            following = [await anext(lines) for _ in range(2)]

    assert ["retry: 1000", ""] == head
    assert ["", ":"] == following


@pytest.mark.parametrize("cut", [0, 3, 7, 19])
async def test_who_comes_back_misses_nothing_and_gets_nothing_twice_while_much_happens(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, events_in: EventsIn, echo: ScriptedProvider, cut: int
) -> None:
    kinds = "floor,utterance,text_delta,lifecycle,turn_complete"
    async with manager_of(echo) as manager, serving(app_of(manager=manager)) as served:
        url = (await served.client.post("/sessions", json={"kind": "text"})).json()["url"]
        whole: list[Any] = []
        parts: list[Any] = []

        async def follow(told: list[Any], number: int, place: str = "") -> None:
            headers = {"Last-Event-ID": place} if place else {}
            address = f"{url}/events?kinds={kinds}"
            async with served.client.stream("GET", address, headers=headers) as response:
                events = events_in(response)
                told += await some(events, number)

        async def leave_and_come_back() -> None:
            await follow(parts, cut + 1)
            while len(parts) < len_of_all:
                await follow(parts, min(cut + 1, len_of_all - len(parts)), parts[-1].id)

        messages, len_of_all = 10, 1 + 10 * 12
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, whole, len_of_all)
            tasks.start_soon(leave_and_come_back)
            while served.server._app.state.live.watchers(url.rpartition("/")[2]) < 2:
                await anyio.lowlevel.checkpoint()
            for number in range(messages):
                await served.client.post(f"{url}/say", json={"text": f"message {number}"})

    assert [(one.id, one.kind, one.data) for one in whole[1:]] == [(one.id, one.kind, one.data) for one in parts[1:]]
    assert len({one.id for one in whole}) == len_of_all
    assert "snapshot" not in {one.kind for one in parts[1:]}


@pytest.mark.parametrize("end", ["cancel", "interrupt"])
async def test_a_cancelled_turn_gives_the_floor_back_once_and_says_why(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, events_in: EventsIn, end: str
) -> None:
    never = ScriptedProvider([TextDelta("He"), float("inf")])
    async with manager_of(never) as manager, serving(app_of(manager=manager)) as served:
        url = (await served.client.post("/sessions", json={"kind": "text"})).json()["url"]
        async with served.client.stream("GET", f"{url}/events") as response:
            events = events_in(response)
            await anext(events)
            await served.client.post(f"{url}/say", json={"text": "Hello"})
            told = await some(events, 3)
            await served.client.post(f"{url}/{end}")
            stream = manager.list()[0]
            while stream.busy or stream.pending:
                await anyio.lowlevel.checkpoint()
            await stream.stop()
            told += [event async for event in events]
        again = {"Last-Event-ID": told[2].id}
        async with served.client.stream("GET", f"{url}/events", headers=again) as response:
            resumed = [event async for event in events_in(response)]

    assert ["utterance", "floor", "floor", "floor", "ended"] == [event.kind for event in told]
    assert ["thinking", "speaking", "listening"] == [event.data["floor"] for event in told[1:4]]
    assert [None, None, "cancelled"] == [event.data.get("reason") for event in told[1:4]]
    assert told[3:] == resumed


async def test_who_comes_back_is_not_told_the_floor_that_it_knows(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, events_in: EventsIn, echo: ScriptedProvider
) -> None:
    async with manager_of(echo) as manager, serving(app_of(manager=manager)) as served:
        url = (await served.client.post("/sessions", json={"kind": "text"})).json()["url"]
        stream = manager.list()[0]
        await stream.process(UserMessageEvent("Hello"))
        place = f"{stream.hub.epoch}-{stream.hub.sequence}"
        await stream.process(InterruptEvent())  # of which `done` is told, and nothing else
        await stream.process(UserMessageEvent("Again"))
        headers = {"Last-Event-ID": place}
        async with served.client.stream("GET", f"{url}/events?kinds=floor", headers=headers) as response:
            floors = [event.data["floor"] for event in await some(events_in(response), 3)]

    assert ["thinking", "speaking", "listening"] == floors


async def test_who_comes_back_too_late_or_from_elsewhere_gets_the_state(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, events_in: EventsIn, echo: ScriptedProvider
) -> None:
    async with manager_of(echo) as manager, serving(app_of(manager=manager)) as served:
        url = (await served.client.post("/sessions", json={"kind": "text"})).json()["url"]
        stream = manager.list()[0]
        for number in range(HISTORY + 44):
            await stream.emit(PropertiesEvent({"number": str(number)}))
        epoch = stream.hub.epoch
        kinds = []
        for place in (f"{epoch}-1", f"{epoch}-9999", "00000000-299", "nonsense", f"{epoch}-44"):
            address, headers = f"{url}/events?kinds=properties", {"Last-Event-ID": place}
            async with served.client.stream("GET", address, headers=headers) as response:
                kinds.append((await anext(events_in(response))).kind)

    assert ["snapshot"] * 4 + ["properties"] == kinds


async def test_a_watcher_who_does_not_read_slows_nobody_and_is_let_go(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, events_in: EventsIn, echo: ScriptedProvider
) -> None:
    app = app_of(manager=(manager := manager_of(echo)), limits=Limits(send_s=0.3))
    async with manager, serving(app) as served:
        url = (await served.client.post("/sessions", json={"kind": "text"})).json()["url"]
        stream, session_id = manager.list()[0], url.rpartition("/")[2]
        with socket.create_connection(("127.0.0.1", int(served.url.rpartition(":")[2]))) as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.sendall(f"GET {url}/events?kinds=properties HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            while not app.state.live.watchers(session_id):
                await anyio.lowlevel.checkpoint()
            began = time.monotonic()
            for number in range(5000):
                await stream.emit(PropertiesEvent({"text": f"{number} " + "x" * 5000}))
                if number % 50 == 0:
                    await anyio.lowlevel.checkpoint()
            took = time.monotonic() - began
            answer = await served.client.post(f"{url}/messages", json={"content": "hi"})
            with anyio.fail_after(5):
                while app.state.live.watchers(session_id):
                    await anyio.lowlevel.checkpoint()

    assert took < 3.0
    assert 200 == answer.status_code
    assert 0 == len(stream.hub)


async def test_a_watcher_who_leaves_is_forgotten_and_there_are_not_too_many(
    app_of: AppOf, serving: Serving, events_in: EventsIn
) -> None:
    app = app_of(limits=Limits(watchers=2))
    async with serving(app) as served:
        url = await opened(served)
        session = app.state.sessions.get(url.rpartition("/")[2])
        others = len(session.hub)  # who counts what happens
        stream = served.client.stream
        async with stream("GET", f"{url}/events") as one, stream("GET", f"{url}/events") as two:
            await anext(events_in(one))
            await anext(events_in(two))
            third = await served.client.get(f"{url}/events")
        with anyio.fail_after(5):
            while len(session.hub) > others:
                await anyio.lowlevel.checkpoint()
        async with stream("GET", f"{url}/events") as again:
            assert 200 == again.status_code

    assert 503 == third.status_code
    assert third.json()["fix"]


async def test_open_streams_end_with_the_server_within_a_second(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, events_in: EventsIn
) -> None:
    never = ScriptedProvider([float("inf")])
    async with manager_of(never) as manager, serving(app_of(manager=manager)) as served:
        voice = await opened(served)
        text = (await served.client.post("/sessions", json={"kind": "text"})).json()["url"]
        ended: list[str] = []

        async def follow(method: str, url: str, **options: Any) -> None:
            async with served.client.stream(method, url, **options) as response:
                async for _ in response.aiter_raw():
                    pass
            ended.append(url)

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(follow, "GET", f"{voice}/events")
            tasks.start_soon(partial(follow, "POST", f"{text}/messages", json={"content": "hi"}))
            await never.asked()
            while served.server._app.state.live.watchers(voice.rpartition("/")[2]) < 10:
                await anyio.lowlevel.checkpoint()
            began = time.monotonic()
            served.server.should_exit = True
    took = time.monotonic() - began

    assert 11 == len(ended)
    assert took < 1.0


async def test_a_session_in_the_registry_that_nobody_opened_here_can_be_followed(
    app_of: AppOf, serving: Serving, events_in: EventsIn
) -> None:
    sessions: Sessions[Any] = Sessions()
    session = sessions.add(Session(ScriptedListener(["Hello"]), EchoResponder(), SilentVoice()))
    async with (
        serving(app_of(sessions)) as served,
        served.client.stream("GET", f"/sessions/{session.id}/events") as response,
    ):
        events = events_in(response)
        await anext(events)
        session.start()
        kinds = [event.kind async for event in events]

    assert ["floor", *TURN, "floor", "ended"] == kinds

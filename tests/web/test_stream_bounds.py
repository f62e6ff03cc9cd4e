"""What one watcher of events may cost the server: bytes, items, time, and the stop of it."""

import socket
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import anyio
import httpx
import pytest
from starlette.applications import Starlette

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text import Manager, PropertiesEvent, UserMessageEvent
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.types import Utterance
from discussion_helper.web import Limits, states
from discussion_helper.web.encoding import encoded
from discussion_helper.web.feed import Feed
from discussion_helper.web.followed import HELD
from discussion_helper.web.live import Live, LiveResponse
from discussion_helper.web.sse import EventStream

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ManagerOf = Callable[..., Manager]
Serving = Callable[..., Any]
EventsIn = Callable[[httpx.Response], Any]


class Watched:
    """A session that tells what it is made to, and one watcher of it who has read nothing but the snapshot."""

    def __init__(self, reducer: Any, *kinds: str, most_bytes: int = 1_000_000) -> None:
        self.session = Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice())
        self.record = self.session.discussion._record
        self._reducer = reducer
        self._stream = EventStream(Feed(self.session, kinds, most_bytes=most_bytes), "", heartbeat_s=15.0)
        self._stream.begin()
        self._chunks = self._stream.chunks()

    @property
    def held(self) -> int:
        assert self._stream._following is not None
        return len(self._stream._following)

    async def rest(self) -> list[Any]:
        """All that waits, after the snapshot."""
        told: list[Any] = []
        while (chunk := await anext(self._chunks, None)) is not None:
            told += self._reducer.events_in(chunk)
            if not self.held and not self._stream._following._missed:  # type: ignore[union-attr]
                break
        await self._chunks.aclose()
        await self._stream.aclose()
        return [one for one in told if one.kind != "snapshot"]


def numbers(told: list[Any]) -> list[int]:
    return [int(one.id.partition("-")[2]) for one in told]


async def test_of_levels_and_words_so_far_the_newest_waits_in_its_place(reducer: Any) -> None:
    watched = Watched(reducer, "*")
    report = watched.record.report
    for number in range(500):
        report("level", dbfs=-float(number))
        report("partial", speaker="user", text=f"words {number}", stable="")
        if number % 100 == 0:
            report("decision", what="ignored", why=str(number))
    told = await watched.rest()

    assert ["decision"] * 5 + ["level", "partial"] == [one.kind for one in told]
    assert ("words 499", -499.0) == (told[-1].data["text"], told[-2].data["dbfs"])
    assert numbers(told) == sorted(set(numbers(told)))
    assert [1005, 1004] == [numbers(told)[-1], numbers(told)[-2]]


async def test_a_finished_turn_makes_its_own_partials_void_and_no_others(reducer: Any) -> None:
    watched = Watched(reducer, "*")
    report = watched.record.report
    report("partial", speaker="user", text="hel", stable="")
    for sentence in ("One.", "Two.", "Three."):
        report("partial", speaker="agent", text=sentence)
    watched.record.add(Utterance("user", "hello"))
    report("partial", speaker="agent", text="Four.")
    before = watched.held
    watched.record.add(Utterance("agent", "One. Two. Three. Four."))
    told = await watched.rest()

    assert 5 == before  # pieces of a reply are not replaced: each counts
    assert ["utterance", "utterance"] == [one.kind for one in told]


async def test_who_asked_for_partials_alone_keeps_those_of_finished_turns(reducer: Any) -> None:
    watched = Watched(reducer, "partial")
    watched.record.report("partial", speaker="agent", text="One.")
    watched.record.add(Utterance("agent", "One."))

    assert ["partial"] == [one.kind for one in await watched.rest()]


@pytest.mark.parametrize(("texts", "size", "most_bytes"), [(300, 4_000, 1_000_000), (HELD + 1, 10, 10**9)])
async def test_more_than_may_wait_is_a_gap_that_counts_and_ends_the_stream(
    reducer: Any, texts: int, size: int, most_bytes: int
) -> None:
    watched = Watched(reducer, most_bytes=most_bytes)
    for _ in range(texts):
        watched.record.add(Utterance("user", "x" * size))
    told = await watched.rest()

    assert [("gap", texts, "")] == [(one.kind, one.data["missed"], one.id) for one in told]
    assert 0 == len(watched.session.hub)


async def test_one_event_that_is_larger_than_all_that_may_wait_reaches_who_keeps_up(reducer: Any) -> None:
    watched = Watched(reducer, most_bytes=1_000)
    watched.record.add(Utterance("user", "x" * 50_000))

    assert [50_000] == [len(one.data["text"]) for one in await watched.rest()]


async def test_a_text_session_keeps_what_was_asked_for_piece_by_piece(
    reducer: Any, manager_of: ManagerOf, echo: ScriptedProvider
) -> None:
    async with manager_of(echo) as manager:
        stream: Any = await manager.create()
        feeds = {
            kinds: Feed(stream, kinds, most_bytes=1_000_000)
            for kinds in (("*",), ("utterance", "partial", "text_delta"))
        }
        told = {}
        for kinds, feed in feeds.items():
            following = feed.follow()
            assert following is not None
            told[kinds] = following
        await stream.process(UserMessageEvent("hi"))
        kept = {
            kinds: [event["kind"] for _ in range(len(it)) for event in feeds[kinds].rendered((await anext(it)).item)]
            for kinds, it in told.items()
        }

    assert ["utterance", "floor", "floor", "utterance", "floor"] == kept[("*",)]
    pieces = ["partial", "text_delta"] * 2
    assert ["utterance", *pieces, "utterance"] == kept[("utterance", "partial", "text_delta")]


async def test_who_reads_nothing_is_closed_in_time_and_told_that_it_is_behind(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, echo: ScriptedProvider, events_in: EventsIn
) -> None:
    app = app_of(manager=(manager := manager_of(echo)), limits=Limits(send_s=0.2))
    async with manager, serving(app) as served:
        url = (await served.client.post("/sessions", json={"kind": "text"})).json()["url"]
        stream = manager.list()[0]
        with stalled(served.url, f"{url}/events?kinds=properties") as slow:
            while not app.state.live.watchers(stream.id):
                await anyio.lowlevel.checkpoint()
            while not app.state.live._stuck:
                await stream.emit(PropertiesEvent({"text": "x" * 100_000}))
                await anyio.lowlevel.checkpoint()
            for _ in range(40):
                await stream.emit(PropertiesEvent({"text": "x" * 100_000}))
            with anyio.fail_after(3):
                while app.state.live.watchers(stream.id) or is_open(served, slow):
                    await anyio.lowlevel.checkpoint()
            ids = [line[4:].strip().decode() for line in await anyio.to_thread.run_sync(lines_of, slow)]
        headers = {"Last-Event-ID": ids[-1]}
        async with served.client.stream("GET", f"{url}/events?kinds=properties", headers=headers) as response:
            first = await anext(events_in(response))

    assert (first.kind, first.data.get("why")) == ("snapshot", "behind")  # of 4 MB a mebibyte may wait
    assert first.data["stale"] is True


def test_a_full_connection_is_given_its_time_and_who_was_closed_resumes_without_a_hole(
    run_virtually: Callable[..., Any], reducer: Any
) -> None:
    async def run() -> None:
        session = Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice())
        sent: list[bytes] = []

        async def send(message: Any) -> None:
            if len(sent) == 4:
                await anyio.sleep_forever()
            sent.append(message.get("body", b""))

        async def receive() -> Any:
            await anyio.sleep_forever()

        def answer(last_id: str) -> LiveResponse:
            events = EventStream(Feed(session, most_bytes=1_000_000), last_id, heartbeat_s=15.0)
            return LiveResponse(live, session.id, events)

        live = Live(Limits(send_s=7.0))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer(""), {"type": "http"}, receive, send)
            await anyio.wait_all_tasks_blocked()
            began_s = anyio.current_time()
            for number in range(5):
                session.discussion._record.add(Utterance("user", f"turn {number}"))
        took_s = anyio.current_time() - began_s
        seen = [told for body in sent for told in reducer.events_in(body)]
        assert 7.0 == pytest.approx(took_s, abs=0.01)
        assert ["snapshot", "utterance", "utterance"] == [told.kind for told in seen]
        assert 0 == len(session.hub)

        sent.clear()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer(seen[-1].id), {"type": "http"}, receive, send)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        again = [told.data["text"] for body in sent for told in reducer.events_in(body)]
        assert ["turn 2", "turn 3"] == again  # as many as the connection takes

    run_virtually(run)


def stalled(url: str, path: str) -> socket.socket:
    """A client that has asked, and reads nothing."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.connect((host, int(port)))
    slow.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    return slow


def is_open(served: Any, client: socket.socket) -> bool:
    """The server still has its connection."""
    return client.getsockname() in {connection.client for connection in served.server.server_state.connections}


def lines_of(slow: socket.socket) -> list[bytes]:
    """The ids that were on their way when the connection was closed."""
    slow.settimeout(10.0)
    return [line for line in slow.makefile("rb") if line.startswith(b"id: ")]


@pytest.mark.timed
async def test_a_server_with_64_watchers_of_whom_half_do_not_read_stops_within_a_second(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, echo: ScriptedProvider
) -> None:
    ended: list[str] = []

    async def follow(client: httpx.AsyncClient, url: str) -> None:
        async with client.stream("GET", url) as response:
            last = [line async for line in response.aiter_lines() if line.startswith("event: ")][-1]
        ended.append(last)

    app = app_of(manager=(manager := manager_of(echo)))
    async with manager:
        with ExitStack() as slow:
            async with serving(app) as served:
                served.server._ending = manager.aclose
                url = (await served.client.post("/sessions", json={"kind": "text"})).json()["url"]
                stream = manager.list()[0]
                async with anyio.create_task_group() as tasks:
                    for _ in range(32):
                        slow.enter_context(stalled(served.url, f"{url}/events?kinds=properties"))
                        tasks.start_soon(follow, served.client, f"{url}/events")
                    while app.state.live.watchers(stream.id) < 64:
                        await anyio.lowlevel.checkpoint()
                    while app.state.live._stuck.total() < 32:
                        await stream.emit(PropertiesEvent({"text": "x" * 60_000}))
                        await anyio.lowlevel.checkpoint()
                    began = time.monotonic()
                    served.server.should_exit = True
                took_s = time.monotonic() - began
            whole_s = time.monotonic() - began

    assert ["event: ended"] * 32 == ended
    assert took_s < 0.8
    assert whole_s < 0.8  # a tenth until it looks, and LAST_CHUNK_S


@pytest.mark.timed
async def test_last_bytes_that_nobody_reads_do_not_hold_up_the_end_of_the_server(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, echo: ScriptedProvider
) -> None:
    app = app_of(manager=(manager := manager_of(echo)))
    async with manager, AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(app))
        served.server._ending = manager.aclose
        url = (await served.client.post("/sessions", json={"kind": "text"})).json()["url"]
        stream = manager.list()[0]
        with stalled(served.url, f"{url}/events?kinds=properties") as slow:
            while not app.state.live.watchers(stream.id):
                await anyio.lowlevel.checkpoint()
            (connection,) = (it for it in served.server.server_state.connections if it.client == slow.getsockname())
            while not connection.transport.get_write_buffer_size():
                await stream.emit(PropertiesEvent({"text": "x" * 8_000}))
                await anyio.lowlevel.checkpoint()
            assert not app.state.live._stuck  # it could take some more
            began = time.monotonic()
            await stack.aclose()
            took_s = time.monotonic() - began

    assert took_s < 0.8


@pytest.mark.parametrize(("heavy", "made"), [(0, 1), (10**9, 3)])
async def test_watchers_who_come_at_once_share_a_heavy_state(
    monkeypatch: pytest.MonkeyPatch, heavy: int, made: int
) -> None:
    count = 0

    def counting(content: Any) -> bytes:
        nonlocal count
        count += 1
        return encoded(content)

    monkeypatch.setattr(states, "encoded", counting)
    monkeypatch.setattr(states, "HEAVY", heavy)
    session, shared = Session(ScriptedListener([]), EchoResponder(), SilentVoice()), states.States()
    firsts = []
    for _ in range(3):
        stream = EventStream(Feed(session, most_bytes=1_000_000), "", heartbeat_s=15.0, states=shared)
        stream.begin()
        firsts.append(await anext(stream.chunks()))
        await stream.aclose()

    assert made == count
    assert made == 3 or 1 == len(set(firsts))

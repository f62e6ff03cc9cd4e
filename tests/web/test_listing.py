"""Following which sessions there are, as one session is followed."""

import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette

from discussion_helper.registry import Sessions
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.web import Limits
from discussion_helper.web.framing import MESSAGES, SERVER_SENT, Framing
from discussion_helper.web.listing import Listing
from discussion_helper.web.sse import EventStream

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
Serving = Callable[..., Any]
EventsIn = Callable[[httpx.Response], Any]


async def test_all_sessions_can_be_followed_as_one_is(app_of: AppOf, serving: Serving, events_in: EventsIn) -> None:
    async with serving(app_of()) as served:
        first = (await served.client.post("/sessions", json={"transport": "fake"})).json()["id"]
        async with served.client.stream("GET", "/events") as response:
            events = events_in(response)
            snapshot = await anext(events)
            second = (await served.client.post("/sessions", json={"transport": "fake"})).json()["id"]
            opened = await anext(events)
            await served.client.delete(f"/sessions/{first}")
            over = await anext(events)
        async with served.client.stream("GET", "/events", headers={"Last-Event-ID": opened.id}) as response:
            resumed = await anext(events_in(response))
        foreign = {"Last-Event-ID": f"00000000-{opened.id.partition('-')[2]}"}
        async with served.client.stream("GET", "/events", headers=foreign) as response:
            stale = await anext(events_in(response))

    assert ("snapshot", [first]) == (snapshot.kind, snapshot.data["sessions"])
    assert ("opened", second) == (opened.kind, opened.data["id"])
    assert ("ended", first) == (over.kind, over.data["id"])
    assert over == resumed
    assert (True, "epoch", [second]) == tuple(stale.data[name] for name in ("stale", "why", "sessions"))


async def test_a_session_that_ends_by_itself_and_one_that_follows_it_are_told(
    app_of: AppOf, serving: Serving, events_in: EventsIn
) -> None:
    sessions: Sessions[Any] = Sessions()
    async with serving(app_of(sessions)) as served, served.client.stream("GET", "/events") as response:
        events = events_in(response)
        assert [] == (await anext(events)).data["sessions"]
        for _ in range(2):
            session = Session(ScriptedListener(["Hello"]), EchoResponder(), SilentVoice(), id="the-same-one")
            sessions.add(sessions.add(session)).start()
            told = [await anext(events), await anext(events)]
            assert [("opened", "the-same-one"), ("ended", "the-same-one")] == [(it.kind, it.data["id"]) for it in told]


async def test_a_session_of_an_id_that_was_there_before_is_the_last_one() -> None:
    def session(name: str, *turns: str) -> Session:
        listener = ScriptedListener(turns, stays_open=not turns)
        return Session(listener, EchoResponder(), SilentVoice(), id=name)

    sessions: Sessions[Session] = Sessions()
    await sessions.add(session("the-first", "hi")).start().wait()
    for name in ("the-second", "the-first"):
        sessions.add(session(name))

    assert ["the-second", "the-first"] == sessions.ids()


@pytest.mark.timed
async def test_who_follows_all_sessions_does_not_hold_up_the_end_of_the_server(
    app_of: AppOf, serving: Serving, events_in: EventsIn
) -> None:
    sessions: Sessions[Any] = Sessions()
    async with serving(app_of(sessions)) as served:
        served.server._ending = sessions.aclose
        async with served.client.stream("GET", "/events") as response:
            events = events_in(response)
            await anext(events)
            began = time.monotonic()
            served.server.should_exit = True
            assert [] == [one async for one in events]
        took_s = time.monotonic() - began

    assert took_s < 0.6


async def test_there_are_not_too_many_who_follow_all_sessions(
    app_of: AppOf, serving: Serving, events_in: EventsIn
) -> None:
    async with (
        serving(app_of(limits=Limits(watchers=1))) as served,
        served.client.stream("GET", "/events") as response,
    ):
        await anext(events_in(response))
        assert 503 == (await served.client.get("/events")).status_code


class Reader:
    """Follows the list, and comes back with the last id that it had."""

    def __init__(self, reducer: Any, sessions: Sessions[Session], most_bytes: int, framing: Framing) -> None:
        self._reducer, self._sessions, self._most_bytes = reducer, sessions, most_bytes
        self._framing = framing
        self._last_id = ""
        self._stream: EventStream | None = None
        self._frames: AsyncGenerator[list[bytes], None] | None = None
        self.known: list[str] = []

    async def come_back(self) -> None:
        await self.leave()
        listing = Listing(self._sessions, most_bytes=self._most_bytes)
        self._stream = EventStream(listing, self._last_id, heartbeat_s=0.001, framing=self._framing)
        self._stream.begin()
        self._frames = self._stream.frames()

    async def read(self) -> None:
        nothing = [self._framing.alive]  # after all that there was to be read
        while self._frames is not None and (frames := await anext(self._frames, nothing)) != nothing:
            for told in self._events_in(frames):
                self._last_id = told.id or self._last_id
                self._fold(told.data)

    def _events_in(self, frames: list[bytes]) -> list[Any]:
        as_stream = self._framing is SERVER_SENT
        told: list[Any] = self._reducer.events_in(b"".join(frames)) if as_stream else self._reducer.events_of(frames)
        return told

    def _fold(self, event: dict[str, Any]) -> None:
        match event["kind"]:
            case "snapshot":
                self.known = list(event["sessions"])
            case "opened":
                self.known.append(event["id"])
            case "ended":
                self.known.remove(event["id"])

    async def leave(self) -> None:
        if self._stream is not None and self._frames is not None:
            await self._frames.aclose()
            await self._stream.aclose()
        self._stream = self._frames = None


@pytest.mark.parametrize("framing", [SERVER_SENT, MESSAGES], ids=["stream", "socket"])
@given(
    steps=st.lists(st.sampled_from(["open", "open", "end", "read", "leave", "come_back"]), max_size=60),
    most_bytes=st.sampled_from([2_000, 1_000_000]),
)
def test_whatever_happens_to_the_connection_the_list_is_right_in_the_end(
    run_virtually: Callable[..., Any], reducer: Any, framing: Framing, steps: list[str], most_bytes: int
) -> None:
    async def run() -> None:
        async with Sessions[Session]() as sessions:
            reader = Reader(reducer, sessions, most_bytes, framing)
            for number, step in enumerate(steps):
                name = f"session-{number % 5}"
                if step == "open" and name not in sessions:
                    listener = ScriptedListener([], stays_open=True)
                    sessions.add(Session(listener, EchoResponder(), SilentVoice(), id=name))
                elif step == "end" and (ids := sessions.ids()):
                    await sessions.remove(ids[number % len(ids)])
                elif step in ("read", "leave", "come_back"):
                    await getattr(reader, step)()
            await reader.read()
            await reader.come_back()  # it may have had a gap
            await reader.read()
            assert sessions.ids() == reader.known
            await reader.leave()

    run_virtually(run)

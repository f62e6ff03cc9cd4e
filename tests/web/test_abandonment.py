"""A session for clients' microphones that nobody is at any more ends by itself, and makes room for another one."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette

from discussion_helper.errors import ModelMissing
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice, VirtualTimeLoop
from discussion_helper.text import Manager
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.voice.remote_link import RemoteLink
from discussion_helper.voice.remote_talk import RemoteTalk
from discussion_helper.web import Limits, Wish
from discussion_helper.web.abandonment import Abandonment

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
AFTER_S = 300.0
WITHIN_S = 1.0


@pytest.fixture
def anyio_backend() -> Any:
    return "asyncio", {"loop_factory": VirtualTimeLoop}


@asynccontextmanager
async def at_client(wish: Wish) -> AsyncIterator[RemoteTalk]:
    listener = ScriptedListener([], stays_open=True)
    yield RemoteTalk(Session(listener, EchoResponder(), SilentVoice(), wish.policy), RemoteLink())


@asynccontextmanager
async def without_models(_: Wish) -> AsyncIterator[RemoteTalk]:
    raise ModelMissing("The model is missing.", fix="Pull it.")
    yield


async def opened(client: Any, app: Starlette, transport: str = "remote") -> Session:
    answer = await client.post("/sessions", json={"transport": transport})
    assert 201 == answer.status_code, answer.text
    session: Session = app.state.sessions.get(answer.json()["id"])
    return session


async def lasted_s(session: Session) -> float:
    """How long from now until it has ended."""
    began_s = anyio.current_time()
    with anyio.fail_after(10 * AFTER_S):
        await session.wait()
    return anyio.current_time() - began_s


async def test_one_to_which_nobody_comes_ends_and_makes_room(app_of: AppOf, client_of: Any, settled: Any) -> None:
    app = app_of(open_remote=at_client, limits=Limits(remote=1))
    async with client_of(app) as client:
        session = await opened(client, app)
        full = await client.post("/sessions", json={"transport": "remote"})
        took_s = await lasted_s(session)
        await settled()
        state = (await client.get(f"/sessions/{session.id}")).json()
        await opened(client, app)

    assert 503 == full.status_code
    assert AFTER_S == pytest.approx(took_s, abs=WITHIN_S)
    assert ("abandoned", False) == (state["reason"], state["running"])


async def test_the_time_begins_when_the_last_watcher_has_gone(app_of: AppOf, client_of: Any) -> None:
    app = app_of(open_remote=at_client, limits=Limits(abandoned_s=60.0))
    async with client_of(app) as client:
        session = await opened(client, app)
        with app.state.live.place(session.id):
            await anyio.sleep(1000.0)
            with app.state.live.place(session.id):
                await anyio.sleep(1000.0)
        await anyio.sleep(59.0)
        with app.state.live.place(session.id):
            pass
        assert not session.ended
        took_s = await lasted_s(session)

    assert 60.0 == pytest.approx(took_s, abs=WITHIN_S)


async def test_whoever_types_now_and_then_keeps_it(app_of: AppOf, client_of: Any) -> None:
    app = app_of(open_remote=at_client)
    async with client_of(app) as client:
        session = await opened(client, app)
        for number in range(5):
            await anyio.sleep(AFTER_S - 1)
            answer = await client.post(f"/sessions/{session.id}/say", json={"text": f"number {number}"})
            assert 202 == answer.status_code
        took_s = await lasted_s(session)

    assert AFTER_S == pytest.approx(took_s, abs=WITHIN_S)
    assert 10 == len(session.discussion.conversation.utterances)


@pytest.mark.parametrize("open_remote", [None, without_models])
async def test_so_does_one_of_who_only_types(app_of: AppOf, client_of: Any, open_remote: Any) -> None:
    app = app_of(open_remote=open_remote)
    async with client_of(app) as client:
        with loop().held():  # what answers is made in a thread
            session = await opened(client, app)
        took_s = await lasted_s(session)

    assert AFTER_S == pytest.approx(took_s, abs=WITHIN_S)
    assert "abandoned" == session.state["reason"]


def loop() -> VirtualTimeLoop:
    running = asyncio.get_running_loop()
    assert isinstance(running, VirtualTimeLoop)
    return running


async def test_others_go_on_and_one_that_is_ended_is_not_called_abandoned(app_of: AppOf, client_of: Any) -> None:
    app = app_of(open_remote=at_client)
    async with client_of(app) as client:
        fake, remote = await opened(client, app, "fake"), await opened(client, app)
        await client.delete(f"/sessions/{remote.id}")
        await anyio.sleep(10 * AFTER_S)
        assert not fake.ended

    assert "stopped" == remote.state["reason"]


async def test_a_written_one_at_which_nobody_is_makes_room_where_there_is_none(
    app_of: AppOf, client_of: Any, manager_of: Callable[..., Manager], echo: ScriptedProvider
) -> None:
    async with manager_of(echo) as manager:
        app = app_of(manager=manager, limits=Limits(sessions=3))
        async with client_of(app) as client:

            async def write() -> tuple[int, str]:
                answer = await client.post("/sessions", json={"kind": "text"})
                return answer.status_code, answer.json().get("id", "")

            watched, oldest, newest = [(await write())[1] for _ in range(3)]
            with app.state.live.place(watched):
                status, one_more = await write()
                assert (201, [watched, newest, one_more]) == (status, app.state.sessions.ids())
                kept = await client.post("/sessions", json={"kind": "text", "thread_id": oldest})
                assert (201, oldest) == (kept.status_code, kept.json()["id"])
                with app.state.live.place(oldest), app.state.live.place(one_more):
                    full = await write()

    assert 503 == full[0]


@given(st.lists(st.tuples(st.integers(0, 400), st.sampled_from(["comes", "goes", "says"])), max_size=30))
def test_it_is_due_when_for_so_long_nobody_was_there_and_nothing_was_said(moves: list[tuple[int, str]]) -> None:
    rule, at_s, watchers, last_s = Abandonment(AFTER_S, 0.0), 0.0, 0, 0.0
    for later_s, move in moves:
        if not watchers and at_s + later_s - last_s >= AFTER_S:
            assert rule.due_s <= at_s + later_s
            return
        at_s += later_s
        assert rule.due_s > at_s
        if move == "says":
            rule.lived(at_s)
        elif move == "comes" or watchers:
            watchers += 1 if move == "comes" else -1
            rule.watched(watchers, at_s)
        else:
            continue
        last_s = at_s
    assert rule.due_s == (math.inf if watchers else last_s + AFTER_S)

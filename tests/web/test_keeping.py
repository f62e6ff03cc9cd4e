"""What is said by voice is kept where somebody asks for it, and nowhere else."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from discussion_helper.errors import SettingError
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text import Manager
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.web import Wish

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ClientOf = Callable[..., Any]
ManagerOf = Callable[..., Manager]


@asynccontextmanager
async def open_voice(wish: Wish) -> AsyncIterator[Session]:
    """A session on "this machine"."""
    listener = ScriptedListener((), stays_open=True)
    yield Session(listener, EchoResponder(), SilentVoice(), wish.policy, thread=wish.thread)


async def talked(client: httpx.AsyncClient, body: dict[str, Any], *texts: str) -> dict[str, Any]:
    """The state of a session in which this was said, and which is over."""
    opened = (await client.post("/sessions", json=body)).json()
    for text in texts:
        await client.post(f"{opened['url']}/say", json={"text": text})
    session = client._transport.app.state.sessions.get(opened["id"])  # type: ignore[attr-defined]
    async with session.events("timing") as events:
        for _ in texts[len(session.state["timings"]) :]:
            await anext(events)
    await session.stop()
    return dict((await client.get(opened["url"])).json())


@pytest.mark.parametrize(
    ("server", "body", "kept"),
    [
        (False, {}, False),
        (False, {"keep": True}, True),
        (False, {"keep": None}, False),
        (True, {}, True),
        (True, {"keep": False}, False),
        (True, {"transport": "fake"}, False),
        (False, {"transport": "fake", "keep": True}, True),
        (True, {"transport": "remote"}, True),
        (False, {"transport": "remote"}, False),
    ],
)
async def test_a_talk_is_kept_where_it_is_asked_for(
    app_of: AppOf,
    client_of: ClientOf,
    manager_of: ManagerOf,
    echo: ScriptedProvider,
    server: bool,
    body: dict[str, Any],
    kept: bool,
) -> None:
    async with manager_of(echo) as manager:
        app = app_of(manager=manager, open_voice=open_voice, keep=server)
        async with client_of(app) as client:
            health = (await client.get("/health")).json()
            state = await talked(client, body, "What is the time?")
            threads = (await client.get("/threads")).json()
            turns = [(await client.get(f"/threads/{thread['id']}")).json()["turns"] for thread in threads]

    assert server is health["keeps"]
    assert ["What is the time?"] * kept == [thread["first"] for thread in threads]
    assert [state.get("thread_id")] * kept == [thread["id"] for thread in threads]
    assert kept is ("thread_id" in state)
    assert [["user", "assistant"]] * kept == [[turn["role"] for turn in each] for each in turns]


async def test_of_a_session_in_which_nothing_was_said_nothing_is_kept(
    app_of: AppOf, client_of: ClientOf, manager_of: ManagerOf, echo: ScriptedProvider
) -> None:
    async with manager_of(echo) as manager, client_of(app_of(manager=manager)) as client:
        state = await talked(client, {"transport": "fake", "keep": True})
        threads = (await client.get("/threads")).json()

    assert state["thread_id"]
    assert [] == threads


async def test_who_goes_on_in_writing_has_what_the_model_was_told(
    app_of: AppOf, client_of: ClientOf, manager_of: ManagerOf, echo: ScriptedProvider
) -> None:
    async with manager_of(echo) as manager, client_of(app_of(manager=manager)) as client:
        body = {"transport": "fake", "keep": True, "system": "You are a chess tutor."}
        state = await talked(client, body, "Hello")
        thread = (await client.get(f"/threads/{state['thread_id']}")).json()
        written = (await client.post("/sessions", json={"kind": "text", "thread_id": thread["id"]})).json()

    assert {"system": "You are a chess tutor."} == thread["metadata"]
    assert ["Hello", "Hello"] == [utterance["text"] for utterance in written["utterances"]]


async def test_what_cannot_be_promised_is_refused(
    app_of: AppOf, client_of: ClientOf, manager_of: ManagerOf, echo: ScriptedProvider
) -> None:
    async with manager_of(echo) as manager, client_of(app_of(manager=manager)) as client:
        written = await client.post("/sessions", json={"kind": "text", "keep": False})
        wrong = await client.post("/sessions", json={"transport": "fake", "keep": "yes"})
        threads = (await client.get("/threads")).json()
    async with client_of(app_of()) as client:
        nowhere = await client.post("/sessions", json={"transport": "fake", "keep": True})

    assert (422, "keep: what is said in writing is always kept, as a thread.") == _told(written)
    assert (422, "Use true or false, or leave it out.") == (wrong.status_code, wrong.json()["fix"])
    assert (503, []) == (nowhere.status_code, threads)
    with pytest.raises(SettingError, match="keep: there is no store"):
        app_of(keep=True)


def _told(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, str(answer.json()["error"])

"""Which sessions write to a stored thread: who else may, and whether it may be deleted."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.text import Manager
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.web import Wish

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ClientOf = Callable[..., Any]
ManagerOf = Callable[..., Manager]


def open_fake(wish: Wish) -> Session:
    """One that goes on."""
    listener = ScriptedListener((), stays_open=True)
    return Session(listener, EchoResponder(), SilentVoice(), wish.policy, thread=wish.thread)


def open_remote(wish: Wish) -> Any:
    """At a client that does not come."""
    return fake_remote_talk((), policy=wish.policy, thread=wish.thread)


@pytest.fixture
def app(app_of: AppOf, manager_of: ManagerOf, echo: ScriptedProvider) -> Starlette:
    """With a store, and fakes at every microphone."""
    return app_of(manager=manager_of(echo), open_fake=open_fake, open_remote=open_remote)


@pytest.mark.parametrize("transport", ["fake", "remote"])
async def test_a_thread_is_not_deleted_under_an_open_session_by_voice(
    app: Starlette, client_of: ClientOf, transport: str
) -> None:
    async with client_of(app) as client:
        thread = await client.post("/sessions", json={"kind": "text"})
        await client.post(f"{thread.json()['url']}/messages", json={"content": "hi"})
        await client.delete(thread.json()["url"])
        url = f"/threads/{thread.json()['id']}"
        body = {"transport": transport, "thread_id": thread.json()["id"]}
        opened = (await client.post("/sessions", json=body)).json()
        refused = await client.delete(url)
        still = await client.get(url)
        await client.delete(opened["url"])
        gone = await client.delete(url)

    assert (409, f"DELETE /sessions/{opened['id']} first.") == (refused.status_code, refused.json()["fix"])
    assert [200, 204] == [still.status_code, gone.status_code]


async def test_nor_is_the_one_that_it_began(app: Starlette, client_of: ClientOf) -> None:
    async with client_of(app) as client:
        opened = (await client.post("/sessions", json={"transport": "fake", "keep": True})).json()
        session = app.state.sessions.get(opened["id"])
        async with session.events("timing") as events:
            await client.post(f"{opened['url']}/say", json={"text": "hi"})
            await anext(events)
            refused = await client.delete(f"/threads/{opened['thread_id']}")
            await client.post(f"{opened['url']}/say", json={"text": "still there?"})
            await anext(events)
        state = (await client.get(opened["url"])).json()
        await session.stop()
        turns = (await client.get(f"/threads/{opened['thread_id']}")).json()["turns"]

    assert (409, True, 4) == (refused.status_code, state["running"], len(turns))


async def test_of_two_sessions_by_voice_on_a_thread_the_second_is_refused(app: Starlette, client_of: ClientOf) -> None:
    async with client_of(app) as client:
        written = (await client.post("/sessions", json={"kind": "text"})).json()
        await client.post(f"{written['url']}/messages", json={"content": "hi"})
        body = {"transport": "remote", "thread_id": written["id"]}
        answers: list[Any] = []

        async def opening() -> None:
            answers.append(await client.post("/sessions", json=body))

        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(opening)
        first, second = sorted(answers, key=lambda answer: int(answer.status_code))
        third = await client.post("/sessions", json={**body, "transport": "fake"})
        beside = await client.post("/sessions", json={"kind": "text", "thread_id": written["id"]})
        await client.delete(first.json()["url"])
        again = await client.post("/sessions", json=body)

    assert [201, 409, 409] == [answer.status_code for answer in (first, second, third)]
    assert first.json()["id"] in third.json()["fix"]
    assert [201, 201] == [beside.status_code, again.status_code]


async def test_a_thread_that_is_opened_or_deleted_meanwhile_is_neither(
    client_of: ClientOf, manager_of: ManagerOf, echo: ScriptedProvider, app_of: AppOf
) -> None:
    manager, going = manager_of(echo), anyio.Event()
    deleting, delete = anyio.Event(), manager.store.delete

    async def slow(thread_id: str) -> bool:
        deleting.set()
        await going.wait()
        return await delete(thread_id)

    manager.store.delete = slow  # type: ignore[method-assign]
    thread = await manager.store.create()
    statuses: list[int] = []
    async with client_of(app_of(manager=manager)) as client, anyio.create_task_group() as tasks:

        async def deleted() -> None:
            statuses.append((await client.delete(f"/threads/{thread.id}")).status_code)

        tasks.start_soon(deleted)
        await deleting.wait()
        for kind in ("text", "voice"):
            body = {"kind": kind, "thread_id": thread.id} | ({"transport": "fake"} if kind == "voice" else {})
            statuses.append((await client.post("/sessions", json=body)).status_code)
        statuses.append((await client.delete(f"/threads/{thread.id}")).status_code)
        going.set()

    assert [409, 409, 409, 204] == statuses


async def test_what_is_said_in_a_stored_thread_cannot_be_left_out_of_it(app: Starlette, client_of: ClientOf) -> None:
    async with client_of(app) as client:
        thread = (await client.post("/sessions", json={"kind": "text"})).json()
        await client.post(f"{thread['url']}/messages", json={"content": "hi"})
        body = {"transport": "fake", "thread_id": thread["id"]}
        refused = await client.post("/sessions", json={**body, "keep": False})
        taken = await client.post("/sessions", json={**body, "keep": True})

    what = "keep: what is said in a session on a stored thread is always kept there."
    assert (422, what, 201) == (refused.status_code, refused.json()["error"], taken.status_code)

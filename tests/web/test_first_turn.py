"""A session in writing is stored with its first turn: who opens one and says nothing leaves no empty thread."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette

from discussion_helper.text import Manager, TextDelta
from discussion_helper.text.providers.scripted import ScriptedProvider

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ClientOf = Callable[..., Any]
ManagerOf = Callable[..., Manager]
TEXT = {"kind": "text", "system": "You are Karin."}


async def ids(client: Any) -> list[str]:
    return [entry["id"] for entry in (await client.get("/threads")).json()]


async def test_nothing_is_stored_before_something_is_said(
    app_of: AppOf, client_of: ClientOf, manager_of: ManagerOf
) -> None:
    manager = manager_of(ScriptedProvider([TextDelta("Good day.")]))
    async with client_of(app_of(manager=manager)) as client:
        opened = (await client.post("/sessions", json=TEXT)).json()
        before = await ids(client)
        await client.post(f"{opened['url']}/interrupt")
        still = await ids(client)
        await client.post(f"{opened['url']}/messages", json={"content": "Hello"})
        after = await ids(client)
        thread = (await client.get(f"/threads/{opened['id']}")).json()

    assert ([], [], [opened["id"]]) == (before, still, after)
    assert ["user", "assistant"] == [turn["role"] for turn in thread["turns"]]
    assert {"You are Karin."} == set(thread["metadata"].values())


async def test_the_id_is_good_also_after_a_session_in_which_nothing_was_said(
    app_of: AppOf, client_of: ClientOf, manager_of: ManagerOf
) -> None:
    manager = manager_of(ScriptedProvider([TextDelta("Good day.")]))
    async with client_of(app_of(manager=manager)) as client:
        opened = (await client.post("/sessions", json=TEXT)).json()
        await client.delete(opened["url"])
        left = await ids(client)
        again = await client.post("/sessions", json={"kind": "text", "thread_id": opened["id"]})
        await client.post(f"{opened['url']}/messages", json={"content": "Hello"})

        assert ([], 201, opened["id"]) == (left, again.status_code, again.json()["id"])
        assert [opened["id"]] == await ids(client)

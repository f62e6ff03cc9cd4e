"""What the sessions of a server are called: in their states and in the list, by voice and in writing."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette

from discussion_helper.text import Manager
from discussion_helper.text.providers.scripted import ScriptedProvider

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ManagerOf = Callable[..., Manager]


@pytest.mark.parametrize("body", [{"kind": "text"}, {"transport": "fake"}], ids=["text", "voice"])
async def test_a_title_is_in_the_state_and_in_the_list(
    app_of: AppOf, manager_of: ManagerOf, serving: Any, events_in: Any, echo: ScriptedProvider, body: dict[str, str]
) -> None:
    async with manager_of(echo) as manager, serving(app_of(manager=manager)) as served:
        opened = (await served.client.post("/sessions", json=body)).json()
        url, session_id = opened["url"], opened["id"]
        kinds = "kinds=utterance"
        async with served.client.stream("GET", f"{url}/events?{kinds}") as response:
            events = events_in(response)
            await anext(events)
            await served.client.post(f"{url}/say", json={"text": "What is\n the time?"})
            await anext(events)
        state = (await served.client.get(url)).json()
        async with served.client.stream("GET", "/events") as response:
            events = events_in(response)
            listed = (await anext(events)).data
            await served.client.delete(url)
            ended = (await anext(events)).data

    assert session_id[:8] == opened["title"]
    assert ["What is the time?"] * 3 == [state["title"], listed["titles"][session_id], ended["title"]]

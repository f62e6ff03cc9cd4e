"""What the model is told beforehand, for one session alone."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from starlette.applications import Starlette

from discussion_helper.commands.serve_parts import ServeParts
from discussion_helper.settings import Settings
from discussion_helper.testing import EchoResponder
from discussion_helper.text import Manager, MemoryThreads
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.text_app import step_for
from discussion_helper.web import Wish
from discussion_helper.web.bodies import LONGEST_SYSTEM

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ClientOf = Callable[..., Any]
CHESS = "You are a chess tutor."
SERVERS = "You keep a shop."


def serving(provider: ScriptedProvider, system: str = SERVERS) -> Manager:
    """As `serve` makes it."""
    return Manager(MemoryThreads(), provider, partial(step_for, system="", usual=system))


async def said(client: Any, url: str) -> None:
    await client.post(f"{url}/messages", json={"content": "Hello."})


def told(provider: ScriptedProvider) -> list[str]:
    return [state.turns[0].text for state in provider.states]


async def test_a_session_in_writing_has_its_own_and_its_thread_keeps_them(
    app_of: AppOf, client_of: ClientOf, echo: ScriptedProvider
) -> None:
    async with serving(echo) as manager, client_of(app_of(manager=manager)) as client:
        own = (await client.post("/sessions", json={"kind": "text", "system": CHESS})).json()
        usual = (await client.post("/sessions", json={"kind": "text"})).json()
        for session in (own, usual):
            await said(client, session["url"])
            await client.delete(session["url"])
            again = await client.post("/sessions", json={"kind": "text", "thread_id": session["id"]})
            await said(client, again.json()["url"])

    assert [CHESS, CHESS, SERVERS, SERVERS] == told(echo)


async def test_a_stored_thread_is_given_others_unless_it_is_open(
    app_of: AppOf, client_of: ClientOf, echo: ScriptedProvider
) -> None:
    async with serving(echo, "") as manager, client_of(app_of(manager=manager)) as client:
        session = (await client.post("/sessions", json={"kind": "text"})).json()
        opening = {"kind": "text", "thread_id": session["id"], "system": CHESS}
        refused = await client.post("/sessions", json=opening)
        await client.delete(session["url"])
        again = [await client.post("/sessions", json=opening) for _ in range(2)]
        await said(client, session["url"])

    assert (409, [201, 201]) == (refused.status_code, [answer.status_code for answer in again])
    assert f"DELETE /sessions/{session['id']} first, or leave system out." == refused.json()["fix"]
    assert [CHESS] == told(echo)


@pytest.mark.parametrize("transport", ["remote", "fake"])
async def test_a_voice_session_passes_them_to_what_answers(app_of: AppOf, client_of: ClientOf, transport: str) -> None:
    made: list[Wish] = []

    def answers(wish: Wish) -> EchoResponder:
        made.append(wish)
        return EchoResponder()

    async with client_of(app_of(open_responder=answers)) as client:
        opened = await client.post("/sessions", json={"transport": transport, "system": CHESS})

    assert 201 == opened.status_code
    assert [CHESS] * (transport == "remote") == [wish.system for wish in made]


def test_the_servers_own_are_for_who_brings_none() -> None:
    parts = ServeParts(Settings(system=SERVERS))

    assert [CHESS, SERVERS] == [parts._wished(wish).system for wish in (Wish(system=CHESS), Wish())]


@pytest.mark.parametrize(
    ("system", "what"),
    [
        (" ", "system: it is blank."),
        (3, "system: "),
        ("x" * (LONGEST_SYSTEM + 1), "system: it has more than 16,384 characters."),
    ],
)
@pytest.mark.parametrize("kind", [{"kind": "text"}, {"transport": "fake"}])
async def test_what_is_none_is_told(
    app_of: AppOf, client_of: ClientOf, echo: ScriptedProvider, kind: dict[str, str], system: Any, what: str
) -> None:
    async with serving(echo) as manager, client_of(app_of(manager=manager)) as client:
        wrong = await client.post("/sessions", json={**kind, "system": system})

    assert 422 == wrong.status_code
    assert what in wrong.json()["error"]
    assert "Use a text of up to 16,384 characters, or leave it out." == wrong.json()["fix"]

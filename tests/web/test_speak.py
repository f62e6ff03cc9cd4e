"""A program has the agent of a voice session say something."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette

from discussion_helper.text import Manager

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ClientOf = Callable[..., Any]
SLOW_MACHINE_S = 20.0


async def test_the_agent_says_it_and_has_said_it_in_the_transcript(app_of: AppOf, client_of: ClientOf) -> None:
    app = app_of()
    async with client_of(app) as client:
        url = (await client.post("/sessions", json={"transport": "remote"})).json()["url"]
        session = app.state.sessions.get(url.removeprefix("/sessions/"))
        async with session.events("utterance") as events:
            spoken = await client.post(f"{url}/speak", json={"text": "Shall I restart it?"})
            with anyio.fail_after(SLOW_MACHINE_S):
                await anext(events)
        ended = await client.delete(url)

    assert (202, {"accepted": True}) == (spoken.status_code, spoken.json())
    assert [("agent", "Shall I restart it?")] == [(u["speaker"], u["text"]) for u in ended.json()["utterances"]]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({}, "text: it is missing."),
        ({"text": " "}, "text: it is blank."),
        ({"text": 3}, "text: "),
        ({"text": "Hello.", "voice": "joe-medium"}, "voice: there is no such field."),
    ],
)
async def test_what_is_nothing_to_say_is_told(app_of: AppOf, client_of: ClientOf, body: Any, what: str) -> None:
    async with client_of(app_of()) as client:
        url = (await client.post("/sessions", json={"transport": "fake"})).json()["url"]
        wrong = await client.post(f"{url}/speak", json=body)

    assert 422 == wrong.status_code
    assert what in wrong.json()["error"]


async def test_more_than_a_body_may_have_is_not_said(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of()) as client:
        url = (await client.post("/sessions", json={"transport": "fake"})).json()["url"]
        large = await client.post(f"{url}/speak", json={"text": "a" * 64 * 1024})

    assert 413 == large.status_code


async def test_who_cannot_speak_says_so_with_the_fix(
    app_of: AppOf, client_of: ClientOf, manager_of: Callable[..., Manager], echo: Any
) -> None:
    async with manager_of(echo) as manager:
        app = app_of(manager=manager)
        async with client_of(app) as client:
            written = (await client.post("/sessions", json={"kind": "text"})).json()["url"]
            over = (await client.post("/sessions", json={"transport": "fake", "turns": ["One"]})).json()["url"]
            await app.state.sessions.get(over.removeprefix("/sessions/")).wait()
            told = [await client.post(f"{url}/speak", json={"text": "Hello."}) for url in (written, over)]
            gone = await client.post("/sessions/nobody-at-all/speak", json={"text": "Hello."})

    assert [409, 409, 404] == [answer.status_code for answer in (*told, gone)]
    assert ["This is a text session.", "This session does not run."] == [answer.json()["error"] for answer in told]
    assert ["Speak in a voice session.", "Open another one."] == [answer.json()["fix"] for answer in told]

"""The rest of what a client asks for, at a real server: to speak, the key, the microphone, threads, a new token."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import anyio
import pytest

from discussion_helper.client import Client, NotLetIn, Refused
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text import Manager, MemoryThreads, Step, TextDelta
from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider
from discussion_helper.web import Wish, create_app

pytestmark = pytest.mark.anyio

Serving = Callable[..., Any]
TOKEN = "a-token-for-tests"
SLOW_MACHINE_S = 20.0


class Handset(ScriptedListener):
    """A listener with a key and a microphone, which notes what is done to them."""

    def __init__(self) -> None:
        super().__init__([], stays_open=True)
        self.done: list[str] = []

    async def press(self) -> None:
        self.done.append("press")

    async def release(self) -> None:
        self.done.append("release")

    async def mute(self, on: bool) -> None:
        self.done.append(f"mute {on}")


async def test_the_agent_says_what_a_program_has_it_say(serving: Serving) -> None:
    async with serving(create_app(token=TOKEN)) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="fake")
        async with client.follow(session.id, "utterance") as events:
            await client.speak(session.id, "Shall I restart it?")
            with anyio.fail_after(SLOW_MACHINE_S):
                said = [await anext(events) for _ in range(2)][1]
        with pytest.raises(Refused, match="text: it is blank"):
            await client.speak(session.id, " ")

    assert ("agent", "Shall I restart it?") == (said.data["speaker"], said.data["text"])


async def test_the_key_and_the_microphone_of_a_voice_session(serving: Serving) -> None:
    handset = Handset()

    def made(wish: Wish) -> Session:
        return Session(handset, EchoResponder(), SilentVoice(), wish.policy)

    app = create_app(token=TOKEN, open_fake=made)
    async with serving(app) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="fake", turn_policy="push_to_talk")
        cut = await client.press(session.id)
        await client.release(session.id)
        await client.mute(session.id)
        await client.mute(session.id, False)
        with pytest.raises(Refused, match="This is a voice session"):
            await client.cancel(session.id)

    assert cut is False
    assert ["press", "release", "mute True", "mute False"] == handset.done


async def test_a_text_session_has_its_own_instructions_and_is_cancelled(serving: Serving) -> None:
    manager = Manager(MemoryThreads(), ScriptedProvider([FOREVER]), lambda _: Step())
    app = create_app(token=TOKEN, manager=manager)
    async with manager, serving(app) as url, Client(url, token=TOKEN) as client:
        session = await client.open(kind="text", system="You are a chess tutor.")
        idle = await client.cancel(session.id)
        async with client.follow(session.id, "lifecycle") as events:
            await client.say(session.id, "Hello.")
            with anyio.fail_after(SLOW_MACHINE_S):
                while (await anext(events)).data.get("phase") != "submitted":
                    pass
            running = await client.cancel(session.id)
        kept = await client.thread(session.id)

    assert (False, True) == (idle, running)
    assert {"system": "You are a chess tutor."} == kept.metadata


async def test_the_conversations_that_are_kept_are_listed_read_and_forgotten(serving: Serving) -> None:
    manager = Manager(MemoryThreads(), ScriptedProvider([TextDelta("Hello world")]), lambda _: Step())
    app = create_app(token=TOKEN, manager=manager)
    async with manager, serving(app) as url, Client(url, token=TOKEN) as client:
        session = await client.open(kind="text")
        async with client.follow(session.id, "lifecycle") as events:
            await client.say(session.id, "Hi there.")
            with anyio.fail_after(SLOW_MACHINE_S):
                while (await anext(events)).data.get("phase") != "done":
                    pass
        (head,) = await client.threads()
        thread = await client.thread(session.id)
        with pytest.raises(Refused, match="A session is open on this thread"):
            await client.forget(session.id)
        await client.end(session.id)
        await client.forget(session.id)
        left = await client.threads()
        with pytest.raises(Refused) as gone:
            await client.thread(session.id)

    assert (session.id, 2, "Hi there.", "") == (head.id, head.turn_count, head.first, head.error)
    assert isinstance(head.updated_at, datetime)
    assert (["user", "assistant"], head.id) == ([turn.role for turn in thread.turns], thread.id)
    assert "Hello world" == thread.turns[1].artifacts[0]["content"]
    assert (True, False) == (thread.turns[0].answered, thread.turns[1].interrupted)
    assert ([], 404) == (left, gone.value.status)


async def test_a_new_token_lets_this_client_in_and_no_other(serving: Serving) -> None:
    async with (
        serving(create_app(token=TOKEN)) as url,
        Client(url, token=TOKEN) as client,
        Client(url, token=TOKEN) as other,
    ):
        link = await client.rotate_token()
        listed = await client.sessions()
        async with Client(link.url, token=link.token) as third:
            listed += await third.sessions()
        with pytest.raises(NotLetIn):
            await other.sessions()

    assert [] == listed
    assert (link, url) == (client.link, link.url)
    assert link.token not in (None, TOKEN)
    assert str(link.token) not in repr(link)

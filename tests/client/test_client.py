"""The client at a real server."""

import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from discussion_helper.client import Client, NotLetIn, Refused, ServerUnreachable
from discussion_helper.client.audio import AudioClient
from discussion_helper.text import Manager, MemoryThreads, Step, TextDelta
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.types import Floor
from discussion_helper.web import Limits, create_app
from discussion_helper.web.tls import tls_context

pytestmark = pytest.mark.anyio

Serving = Callable[..., Any]
TOKEN = "a-token-for-tests"
CERT, KEY = (Path(__file__).parents[1] / "web" / f"loopback-{what}.pem" for what in ("cert", "key"))
SLOW_MACHINE_S = 20.0


async def silent() -> AsyncIterator[Any]:
    """A microphone of which nothing comes."""
    await anyio.sleep_forever()
    yield


async def until_answered(events: Any) -> list[Any]:
    """What comes up to the end of the agent's answer."""
    told = []
    with anyio.fail_after(SLOW_MACHINE_S):
        async for event in events:
            told.append(event)
            if event.kind == "utterance" and event.data["speaker"] == "agent":
                break
    return told


async def test_a_session_is_opened_followed_spoken_to_and_ended(serving: Serving) -> None:
    async with serving(create_app(token=TOKEN)) as url, Client(url, token=TOKEN) as client:
        opened = await client.open(transport="fake", allow_barge_in=False)
        async with client.follow(opened.id) as events:
            accepted = await client.say(opened.id, "Hello\u2028there.")
            told = await until_answered(events)
            listed = await client.sessions()
            cut = await client.interrupt(opened.id)
            state = await client.state(opened.id)
            transcript = await client.end(opened.id)
            rest = [event.kind async for event in events]

    assert ("voice", "fake", True, Floor.IDLE) == (opened.kind, opened.transport, opened.running, opened.floor)
    assert ("snapshot", opened.id) == (told[0].kind, told[0].data["state"]["id"])
    assert (opened.id, "", False) == (listed[0], accepted.event_id, cut)
    assert "Hello\u2028there." == next(event.data["text"] for event in told if event.kind == "utterance")
    assert ["user", "agent"] == [utterance.speaker for utterance in state.utterances]
    assert state.told["utterances"][0]["text"] == state.utterances[0].text == transcript.utterances[0].text
    assert (opened.id, 0.0) == (transcript.id, transcript.interruption_rate)
    assert "ended" == rest[-1]
    assert 1 == len(transcript.timings)


async def test_whoever_was_cut_off_gets_at_a_real_server_what_it_missed(serving: Serving) -> None:
    async with serving(create_app(token=TOKEN)) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="fake")
        async with client.follow(session.id) as events, client.follow(session.id) as never_cut:
            await client.say(session.id, "one")
            told = await until_answered(events)
            await events._hang_up()
            await client.say(session.id, "two")
            told += await until_answered(events)
            await client.end(session.id)
            told += [event async for event in events]
            expected = [event async for event in never_cut]

    assert expected[1:] == told[1:]
    assert 1 == sum(event.kind == "snapshot" for event in told)


async def test_a_text_session_tells_which_event_is_whose(serving: Serving) -> None:
    provider = ScriptedProvider([TextDelta("Hello"), TextDelta(" world")])
    manager = Manager(MemoryThreads(), provider, lambda _: Step())
    app = create_app(token=TOKEN, manager=manager)
    async with manager, serving(app) as url, Client(url, token=TOKEN) as client:
        opened = await client.open(kind="text")
        async with client.follow(opened.id, "text_delta", "lifecycle") as events:
            accepted = await client.say(opened.id, "hi")
            pieces = []
            with anyio.fail_after(SLOW_MACHINE_S):
                async for event in events:
                    if event.kind == "text_delta":
                        pieces.append((event.data["content"], event.data["context"]["event_id"]))
                    if event.data.get("phase") == "done":
                        break
        state = await client.state(opened.id)

    assert [("Hello", accepted.event_id), (" world", accepted.event_id)] == pieces
    assert ("text", 0, "Hello world") == (state.kind, state.pending, state.utterances[-1].text)


async def test_what_the_server_refuses_is_raised_with_its_words_and_its_fix(serving: Serving) -> None:
    async with serving(create_app(token=TOKEN)) as url, Client(url, token=TOKEN) as client:
        session = await client.open(transport="fake")
        refused: list[Refused] = []
        for ask in (
            lambda: client.say("nobody", "hi"),
            lambda: client.say(session.id, " "),
            lambda: client.say(session.id, "half a pair \udcff"),
            lambda: client.open(transport="fake", turn_policy="sometimes"),
            lambda: anext(client.follow(session.id, "nonsense")),
            lambda: client.open(kind="text"),
        ):
            with pytest.raises(Refused) as caught:
                await ask()
            refused.append(caught.value)

    assert [404, 422, 422, 422, 422, 503] == [error.status for error in refused]
    assert "text: it is blank. Use a text that is not blank." == str(refused[1])
    assert all(error.what and error.fix for error in refused)


async def test_a_rotated_token_ends_what_is_followed_with_a_clear_error(serving: Serving) -> None:
    async with serving(create_app(token=TOKEN)) as url, Client(f"{url}/?token={TOKEN}") as client:
        session = await client.open(transport="fake")
        async with client.follow(session.id) as events, httpx.AsyncClient(base_url=url) as other:
            await anext(events)
            answer = await other.post("/token/rotate", headers=dict(client.link.headers))
            with anyio.fail_after(SLOW_MACHINE_S), pytest.raises(NotLetIn, match="printed last"):
                await anext(events)
        with pytest.raises(NotLetIn, match="token is missing or wrong"):
            await client.sessions()
        async with Client(url, token=answer.json()["token"]) as again:
            assert [session.id] == await again.sessions()


async def test_a_server_that_is_not_there_is_told_with_the_fix(serving: Serving) -> None:
    async with serving(create_app(token=TOKEN)) as url:
        pass
    async with Client(url, token=TOKEN) as client:
        with pytest.raises(ServerUnreachable, match="discussion-helper serve"):
            await client.sessions()
        with pytest.raises(ServerUnreachable, match="cannot be reached"):
            async with client.follow("anything"):
                pass


async def test_who_asks_too_often_is_let_wait_and_gets_all(serving: Serving) -> None:
    limits = Limits(rate=5.0, rate_of_all=5.0, burst_s=1.0)
    async with serving(create_app(token=TOKEN, limits=limits)) as url, Client(url, token=TOKEN) as client:
        began_s = anyio.current_time()
        listed = [await client.sessions() for _ in range(7)]
        took_s = anyio.current_time() - began_s

    assert [[]] * 7 == listed
    assert 1.0 <= took_s


async def test_a_certificate_is_trusted_when_that_was_said(serving: Serving) -> None:
    app = create_app(token=TOKEN)
    async with serving(app, tls=tls_context(CERT, KEY)) as url:
        trusted = ssl.create_default_context(cafile=CERT)
        async with Client(url, token=TOKEN, tls=trusted) as client, Client(url, token=TOKEN) as doubtful:
            listed = await client.sessions()
            told = []
            for ask in (doubtful.sessions, lambda: anext(doubtful.follow("anything"))):
                with pytest.raises(ServerUnreachable, match="certificate") as caught:
                    await ask()
                told.append(caught.value.fix)
            with pytest.raises(ServerUnreachable, match="certificate") as caught:
                await AudioClient(doubtful.link, "anything").run(silent(), lambda _: None)
            told.append(caught.value.fix)

    assert [] == listed
    for fix in told:
        assert "tls=ssl.create_default_context(cafile=FILE)" in fix
        assert "SSL_CERT_FILE" in fix
        assert "discussion-helper serve" not in fix


async def test_an_address_of_the_other_kind_is_told_as_that(serving: Serving) -> None:
    app = create_app(token=TOKEN)
    told = []
    async with serving(app, tls=tls_context(CERT, KEY)) as tls, serving(app) as plain:
        for url in (tls.replace("https", "http"), plain.replace("http", "https")):
            async with Client(url, token=TOKEN) as client:
                with pytest.raises(ServerUnreachable) as caught:
                    await client.sessions()
                told.append(caught.value.fix)

    assert "begins with https://" in told[0]
    assert "begins with http://" in told[1]

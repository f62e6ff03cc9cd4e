"""/metrics: what was counted, in the text format of Prometheus."""

import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.routing import Route

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text import Manager, TextDelta
from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider
from discussion_helper.voice.health import Health
from discussion_helper.web import Wish

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ManagerOf = Callable[..., Manager]
ClientOf = Callable[..., Any]
Values = dict[tuple[str, ...], float]


async def values_of(client: httpx.AsyncClient) -> Values:
    """By name and labels, without the common beginning of the names."""
    answer = await client.get("/metrics")
    assert (200, "text/plain") == (answer.status_code, answer.headers["content-type"].partition(";")[0])
    return {
        (sample.name.removeprefix("discussion_helper_"), *(sample.labels[name] for name in sorted(sample.labels))): (
            sample.value
        )
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


async def test_a_conversation_by_voice_is_counted_and_measured(app_of: AppOf, client_of: ClientOf) -> None:
    app = app_of()
    async with client_of(app) as client:
        body = {"transport": "fake", "turns": ["One.", "A secret."]}
        opened = (await client.post("/sessions", json=body)).json()
        await app.state.sessions.get(opened["id"]).wait()
        await client.post("/sessions", json={"transport": "fake"})
        values = await values_of(client)
        text = (await client.get("/metrics")).text

    assert (1, 0) == (values["sessions", "voice"], values["sessions", "text"])
    assert 2 == values["sessions_opened_total", "voice"]
    assert (2, 2) == (values["turns_total", "voice", "user"], values["turns_total", "voice", "agent"])
    assert {2} == {
        values["stage_seconds_count", "voice", stage] for stage in ("endpoint", "recognise", "think", "speak")
    }
    assert 2 == values["first_audio_seconds_count",]
    assert "secret" not in text
    assert opened["id"] not in text


async def test_a_session_in_writing_is_counted_with_what_was_cancelled_and_what_failed(
    app_of: AppOf, client_of: ClientOf, manager_of: ManagerOf
) -> None:
    provider = ScriptedProvider([TextDelta("Yes.")], [ValueError("broke")], [FOREVER])
    async with manager_of(provider) as manager, client_of(app_of(manager=manager)) as client:
        url = (await client.post("/sessions", json={"kind": "text"})).json()["url"]
        for text in ("One?", "Two?"):
            await client.post(f"{url}/messages", json={"content": text})
        await client.post(f"{url}/say", json={"text": "Three?"})
        await provider.asked(3)
        await client.post(f"{url}/cancel")
        await client.delete(url)
        values = await values_of(client)

    assert (0, 1) == (values["sessions", "text"], values["sessions_opened_total", "text"])
    assert 1 == values["turns_total", "text", "agent"]
    assert 1 == values["interruptions_total", "cancel", "text"]
    assert 1 == values["errors_total", "turn"]
    assert 1 == values["stage_seconds_count", "text", "think"]


async def test_a_reply_that_is_cut_is_counted_by_what_cut_it(app_of: AppOf, client_of: ClientOf) -> None:
    def fake(wish: Wish) -> Session:
        listener = ScriptedListener([], stays_open=True)
        return Session(listener, EchoResponder(), SilentVoice(60.0), wish.policy)

    app = app_of(open_fake=fake)
    async with client_of(app) as client:
        opened = (await client.post("/sessions", json={"transport": "fake"})).json()
        async with app.state.sessions.get(opened["id"]).events("partial") as events:
            await client.post(f"{opened['url']}/say", json={"text": "Hello."})
            await anext(events)
            assert (await client.post(f"{opened['url']}/interrupt")).json()["interrupted"]
        values = await values_of(client)

    assert 1 == values["interruptions_total", "interrupt", "voice"]


async def test_how_the_audio_is_doing_is_told_and_counts_outlive_their_session(
    app_of: AppOf, client_of: ClientOf
) -> None:
    health = [Health(blocks=100, late_p99_s=0.004, late_worst_s=0.02, underflows=1)]

    def fake(wish: Wish) -> Session:
        session = Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice(), wish.policy)
        session.health = lambda: health[0]
        return session

    async with client_of(app_of(open_fake=fake)) as client:
        url = (await client.post("/sessions", json={"transport": "fake"})).json()["url"]
        first = await values_of(client)
        health[0] = Health(blocks=150, late_p99_s=0.005, late_worst_s=0.03, underflows=3, dropped=2)
        await client.delete(url)
        last = await values_of(client)

    assert (100, 1, 0) == tuple(first[f"audio_{name}_total",] for name in ("blocks", "underflows", "dropped"))
    assert (0.004, 0.02) == (first["audio_late_seconds", "99%"], first["audio_late_seconds", "all"])
    assert (150, 3, 2) == tuple(last[f"audio_{name}_total",] for name in ("blocks", "underflows", "dropped"))
    assert 0 == last["audio_late_seconds", "all"]


async def test_watchers_are_counted_while_they_follow(app_of: AppOf, serving: Any) -> None:
    app = app_of()
    async with serving(app) as served:
        url = (await served.client.post("/sessions", json={"transport": "fake"})).json()["url"]
        async with served.client.stream("GET", f"{url}/events") as stream:
            await anext(stream.aiter_lines())
            during = await values_of(served.client)
        await app.state.live.handed_over()
        after = await values_of(served.client)

    assert (1, 0) == (during["watchers",], after["watchers",])


async def test_a_request_that_fails_is_counted(app_of: AppOf, client_of: ClientOf) -> None:
    async def broken(_: object) -> Any:
        raise ValueError("of nobody's business")

    async with client_of(app_of(routes=[Route("/broken", broken)])) as client:
        assert 500 == (await client.get("/broken")).status_code
        values = await values_of(client)

    assert 1 == values["errors_total", "request"]


async def test_what_watchers_lose_is_counted(app_of: AppOf, client_of: ClientOf) -> None:
    class Lossy:
        dropped = 3

    app, lossy = app_of(), Lossy()
    async with client_of(app) as client:
        with app.state.live.counted(lossy):
            first = await values_of(client)
            lossy.dropped = 5
        last = await values_of(client)

    assert (3, 5) == (first["dropped_events_total",], last["dropped_events_total",])


async def test_a_session_that_fails_is_counted(app_of: AppOf, client_of: ClientOf) -> None:
    class Deaf(ScriptedListener):
        async def speech_started(self) -> None:
            raise ValueError("deaf")

    app = app_of(open_fake=lambda wish: Session(Deaf(["One."]), EchoResponder(), SilentVoice(), wish.policy))
    async with client_of(app) as client:
        opened = (await client.post("/sessions", json={"transport": "fake"})).json()
        with pytest.raises(ValueError, match="deaf"):
            await app.state.sessions.get(opened["id"]).wait()
        values = await values_of(client)

    assert 1 == values["errors_total", "session"]


async def test_two_servers_in_one_process_count_apart(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of()) as one, client_of(app_of()) as other:
        await one.post("/sessions", json={"transport": "fake"})
        assert 1 == (await values_of(one))["sessions", "voice"]
        assert 0 == (await values_of(other))["sessions", "voice"]


async def test_it_stands_behind_the_door(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of(token="a-token-for-tests")) as client:
        assert 401 == (await client.get("/metrics")).status_code


async def test_without_the_library_there_is_a_fix_and_everything_else(
    app_of: AppOf, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    async with client_of(app_of()) as client:
        answer = await client.get("/metrics")
        opened = await client.post("/sessions", json={"transport": "fake"})

    assert (501, 201) == (answer.status_code, opened.status_code)
    assert "prometheus-client" in answer.json()["fix"]

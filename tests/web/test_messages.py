"""A message and its turn in one answer, over a real connection."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import httpx
import pytest
from starlette.applications import Starlette

from discussion_helper.text import InterruptEvent, Manager, PropertiesEvent, TextDelta
from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ManagerOf = Callable[..., Manager]
Serving = Callable[..., Any]


def lines_of(answer: httpx.Response) -> list[dict[str, Any]]:
    return [json.loads(line) for line in answer.text.splitlines()]


def said(lines: list[dict[str, Any]]) -> list[str]:
    return [line.get("phase") or line["kind"] for line in lines]


async def text_session(served: Any) -> str:
    return str((await served.client.post("/sessions", json={"kind": "text"})).json()["url"])


async def test_two_messages_at_once_have_each_its_own_turn(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving
) -> None:
    gate = anyio.Event()
    echo = ScriptedProvider(lambda state: [gate, TextDelta("to "), TextDelta(state.last.text)])  # type: ignore[union-attr]
    async with manager_of(echo) as manager, serving(app_of(manager=manager)) as served:
        url = await text_session(served)
        answers: dict[str, httpx.Response] = {}

        async def send(text: str) -> None:
            body = {"content": text, "kinds": ["text_delta"]}
            answers[text] = await served.client.post(f"{url}/messages", json=body)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send, "one")
            tasks.start_soon(send, "two")
            while manager.list()[0].pending < 1:
                await anyio.lowlevel.checkpoint()
            gate.set()

    for text, answer in answers.items():
        lines = lines_of(answer)
        assert "application/x-ndjson" == answer.headers["content-type"].partition(";")[0]
        assert ["text_delta", "text_delta", "done"] == said(lines)
        assert ["to ", text] == [line["content"] for line in lines[:2]]
        assert 1 == len({line["context"]["event_id"] for line in lines})
        assert {"http"} == {line["context"]["provenance"] for line in lines}


async def test_the_usual_kinds_are_whole_things_and_no_deltas(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, echo: ScriptedProvider
) -> None:
    async with manager_of(echo) as manager, serving(app_of(manager=manager)) as served:
        url = await text_session(served)
        lines = lines_of(await served.client.post(f"{url}/messages", json={"content": "hi"}))

    assert ["turn_complete", "submitted", "streaming", "text", "turn_complete", "done"] == said(lines)
    assert {"role": "user", "artifacts": [{"kind": "text", "content": "hi"}]} == lines[0]["turn"]


@pytest.mark.parametrize("kinds", [None, ["text_delta"], []])
async def test_a_turn_that_fails_says_so_once_and_is_done(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, kinds: list[str] | None
) -> None:
    broken = ScriptedProvider([TextDelta("par"), ValueError("the model broke")])
    async with manager_of(broken) as manager, serving(app_of(manager=manager)) as served:
        url = await text_session(served)
        answer = await served.client.post(f"{url}/messages", json={"content": "hi", "kinds": kinds})

    lines = lines_of(answer)
    assert 200 == answer.status_code
    assert ["error", "done"] == said(lines)[-2:]
    assert 1 == said(lines).count("error")
    assert "the model broke" == lines[-2]["message"]


async def test_a_message_that_an_interrupt_drops_and_one_that_the_end_overtakes_say_so(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving
) -> None:
    stuck = ScriptedProvider([FOREVER])
    async with manager_of(stuck) as manager, serving(app_of(manager=manager)) as served:
        url = await text_session(served)
        stream = manager.list()[0]
        told: dict[str, list[dict[str, Any]]] = {}

        async def send(text: str) -> None:
            told[text] = lines_of(await served.client.post(f"{url}/messages", json={"content": text}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send, "runs")
            await stuck.asked()
            tasks.start_soon(send, "dropped")
            while stream.pending < 1:
                await anyio.lowlevel.checkpoint()
            stream.submit(InterruptEvent())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send, "runs again")
            await stuck.asked(2)
            tasks.start_soon(send, "overtaken")
            while stream.pending < 1:
                await anyio.lowlevel.checkpoint()
            await stream.aclose()
        closed = await served.client.post(f"{url}/messages", json={"content": "late"})

    assert ["turn_complete", "submitted", "cancelled", "done"] == said(told["runs"])
    assert ["error", "done"] == said(told["dropped"]) == said(told["overtaken"])
    assert "interrupt" in told["dropped"][0]["message"]
    assert "closed" in told["overtaken"][0]["message"]
    assert 409 == closed.status_code
    assert closed.json()["fix"]


@pytest.mark.parametrize("kinds", [None, ["text_delta"], []])
async def test_a_turn_that_is_cancelled_says_so_whatever_the_kinds(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, kinds: list[str] | None
) -> None:
    stuck = ScriptedProvider([TextDelta("par"), FOREVER])
    async with manager_of(stuck) as manager, serving(app_of(manager=manager)) as served:
        url = await text_session(served)
        lines: list[dict[str, Any]] = []

        async def send() -> None:
            lines.extend(lines_of(await served.client.post(f"{url}/messages", json={"content": "hi", "kinds": kinds})))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send)
            await stuck.asked()
            await served.client.post(f"{url}/cancel")

    assert ["cancelled", "done"] == said(lines)[-2:]


async def test_a_turn_that_is_said_can_be_known_by_its_id(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving, echo: ScriptedProvider
) -> None:
    async with manager_of(echo) as manager, serving(app_of(manager=manager)) as served:
        url = await text_session(served)
        async with manager.list()[0].subscribe() as output:
            accepted = (await served.client.post(f"{url}/say", json={"text": "hi"})).json()
            events: list[Any] = [await anext(output) for _ in range(6)]
        voice = (await served.client.post("/sessions", json={"transport": "fake"})).json()
        spoken = (await served.client.post(f"{voice['url']}/say", json={"text": "hi"})).json()

    assert {accepted["event_id"]} == {event.context.event_id for event in events}
    assert {"accepted": True} == spoken


async def test_too_many_messages_are_refused(app_of: AppOf, manager_of: ManagerOf, serving: Serving) -> None:
    stuck = ScriptedProvider([FOREVER])
    async with manager_of(stuck, inbox=1) as manager, serving(app_of(manager=manager)) as served:
        url = await text_session(served)
        first = await served.client.post(f"{url}/say", json={"text": "runs"})
        await stuck.asked()
        await served.client.post(f"{url}/say", json={"text": "waits"})
        hub = manager.list()[0].hub
        before = len(hub)
        refused = [
            await served.client.post(f"{url}/messages", json={"content": "late"}),
            await served.client.post(f"{url}/say", json={"text": "late"}),
        ]
        assert before == len(hub)

    assert 202 == first.status_code
    assert [503, 503] == [answer.status_code for answer in refused]


async def test_who_leaves_leaves_the_turn_running(app_of: AppOf, manager_of: ManagerOf, serving: Serving) -> None:
    gate = anyio.Event()
    echo = ScriptedProvider([TextDelta("Hello"), gate, TextDelta(" world")])
    async with manager_of(echo) as manager, serving(app_of(manager=manager)) as served:
        url = await text_session(served)
        stream = manager.list()[0]
        before = len(stream.hub)
        body = {"content": "hi", "kinds": ["text_delta"]}
        async with served.client.stream("POST", f"{url}/messages", json=body) as response:
            assert "Hello" in await anext(response.aiter_lines())
            assert before + 1 == len(stream.hub)
        with anyio.fail_after(5):
            while len(stream.hub) > before:
                await anyio.lowlevel.checkpoint()
        assert stream.busy
        async with stream.subscribe("lifecycle") as phases:
            gate.set()
            phase: Any = await anext(phases)

    assert "done" == phase.phase
    assert ["hi", "Hello world"] == [turn.text for turn in stream.thread.state.turns]


async def test_what_a_slow_reader_loses_is_told_and_the_end_is_not_lost(
    app_of: AppOf, manager_of: ManagerOf, serving: Serving
) -> None:
    many = ScriptedProvider([TextDelta(f"{number} " + "x" * 3000) for number in range(6000)])
    async with manager_of(many) as manager, serving(app_of(manager=manager)) as served:
        url = await text_session(served)
        body = {"content": "hi", "kinds": ["text_delta"]}
        async with served.client.stream("POST", f"{url}/messages", json=body) as response:
            stream = manager.list()[0]
            while not stream.busy or len(stream.thread.state) < 2:
                await anyio.lowlevel.checkpoint()
            lines = [json.loads(line) async for line in response.aiter_lines()]

    assert "done" == said(lines)[-1]
    deltas = said(lines).count("text_delta")
    assert 6000 == deltas + sum(line["missed"] for line in lines if line["kind"] == "gap")
    assert deltas < 6000


async def test_another_ones_events_are_not_in_it(app_of: AppOf, manager_of: ManagerOf, serving: Serving) -> None:
    gate = anyio.Event()
    echo = ScriptedProvider([gate, TextDelta("Hello")])
    async with manager_of(echo) as manager, serving(app_of(manager=manager)) as served:
        url = await text_session(served)
        async with anyio.create_task_group() as tasks:
            lines: list[dict[str, Any]] = []

            async def send() -> None:
                lines.extend(lines_of(await served.client.post(f"{url}/messages", json={"content": "hi"})))

            tasks.start_soon(send)
            await echo.asked()
            await manager.list()[0].emit(PropertiesEvent({"model": "other"}))
            gate.set()

    assert "properties" not in said(lines)
    assert "done" == said(lines)[-1]

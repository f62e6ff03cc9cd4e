"""What a model of another program can do with sessions."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import httpx
import mcp
import pytest

from discussion_helper.client import Client
from discussion_helper.commands.mcp import TOKEN_VARIABLE, URL_VARIABLE
from discussion_helper.mcp.fitting import MOST_BYTES, size_of
from discussion_helper.mcp.server import mcp_server
from discussion_helper.mcp.session_tools import MOST_SESSIONS, MOST_THREADS, MOST_UTTERANCES
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text import Manager, MemoryThreads, Step, TextDelta, UserMessageEvent
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.web import Wish, create_app

pytestmark = pytest.mark.anyio

Asking = Callable[..., Any]
TOKEN = "a-token-for-tests"
SLOW_MACHINE_S = 20.0


async def called(asker: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    """What the tool gives. AssertionError with its text where it fails."""
    result = await asker.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content)


async def failed(asker: Any, tool: str, **arguments: Any) -> str:
    result = await asker.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)


async def until_answered(asker: Any, session_id: str, cursor: str) -> tuple[list[dict[str, Any]], str]:
    """All events up to the agent's answer, asked for again and again, and the cursor after them."""
    events: list[dict[str, Any]] = []
    with anyio.fail_after(SLOW_MACHINE_S):
        while not any(event["kind"] == "utterance" and event["speaker"] == "agent" for event in events):
            told = await called(asker, "follow", session_id=session_id, cursor=cursor, most=2)
            events, cursor = [*events, *told["events"]], told["cursor"]
            assert len(told["events"]) <= 2
    return events, cursor


async def test_a_model_is_told_what_each_tool_does(asking: Asking) -> None:
    async with asking(create_app(token=TOKEN)) as asker:
        listed = {tool.name: tool for tool in (await asker.list_tools()).tools}

    assert {"start", "say", "speak", "state", "follow", "interrupt", "stop", "sessions", "threads"} == set(listed)
    for tool in listed.values():
        assert tool.description
        assert all(field.get("description") for field in tool.input_schema["properties"].values()), tool.name
        assert tool.input_schema["additionalProperties"] is False
    assert ["kind"] == listed["start"].input_schema["required"]
    readers = sorted(name for name, tool in listed.items() if tool.annotations.read_only_hint)
    assert ["follow", "sessions", "state", "threads"] == readers
    for word in ("aloud", "follow", "answer"):
        assert word in listed["speak"].description


async def test_a_conversation_from_its_start_to_its_end(asking: Asking) -> None:
    async with asking(create_app(token=TOKEN)) as asker:
        session = (await called(asker, "start", kind="voice", transport="fake"))["id"]
        first = await called(asker, "follow", session_id=session)
        said = await called(asker, "say", session_id=session, text="Hello.")
        events, cursor = await until_answered(asker, session, first["cursor"])
        state = await called(asker, "state", session_id=session)
        cut = await called(asker, "interrupt", session_id=session)
        ended = await called(asker, "stop", session_id=session)
        gone = await failed(asker, "follow", session_id=session, cursor=cursor)

    assert ({"accepted": True}, {"interrupted": False}) == (said, cut)
    assert ("snapshot", session, False) == (
        first["events"][0]["kind"],
        first["events"][0]["state"]["id"],
        first["ended"],
    )
    assert ["user", "agent"] == [event["speaker"] for event in events if event["kind"] == "utterance"]
    assert ("Hello.", "voice") == (state["utterances"][0]["text"], state["kind"])
    assert "timings" not in state
    assert ["Hello.", "Hello."] == [utterance["text"] for utterance in ended["utterances"]]
    assert "There is no session of that id." in gone


async def test_the_end_of_a_conversation_is_told_once(asking: Asking) -> None:
    def short(wish: Wish) -> Session:
        return Session(ScriptedListener(["Hello."]), EchoResponder(), SilentVoice(), wish.policy)

    async with asking(create_app(token=TOKEN, open_fake=short)) as asker:
        session = (await called(asker, "start", kind="voice", transport="fake"))["id"]
        cursor, ended = "", False
        with anyio.fail_after(SLOW_MACHINE_S):
            while not ended:
                last = await called(asker, "follow", session_id=session, cursor=cursor)
                cursor, ended = last["cursor"], last["ended"]
        after = await called(asker, "follow", session_id=session, cursor=last["cursor"])

    assert ("ended", "finished", True) == (
        last["events"][-1]["kind"],
        last["events"][-1]["reason"],
        last["ended"],
    )
    assert ([], True) == (after["events"], after["ended"])


async def test_a_text_session_answers_with_what_belongs_to_the_turn(asking: Asking) -> None:
    provider = ScriptedProvider([TextDelta("Hello"), TextDelta(" world")])
    manager = Manager(MemoryThreads(), provider, lambda _: Step())
    async with manager, asking(create_app(token=TOKEN, manager=manager)) as asker:
        session = (await called(asker, "start", kind="text"))["id"]
        cursor = (await called(asker, "follow", session_id=session))["cursor"]
        said = await called(asker, "say", session_id=session, text="hi")
        with anyio.fail_after(SLOW_MACHINE_S):
            told = await called(asker, "follow", session_id=session, cursor=cursor, kinds=["text"], most=1)

    (answer,) = told["events"]
    assert ("text", "Hello world", said["event_id"]) == (
        answer["kind"],
        answer["content"],
        answer["context"]["event_id"],
    )


async def test_what_does_not_happen_is_waited_for_no_longer_than_asked(asking: Asking) -> None:
    async with asking(create_app(token=TOKEN)) as asker:
        session = (await called(asker, "start", kind="voice", transport="fake"))["id"]
        first = await called(asker, "follow", session_id=session)
        began_s = anyio.current_time()
        second = await called(asker, "follow", session_id=session, cursor=first["cursor"], wait_s=0.5)
        took_s = anyio.current_time() - began_s

    assert ([], first["cursor"], False) == (second["events"], second["cursor"], second["ended"])
    assert 0.4 <= took_s <= SLOW_MACHINE_S


async def test_what_is_wrong_is_told_with_the_fix(asking: Asking) -> None:
    async with asking(create_app(token=TOKEN)) as asker:
        session = (await called(asker, "start", kind="voice", transport="fake"))["id"]
        gone = await failed(asker, "say", session_id="nobody", text="hi")
        blank = await failed(asker, "say", session_id=session, text=" ")
        patience = await failed(asker, "follow", session_id=session, wait_s=3600)
        many = await failed(asker, "follow", session_id=session, most=0)
        kinds = await failed(asker, "follow", session_id=session, kinds=["nonsense"])
        unknown = await failed(asker, "start", kind="song")
        missing = await failed(asker, "say", session_id=session)
        misspelt = await failed(asker, "say", session_id=session, text="hi", txet="hi")
        elsewhere = [await failed(asker, "state", session_id=told) for told in ("", "..", "a/b", "%2e%2e", "x" * 1000)]
        cursors = [await failed(asker, "follow", session_id=session, cursor=told) for told in ("\u00e9", "a\nb")]
    async with asking(create_app(token=TOKEN), token="another") as stranger:
        out = await failed(stranger, "state", session_id=session)

    assert "There is no session of that id. Ask `sessions` for those that are open" in gone
    assert "text: it is blank" in blank
    assert "wait_s: 3600" in patience
    assert "most: 0 is out of range. Use" in many
    assert "nonsense" in kinds
    assert "kind: Input should be 'voice' or 'text'." == unknown
    assert "text: it is missing." == missing
    assert "txet: there is no such argument. Use session_id, text." == misspelt
    assert all("session_id: " in told and "is no id. Use one that the server gave." in told for told in elsewhere)
    assert all("cursor: " in told and "is the id of no event" in told for told in cursors)
    assert "token is missing or wrong. " in out
    assert TOKEN_VARIABLE in out
    assert "--url LINK" in out
    assert "another" not in out


async def test_a_long_conversation_is_told_by_its_newest_turns(asking: Asking) -> None:
    turns = [f"turn {number}" for number in range(MOST_UTTERANCES // 2 + 1)]

    def long(wish: Wish) -> Session:
        return Session(ScriptedListener(turns, stays_open=True), EchoResponder(), SilentVoice(), wish.policy)

    async with asking(create_app(token=TOKEN, open_fake=long)) as asker:
        session = (await called(asker, "start", kind="voice", transport="fake"))["id"]
        with anyio.fail_after(SLOW_MACHINE_S):
            state: dict[str, Any] = {}
            while state.get("earlier_utterances") != 2:
                await called(asker, "follow", session_id=session, most=1)
                state = await called(asker, "state", session_id=session)

    assert (MOST_UTTERANCES, turns[-1]) == (len(state["utterances"]), state["utterances"][-1]["text"])


async def test_a_server_that_is_away_is_told_with_the_option() -> None:
    async with Client("http://127.0.0.1:9", token=TOKEN) as client, mcp.Client(mcp_server(client)) as asker:
        away = await failed(asker, "sessions")

    assert "discussion-helper serve" in away
    assert "--url" in away
    assert URL_VARIABLE in away


async def test_a_person_is_asked_aloud_and_the_answer_is_followed(asking: Asking) -> None:
    async with asking(create_app(token=TOKEN)) as asker:
        session = (await called(asker, "start", kind="voice", transport="fake"))["id"]
        cursor = (await called(asker, "follow", session_id=session))["cursor"]
        spoken = await called(asker, "speak", session_id=session, text="Shall I restart it?")
        asked, cursor = await until_answered(asker, session, cursor)
        await called(asker, "say", session_id=session, text="Yes, please.")  # as the person would
        answered, _ = await until_answered(asker, session, cursor)
        wrong = await failed(asker, "speak", session_id=session, text=" ")

    assert {"accepted": True} == spoken
    assert ["Shall I restart it?"] == [event["text"] for event in asked if event["kind"] == "utterance"]
    assert "Yes, please." == next(event["text"] for event in answered if event.get("speaker") == "user")
    assert "text: it is blank" in wrong


async def test_nothing_is_told_that_a_tool_has_no_use_for(asking: Asking) -> None:
    async with asking(create_app(token=TOKEN)) as asker:
        opened = await called(asker, "start", kind="voice", transport="fake")

    assert not {"url", "events_url", "timings"} & opened.keys()


async def test_the_open_ones_are_listed_the_newest_first(asking: Asking) -> None:
    async with asking(create_app(token=TOKEN)) as asker:
        none = await called(asker, "sessions")
        ids = [(await called(asker, "start", kind="voice", transport="fake"))["id"] for _ in range(MOST_SESSIONS + 2)]
        listed = await called(asker, "sessions")

    assert {"sessions": []} == none
    assert list(reversed(ids))[:MOST_SESSIONS] == [one["id"] for one in listed["sessions"]]
    assert 2 == listed["earlier_sessions"]
    assert {"id", "kind", "transport", "floor", "elapsed_s"} == listed["sessions"][0].keys()


async def test_the_kept_ones_are_listed_and_gone_on_with(asking: Asking) -> None:
    provider = ScriptedProvider([TextDelta("Hello")])
    async with Manager(MemoryThreads(), provider, lambda _: Step()) as manager:
        for number in range(MOST_THREADS + 1):
            stream = await manager.create()
            await stream.process(UserMessageEvent(f"question {number}"))
            await stream.aclose()
        async with asking(create_app(token=TOKEN, manager=manager)) as asker:
            listed = await called(asker, "threads")
            newest = listed["threads"][0]
            system = "You are a chess tutor."
            again = await called(asker, "start", kind="text", thread_id=newest["id"], system=system)
        told = (await manager.store.get(newest["id"])).metadata

    assert (MOST_THREADS, 1) == (len(listed["threads"]), listed["earlier_threads"])
    assert (f"question {MOST_THREADS}", 2) == (newest["first"], newest["turn_count"])
    assert (newest["id"], "Hello") == (again["id"], again["utterances"][-1]["text"])
    assert {"system": system} == told


async def test_what_is_long_is_told_within_bounds_and_says_what_is_not_there(asking: Asking) -> None:
    provider = ScriptedProvider([TextDelta("z" * 5000)])
    async with Manager(MemoryThreads(), provider, lambda _: Step()) as manager:
        for _ in range(40):
            await (await manager.create()).process(UserMessageEvent("y" * 3000))
        stream = manager.list()[0]
        async with asking(create_app(token=TOKEN, manager=manager)) as asker:
            cursor = (await called(asker, "follow", session_id=stream.id))["cursor"]
            for _ in range(20):
                await stream.process(UserMessageEvent("y" * 3000))
            told = [await called(asker, "threads"), await called(asker, "state", session_id=stream.id)]
            said, more = 0, True
            while more:
                told.append(await called(asker, "follow", session_id=stream.id, cursor=cursor, most=200))
                said += sum(event["kind"] == "utterance" for event in told[-1]["events"])
                cursor, more = told[-1]["cursor"], told[-1].get("more", False)
            told.append(await called(asker, "stop", session_id=stream.id))
    threads, state, first, *_ = told

    assert all(size_of(answer) <= MOST_BYTES for answer in told)
    assert 40 == len(threads["threads"]) + threads.get("earlier_threads", 0)
    assert 42 == len(state["utterances"]) + state["earlier_utterances"]
    assert state["utterances"][-1]["text"].endswith("(1000 more characters)")
    assert (True, 40) == (first["more"], said)


@pytest.mark.parametrize(
    ("sign", "least"),
    [("z", MOST_BYTES // 2), ('"', MOST_BYTES // 4), ("\n", MOST_BYTES // 4), ("\u6c34", MOST_BYTES // 4), ("\x01", 1)],
    ids=["letter", "quote", "line", "wide", "control"],
)
async def test_an_answer_is_within_its_bound_in_both_forms_as_it_is_sent(sign: str, least: int) -> None:
    when = "2026-01-01T00:00:00+00:00"
    head = {"created_at": when, "updated_at": when, "turn_count": 3, "first": sign * 1500}
    said = {"speaker": "user", "text": sign * 3000}
    state = {"id": "abcdefgh1234", "kind": "voice", "running": True, "floor": "idle", "utterances": [said] * 100}
    state |= {"elapsed_s": 1.0, "timings": [], "interruption_rate": 0.0}
    events = [f"id: a-{n}\nevent: utterance\ndata: {json.dumps({'kind': 'utterance', **said})}\n\n" for n in range(300)]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/threads":
            return httpx.Response(200, json=[{"id": f"i{number:021}", **head} for number in range(80)])
        if request.url.path.endswith("/events"):
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, text="".join(events))
        return httpx.Response(200, json=state | {"decisions": [{"a": sign * 1000}] * 50, "other": sign * 3000})

    called: list[tuple[str, dict[str, Any]]] = [
        ("threads", {}),
        ("state", {"session_id": "s"}),
        ("follow", {"session_id": "s", "most": 200}),
    ]
    client = Client("http://127.0.0.1:1", token="x", transport=httpx.MockTransport(answer))
    async with client, mcp.Client(mcp_server(client)) as asker:
        for name, arguments in called:
            told: Any = await asker.call_tool(name, arguments)
            assert not told.is_error, (name, told.content)
            assert least < len(told.model_dump_json(by_alias=True).encode()) <= MOST_BYTES
            assert json.loads(told.content[0].text) == told.structured_content

"""The endpoint provider against a real server on this machine: what it sends, what it gives, how it ends."""

import importlib.util
import json
import logging
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import anyio
import pytest

from discussion_helper.errors import (
    EndpointRefused,
    EndpointStalled,
    EndpointUnreachable,
    ResponderError,
    SettingError,
)
from discussion_helper.text.artifacts import (
    Artifact,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolResult,
    Usage,
)
from discussion_helper.text.errors import ProcessError, TurnCancelledError
from discussion_helper.text.inputs import UserMessageEvent
from discussion_helper.text.manager import Manager
from discussion_helper.text.providers.messages import CUT_OFF
from discussion_helper.text.providers.openai_compatible import EndpointProvider
from discussion_helper.text.providers.options import MaxTokens, Seed, Temperature, ToolChoice, TopP
from discussion_helper.text.state import State, Turn
from discussion_helper.text.step import Step
from discussion_helper.text.threads.memory import MemoryThreads
from discussion_helper.text.tools import Tools, tool

if TYPE_CHECKING:
    from tests.responder.conftest import Exchange, FakeEndpoint

pytestmark = pytest.mark.anyio

KEY = "sk-test-1234567890"
HELLO = State([Turn("user", (Text("Hello?"),))])


@pytest.fixture
def anyio_backend() -> str:
    """Sockets are real, and so is time."""
    return "asyncio"


@pytest.fixture(scope="module")
def fakes() -> Any:
    """The responder's tests have the server."""
    path = Path(__file__).parents[1] / "responder" / "conftest.py"
    spec = importlib.util.spec_from_file_location("endpoint_of_the_responders_tests", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
async def endpoint(fakes: Any) -> AsyncIterator["FakeEndpoint"]:
    async with fakes.FakeEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
async def provider(endpoint: "FakeEndpoint") -> AsyncIterator[EndpointProvider]:
    provider = EndpointProvider("m", endpoint.base_url, api_key=KEY)
    yield provider
    await provider.aclose()


async def given_by(provider: EndpointProvider, *options: Any, state: State = HELLO) -> list[Artifact]:
    return [artifact async for artifact in provider.invoke(state, *options)]


async def failure_of(provider: EndpointProvider, kind: type[ResponderError], *before: Artifact) -> ResponderError:
    """The error an answer ends with, after what came before: one line, with a fix, without the key."""
    came: list[Artifact] = []

    async def listen() -> None:
        async for artifact in provider.invoke(HELLO):
            came.append(artifact)  # noqa: PERF401  # it is looked at after the error

    with pytest.raises(kind) as caught:
        await listen()
    assert came == list(before)
    assert caught.type is kind
    assert "\n" not in str(caught.value)
    assert caught.value.fix
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


def call(index: int, call_id: str | None = None, name: str | None = None, arguments: str = "") -> dict[str, Any]:
    function = {"arguments": arguments, **({"name": name} if name else {})}
    return {"index": index, "function": function, **({"id": call_id, "type": "function"} if call_id else {})}


USED = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}}


# -- what it gives


async def test_text_comes_in_pieces_and_the_usage_at_the_end(
    endpoint: "FakeEndpoint", provider: EndpointProvider
) -> None:
    go_on = anyio.Event()

    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(role="assistant", content="")
        await exchange.delta(content="Hel")
        await go_on.wait()
        await exchange.delta(content="lo.", finish="stop")
        await exchange.data(json.dumps(USED))
        await exchange.end()

    endpoint.answer = answer
    async with aclosing(provider.invoke(HELLO)) as artifacts:  # type: ignore[type-var]
        assert await anext(artifacts) == TextDelta("Hel")
        go_on.set()
        assert [artifact async for artifact in artifacts] == [TextDelta("lo."), Usage(5, 2, 7)]
    assert endpoint.exchanges[0].body["stream_options"] == {"include_usage": True}


async def test_reasoning_is_told_apart(endpoint: "FakeEndpoint", provider: EndpointProvider) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(reasoning_content="They greet me.")
        await exchange.delta(content="<thi")
        await exchange.delta(content="nk>Really?</think>\n\nHello", finish="stop")
        await exchange.end()

    endpoint.answer = answer
    assert await given_by(provider) == [
        ReasoningDelta("They greet me."),
        ReasoningDelta("Really?"),
        TextDelta("Hello"),
    ]


async def test_two_calls_interleaved(endpoint: "FakeEndpoint", provider: EndpointProvider) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content=None, tool_calls=[call(0, "a", "add"), call(1, "b", "sub")])
        await exchange.delta(tool_calls=[call(1, arguments='{"y": ')])
        await exchange.delta(tool_calls=[call(0, arguments="{}"), call(1, arguments="2}")])
        await exchange.delta(finish="tool_calls")
        await exchange.end()

    endpoint.answer = answer
    assert await given_by(provider) == [
        ToolCallDelta(0, "a", "add"),
        ToolCallDelta(1, "b", "sub"),
        ToolCallDelta(1, arguments='{"y": '),
        ToolCallDelta(0, arguments="{}"),
        ToolCallDelta(1, arguments="2}"),
    ]


async def test_an_id_that_the_thread_knows_is_replaced(endpoint: "FakeEndpoint", provider: EndpointProvider) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(tool_calls=[call(0, "c1", "add", "{}")], finish="tool_calls")
        await exchange.end()

    endpoint.answer = answer
    before = [*HELLO.turns, Turn("assistant", (ToolCall("c1", "add"),)), Turn("tool", (ToolResult("c1", "1"),))]
    [delta] = await given_by(provider, state=State(before))
    assert isinstance(delta, ToolCallDelta)
    assert delta.id.startswith("call_")


async def test_chunks_of_any_shape_are_survived(endpoint: "FakeEndpoint", provider: EndpointProvider) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        for odd in (
            "{}",
            "[]",
            "1",
            '{"choices": null, "usage": 3}',
            '{"choices": [{"delta": {"tool_calls": [1, {}]}}]}',
        ):
            await exchange.data(odd)
        await exchange.data('{"choices": [{"delta": {"tool_calls": {"0": 1}, "content": 3}}], "usage": [1]}')
        await exchange.delta(content="Here.", finish="stop")
        await exchange.end()

    endpoint.answer = answer
    assert await given_by(provider) == [TextDelta("Here.")]


async def test_an_answer_may_be_empty(endpoint: "FakeEndpoint", provider: EndpointProvider) -> None:
    endpoint.answer = lambda exchange: exchange.stream("")
    assert await given_by(provider) == []


async def test_an_endless_answer_is_cut_and_the_stream_closed(endpoint: "FakeEndpoint") -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(tool_calls=[call(0, "a", "add")])
        while not exchange.gone.is_set():
            await exchange.delta(tool_calls=[call(0, arguments="x" * 100)])

    endpoint.answer = answer
    provider = EndpointProvider("m", endpoint.base_url, max_chars=1000)
    assert 5 < len(await given_by(provider)) < 12
    with anyio.fail_after(5):
        await endpoint.exchanges[0].gone.wait()
    await provider.aclose()


# -- what it sends


@dataclass(frozen=True)
class Unknown:
    name: ClassVar[str] = "telepathy"


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def test_options_tools_and_messages_are_in_the_request(endpoint: "FakeEndpoint") -> None:
    provider = EndpointProvider("m", endpoint.base_url, api_key=KEY, options={"temperature": 1.0, "think": False})
    options = [Temperature(0.5), TopP(0.9), MaxTokens(20), Seed(3), ToolChoice("required"), Tools(add), Unknown()]
    await given_by(provider, *options)
    await given_by(provider, ToolChoice("required"), Tools())
    await provider.aclose()
    first, second = [exchange.body for exchange in endpoint.exchanges]
    fixed = {"model": "m", "stream": True, "stream_options": {"include_usage": True}, "think": False}
    messages = [{"role": "user", "content": "Hello?"}]
    assert first == {
        **fixed,
        "messages": messages,
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 20,
        "seed": 3,
        "tool_choice": "required",
        "tools": [{"type": "function", "function": add.schema}],
    }
    assert second == {**fixed, "messages": messages, "temperature": 1.0}
    assert endpoint.exchanges[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_server_that_refuses_to_tell_the_usage_is_asked_without(
    endpoint: "FakeEndpoint", provider: EndpointProvider
) -> None:
    async def answer(exchange: "Exchange") -> None:
        if "stream_options" in exchange.body:
            await exchange.refuse(400, "Unknown field: stream_options")
        else:
            await exchange.stream("Fine.")

    endpoint.answer = answer
    assert await given_by(provider) == [TextDelta("Fine.")]
    assert await given_by(provider) == [TextDelta("Fine.")]
    assert ["stream_options" in exchange.body for exchange in endpoint.exchanges] == [True, False, False]


# -- how it ends


@pytest.mark.parametrize(
    ("status", "says", "times"), [(401, "refused the key", 1), (400, "refused the request", 1), (500, "failed", 2)]
)
async def test_a_refusal(
    endpoint: "FakeEndpoint", provider: EndpointProvider, status: int, says: str, times: int
) -> None:
    endpoint.answer = lambda exchange: exchange.refuse(status, f"no: {KEY}")
    assert says in (await failure_of(provider, EndpointRefused)).what
    assert len(endpoint.exchanges) == times


async def test_a_failing_server_is_asked_twice(endpoint: "FakeEndpoint", provider: EndpointProvider) -> None:
    async def answer(exchange: "Exchange") -> None:
        await (exchange.refuse(503) if len(endpoint.exchanges) == 1 else exchange.stream("Better."))

    endpoint.answer = answer
    assert await given_by(provider) == [TextDelta("Better.")]


async def test_nobody_listens() -> None:
    provider = EndpointProvider("m", "http://127.0.0.1:9/v1", api_key=KEY)
    assert "nothing listens there" in (await failure_of(provider, EndpointUnreachable)).what
    with pytest.raises(EndpointUnreachable):
        await provider.warmup()
    await provider.aclose()


@pytest.mark.parametrize(
    ("said", "limits", "says"),
    [
        ({}, {"first_token_s": 0.1}, "has not begun to answer within 0.1 s"),
        ({"content": "Well"}, {"between_s": 0.1}, "stopped in the middle of the reply, for 0.1 s"),
        ({"reasoning": "Hm"}, {"between_s": 0.1}, "stopped while thinking, for 0.1 s"),
        ({"reasoning": "Hm"}, {"thinking_s": 0.1}, "has been thinking for 0.1 s"),
        ({"tool_calls": [call(0, "a", "add")]}, {"between_s": 0.1}, "stopped in the middle of the reply"),
    ],
)
async def test_a_stall(endpoint: "FakeEndpoint", said: dict[str, Any], limits: dict[str, float], says: str) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(role="assistant", **said)
        await exchange.gone.wait()

    endpoint.answer = answer
    provider = EndpointProvider("m", endpoint.base_url, api_key=KEY, **limits)  # type: ignore[arg-type]
    with pytest.raises(EndpointStalled, match=says):
        await given_by(provider)
    with anyio.fail_after(5):
        await endpoint.exchanges[0].gone.wait()
    await provider.aclose()


@pytest.mark.parametrize(
    ("said", "before"),
    [
        ({"content": "I think"}, [TextDelta("I think")]),
        ({"content": "Done.", "tool_calls": [call(0, "a", "add")]}, [TextDelta("Done."), ToolCallDelta(0, "a", "add")]),
        ({"content": ""}, []),
    ],
)
@pytest.mark.parametrize("chunked", [True, False])
async def test_a_stream_that_breaks_off(
    endpoint: "FakeEndpoint", provider: EndpointProvider, said: dict[str, Any], before: list[Artifact], chunked: bool
) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin(chunked=chunked)
        await exchange.delta(chunked=chunked, **said)

    endpoint.answer = answer
    error = await failure_of(provider, EndpointStalled, *before)
    assert "broke off before the end of the reply" in error.what


async def test_a_finished_answer_waits_for_nothing_long(
    endpoint: "FakeEndpoint", provider: EndpointProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discussion_helper.text.providers.openai_compatible._AFTER_END_S", 0.1)

    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content="That is", finish="length")
        await exchange.gone.wait()

    endpoint.answer = answer
    with anyio.fail_after(5):
        assert await given_by(provider) == [TextDelta("That is")]


async def test_a_slow_listener_is_no_stall(endpoint: "FakeEndpoint") -> None:
    more = anyio.Event()

    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content="First. ")
        await more.wait()
        await exchange.delta(content="Second.", finish="stop")
        await exchange.end()

    endpoint.answer = answer
    provider = EndpointProvider("m", endpoint.base_url, between_s=0.2)
    artifacts: Any = provider.invoke(HELLO)
    assert await anext(artifacts) == TextDelta("First. ")
    await anyio.sleep(0.3)  # the watcher is busy
    more.set()
    assert await anext(artifacts) == TextDelta("Second.")
    await artifacts.aclose()
    await provider.aclose()


@pytest.mark.timed
@pytest.mark.parametrize("begun", [False, True], ids=["before the first byte", "in mid-stream"])
async def test_cancelling_closes_the_connection_at_once(
    endpoint: "FakeEndpoint", provider: EndpointProvider, begun: bool
) -> None:
    asked = anyio.Event()

    async def answer(exchange: "Exchange") -> None:
        if begun:
            await exchange.begin()
            await exchange.delta(content="Well, ")
        asked.set()
        await exchange.gone.wait()

    endpoint.answer = answer
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(given_by, provider)
        await asked.wait()
        began = time.perf_counter()
        tasks.cancel_scope.cancel()
    with anyio.fail_after(5):
        await endpoint.exchanges[0].gone.wait()
    assert time.perf_counter() - began < 0.3


async def test_the_key_is_in_no_log(
    endpoint: "FakeEndpoint", provider: EndpointProvider, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        await given_by(provider)
        endpoint.answer = lambda exchange: exchange.refuse(401, "no")
        await failure_of(provider, EndpointRefused)
    assert caplog.records
    assert KEY not in caplog.text
    assert KEY not in repr(provider)


async def test_warming_up_asks_for_the_models(endpoint: "FakeEndpoint", provider: EndpointProvider) -> None:
    endpoint.answer = lambda exchange: exchange.respond(200, b'{"data": []}')
    await provider.warmup()
    assert [exchange.path for exchange in endpoint.exchanges] == ["/v1/models"]
    await provider.aclose()
    await provider.aclose()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: EndpointProvider("m", "ftp://host"), "base_url is not an http or https URL"),
        (lambda: EndpointProvider(" ", "http://host"), "model is empty"),
        (lambda: EndpointProvider("m", "http://host", max_chars=0), "max_chars is 0"),
        (lambda: EndpointProvider("m", "http://host", between_s=0), "between_s is 0"),
        (lambda: Temperature(2.5), "temperature is 2.5"),
        (lambda: TopP(0), "top_p is 0"),
        (lambda: MaxTokens(0), "max_tokens is 0"),
        (lambda: ToolChoice("add"), "tool_choice is 'add'"),
    ],
)
async def test_bad_settings_are_refused_by_name(make: Any, says: str) -> None:
    with pytest.raises(SettingError, match=says) as caught:
        make()
    assert caught.value.fix


async def test_a_call_that_must_be_is_for_the_answer_to_a_user(
    endpoint: "FakeEndpoint", provider: EndpointProvider
) -> None:
    asked = Turn("user", (Text("One and two?"),))
    called = Turn("assistant", (ToolCall("c", "add", '{"a": 1, "b": 2}'),))
    behind = Turn("tool", (ToolResult("c", "3", 3),))
    for turns in ([asked], [asked, called, behind], [asked, called, behind, asked]):
        assert [artifact async for artifact in provider.invoke(State(turns), Tools(add), ToolChoice("required"))]
    assert [exchange.body["tool_choice"] for exchange in endpoint.exchanges] == ["required", "auto", "required"]


# -- the whole loop


async def test_a_tool_loop_over_the_wire(endpoint: "FakeEndpoint", provider: EndpointProvider) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        if exchange.body["messages"][-1]["role"] == "user":
            await exchange.delta(reasoning_content="Sums.")
            await exchange.delta(tool_calls=[call(0, "same", "add", '{"a": 1,'), call(1, "same", "add")])
            await exchange.delta(tool_calls=[call(0, arguments=' "b": 2}'), call(1, arguments='{"a": "x"}')])
            await exchange.delta(finish="tool_calls")
        else:
            await exchange.delta(content="Three.", finish="stop")
        await exchange.data(json.dumps(USED))
        await exchange.end()

    endpoint.answer = answer
    tools, store = Tools(add), MemoryThreads()
    async with Manager(store, provider, lambda _: Step(handlers=[tools], invoke_options=[tools])) as manager:
        stream = await manager.create()
        with anyio.fail_after(10):
            await stream.process(UserMessageEvent("One and two?"))
        turns = stream.thread.state.turns
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "tool", "assistant"]
    reasoning, first, second, usage = turns[1].artifacts
    assert (reasoning, usage) == (Reasoning("Sums."), Usage(5, 2, 7))
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert (first.id, first.arguments) == ("same", '{"a": 1, "b": 2}')
    assert turns[2].artifacts == (ToolResult("same", "3", 3),)
    assert turns[4].artifacts == (Text("Three."), Usage(5, 2, 7))
    sent = endpoint.exchanges[1].body["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool"]
    assert [message["tool_call_id"] for message in sent[2:]] == ["same", second.id]
    assert "a: Input should be a valid integer" in sent[3]["content"]


async def test_a_cancelled_tool_is_told_to_the_model_as_cut_off(
    endpoint: "FakeEndpoint", provider: EndpointProvider
) -> None:
    running = anyio.Event()

    async def wait() -> None:
        running.set()
        await anyio.sleep_forever()

    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        if len(endpoint.exchanges) == 1:
            await exchange.delta(tool_calls=[call(0, "c", "wait")], finish="tool_calls")
        else:
            await exchange.delta(content="I see.", finish="stop")
        await exchange.end()

    endpoint.answer = answer
    async with Manager(MemoryThreads(), provider, lambda _: Step(handlers=[Tools(wait)])) as manager:
        stream = await manager.create()
        with anyio.fail_after(10):
            stream.submit(UserMessageEvent("Wait."))
            await running.wait()
            stream.cancel()
            await stream.process(UserMessageEvent("Well?"))
    assert [message.get("content") for message in endpoint.exchanges[1].body["messages"]] == [
        "Wait.",
        None,
        CUT_OFF,
        "Well?",
    ]


async def test_a_failing_server_fails_the_turn_alone(endpoint: "FakeEndpoint", provider: EndpointProvider) -> None:
    endpoint.answer = lambda exchange: exchange.refuse(401)
    async with Manager(MemoryThreads(), provider, lambda _: Step()) as manager:
        stream = await manager.create()
        with pytest.raises(ProcessError) as caught:
            await stream.process(UserMessageEvent("Hello?"))
        assert isinstance(caught.value.__cause__, EndpointRefused)
        assert not isinstance(caught.value, TurnCancelledError)
        endpoint.answer = lambda exchange: exchange.stream("Here.")
        await stream.process(UserMessageEvent("Now?"))
        assert [turn.text for turn in stream.thread.state.turns] == ["Hello?", "Now?", "Here."]

"""Tools called by a real model, SmolLM2-135M: in this process, and through llama.cpp's own server."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import pytest
from pydantic import Field

from discussion_helper.errors import ResponderError, SettingError
from discussion_helper.models import Store, load_manifest
from discussion_helper.text import (
    Manager,
    MemoryThreads,
    ProcessError,
    State,
    Step,
    Stream,
    Text,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolResult,
    Tools,
    Turn,
    Usage,
    UserMessageEvent,
)
from discussion_helper.text.providers.base import Provider
from discussion_helper.text.providers.chatml_tools import CHATML_TOOLS
from discussion_helper.text.providers.embedded import EmbeddedProvider
from discussion_helper.text.providers.openai_compatible import EndpointProvider
from discussion_helper.text.providers.options import MaxTokens, Seed, Temperature, ToolChoice

pytestmark = [pytest.mark.anyio, pytest.mark.models]

KEY = "a-key-of-the-test"
QUESTION = "What will the weather be in Paris in the next 3 days?"
PREFIX = Turn("assistant", (Text("<tool_call>"),))


@pytest.fixture
def anyio_backend() -> str:
    """Real time."""
    return "asyncio"


@pytest.fixture(scope="module")
def model() -> Path:
    [path] = Store().path_of(load_manifest().model("SmolLM2-135M")).glob("*.gguf")
    return path


@pytest.fixture
async def embedded(model: Path) -> AsyncIterator[EmbeddedProvider]:
    provider = EmbeddedProvider(model, context=2048, chat_template=CHATML_TOOLS)
    yield provider
    await provider.aclose()


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[str]:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.chat_template = CHATML_TOOLS
    parameters.n_ctx = 2048
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 2
    parameters.verbosity = -1
    parameters.api_keys = [KEY]
    running = xllamacpp.Server(parameters)
    running.handle_completions({"prompt": "a", "n_predict": 0}, lambda _: False)  # its loop has begun
    yield f"{running.listening_address}/v1"
    del running


@pytest.fixture
async def endpoint(server: str) -> AsyncIterator[EndpointProvider]:
    provider = EndpointProvider("whatever is loaded", server, api_key=KEY)
    yield provider
    await provider.aclose()


class Weather:
    """A tool with types, and what it was called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Any, Any]] = []

    def tools(self, **options: Any) -> Tools:
        async def weather(
            city: Annotated[str, "where"],
            days: Annotated[int, Field(ge=1, le=7)],
            unit: Literal["celsius", "kelvin"],
        ) -> dict[str, Any]:
            """Tell the weather in a city."""
            self.calls.append((city, days, unit))
            return {"sky": "rain"}

        return Tools(weather, **options)


def begun(state: State) -> State:
    """Begins the model's answer with the mark of a call: whatever this small model goes on with has to be one.

    A transform. Behind a result it may say what it likes.
    """
    return state.with_turns(after=[PREFIX]) if state.last is not None and state.last.role == "user" else state


OPTIONS = (ToolChoice("required"), Temperature(0), Seed(1), MaxTokens(160))


async def asked(provider: Provider, step: Step, question: str = QUESTION) -> tuple[Stream, list[Any]]:
    """The stream after one message, and what a watcher saw."""
    async with Manager(MemoryThreads(), provider, lambda _: step) as manager:
        stream = await manager.create()
        async with stream.subscribe(buffer=2000) as events:
            with anyio.fail_after(50):
                await stream.process(UserMessageEvent(question))
            await stream.aclose()
            return stream, [event async for event in events]


def check_round(stream: Stream, events: list[Any], weather: Weather) -> None:
    """The call was made with arguments that fit, its result came back, and the model went on from there."""
    user, calling, *results, answer = stream.thread.state.turns
    assert [turn.role for turn in (user, calling, answer)] == ["user", "assistant", "assistant"]
    calls = [part for part in calling.artifacts if isinstance(part, ToolCall)]
    assert calls
    for call, (result_turn, arguments) in zip(calls, zip(results, weather.calls, strict=True), strict=True):
        assert json.loads(call.arguments) == dict(zip(("city", "days", "unit"), arguments, strict=True))
        [result] = result_turn.artifacts
        assert result == ToolResult(call.id, '{"sky":"rain"}', {"sky": "rain"})
    city, days, unit = weather.calls[0]
    assert city.startswith("Paris")
    assert 1 <= days <= 7
    assert unit in ("celsius", "kelvin")
    pieces = [event.artifact for event in events if event.kind == "tool_call_delta"]
    first = [piece for piece in pieces if piece.index == 0]
    assert len(first) > 3  # it streams
    assert "".join(piece.arguments for piece in first) == calls[0].arguments
    assert [piece.id for piece in first if piece.id] == [calls[0].id]
    assert answer.text.strip()
    assert any(isinstance(part, Usage) for part in answer.artifacts)
    phases = [event.phase for event in events if event.kind == "lifecycle"]
    assert phases == ["submitted", "streaming", "submitted", "streaming", "done"]


async def test_a_model_in_this_process_calls_a_tool_and_goes_on(embedded: EmbeddedProvider) -> None:
    weather = Weather()
    tools = weather.tools()
    stream, events = await asked(embedded, Step(handlers=[tools], invoke_options=[tools, *OPTIONS]))
    check_round(stream, events, weather)
    assert "rain" in stream.thread.state.turns[-1].text


async def test_a_model_behind_a_real_server_calls_a_tool_and_goes_on(endpoint: EndpointProvider) -> None:
    weather = Weather()
    tools = weather.tools()
    step = Step(transforms=[begun], handlers=[tools], invoke_options=[tools, *OPTIONS])
    stream, events = await asked(endpoint, step)
    check_round(stream, events, weather)


@pytest.mark.slow
async def test_a_failing_tool_is_told_to_the_model(embedded: EmbeddedProvider) -> None:
    def weather(city: str) -> str:
        """Tell the weather in a city."""
        raise ConnectionError(f"no line to {city}")

    tools = Tools(weather)
    stream, _ = await asked(embedded, Step(handlers=[tools], invoke_options=[tools, *OPTIONS]))
    roles = [turn.role for turn in stream.thread.state.turns]
    assert roles[:3] == ["user", "assistant", "tool"]
    assert roles[-1] == "assistant"
    [result] = stream.thread.state.turns[2].artifacts
    assert isinstance(result, ToolResult)
    assert result.is_error
    assert "no line to" in result.content


async def test_a_call_of_a_tool_may_be_forbidden(embedded: EmbeddedProvider) -> None:
    given = embedded.invoke(
        State([Turn("user", (Text("What is the capital of France?"),))]),
        Weather().tools(),
        ToolChoice("none"),
        Temperature(0),
        MaxTokens(30),
    )
    artifacts = [artifact async for artifact in given]
    assert any(isinstance(artifact, TextDelta) for artifact in artifacts)
    assert not any(isinstance(artifact, ToolCallDelta) for artifact in artifacts)


async def test_cancelling_within_a_call_stops_the_model(embedded: EmbeddedProvider) -> None:
    given: Any = embedded.invoke(State([Turn("user", (Text(QUESTION),))]), Weather().tools(), *OPTIONS)
    with anyio.fail_after(40):
        while not isinstance(await anext(given), ToolCallDelta):
            pass
        await given.aclose()
        rest = [each async for each in embedded.invoke(State([Turn("user", (Text("Hi."),))]), MaxTokens(5))]
    assert any(isinstance(artifact, TextDelta) for artifact in rest)


async def test_a_model_whose_template_knows_no_tools_refuses_them(model: Path) -> None:
    provider = EmbeddedProvider(model, context=1024)
    tools = Weather().tools()
    with pytest.raises(ProcessError) as raised:
        await asked(provider, Step(handlers=[tools], invoke_options=[tools]))
    cause = raised.value.__cause__
    assert isinstance(cause, SettingError)
    assert "the chat template of SmolLM2-135M-Instruct.Q4_1.gguf knows none" in str(cause)
    assert "CHATML_TOOLS" in str(cause)
    without = Step(invoke_options=[MaxTokens(20), Temperature(0), Tools()])
    stream, _ = await asked(provider, without, "What is the capital of France?")
    assert stream.thread.state.turns[-1].text.strip()
    await provider.aclose()


async def test_a_template_that_is_none_is_refused(model: Path) -> None:
    provider = EmbeddedProvider(model, context=512, max_tokens=50, chat_template="{% if %}")
    with pytest.raises(SettingError, match=r"chat_template: llama\.cpp cannot load"):
        await provider.warmup()
    await provider.aclose()


async def test_results_that_do_not_fit_are_told(model: Path) -> None:
    provider = EmbeddedProvider(model, context=700, max_tokens=100, chat_template=CHATML_TOOLS)
    turns = [
        Turn("user", (Text("Look it up."),)),
        Turn("assistant", (ToolCall("c", "weather", '{"city": "Paris"}'),)),
        Turn("tool", (ToolResult("c", "much to tell " * 1000),)),
    ]
    with pytest.raises(ResponderError, match="What the tools gave does not fit"), anyio.fail_after(40):
        assert [artifact async for artifact in provider.invoke(State(turns), Weather().tools(), MaxTokens(50))]
    await provider.aclose()


async def test_old_turns_go_when_a_thread_with_calls_outgrows_the_context(model: Path) -> None:
    provider = EmbeddedProvider(model, context=800, max_tokens=160, chat_template=CHATML_TOOLS)
    turns: list[Turn] = []
    for number in range(12):
        turns += [
            Turn("user", (Text(f"The weather in town {number}?"),)),
            Turn("assistant", (ToolCall(f"c{number}", "weather", '{"city": "x", "days": 1, "unit": "kelvin"}'),)),
            Turn("tool", (ToolResult(f"c{number}", "rain " * 40),)),
            Turn("assistant", (Text("Rain."),)),
        ]
    turns.append(Turn("user", (Text(QUESTION),)))
    with anyio.fail_after(50):
        artifacts = [each async for each in provider.invoke(State(turns), Weather().tools(), *OPTIONS)]
    await provider.aclose()
    assert any(isinstance(artifact, ToolCallDelta) for artifact in artifacts)
    [usage] = [artifact for artifact in artifacts if isinstance(artifact, Usage)]
    assert 250 < usage.prompt_tokens < 800 - 160

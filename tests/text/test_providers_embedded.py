"""The embedded provider: on a model that is played, and on the real one."""

import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import pytest
from pydantic import Field

from discussion_helper.errors import ModelCorrupt, ModelMissing, ResponderError, SettingError
from discussion_helper.models import Store, load_manifest
from discussion_helper.responder import embedded_model
from discussion_helper.responder.chat_template import ChatTemplate
from discussion_helper.responder.llama import Aside, ContextFull, Piece, Take
from discussion_helper.responder.prompt import system_prompt
from discussion_helper.text.artifacts import (
    Image,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolResult,
    Usage,
)
from discussion_helper.text.inputs import UserMessageEvent
from discussion_helper.text.manager import Manager
from discussion_helper.text.providers.chatml_tools import CHATML_TOOLS
from discussion_helper.text.providers.embedded import EmbeddedProvider
from discussion_helper.text.providers.options import MaxTokens, Seed, Temperature, ToolChoice
from discussion_helper.text.state import State, Turn
from discussion_helper.text.step import Step
from discussion_helper.text.threads.base import Thread
from discussion_helper.text.threads.memory import MemoryThreads
from discussion_helper.text.tools import Tools

pytestmark = pytest.mark.anyio

HELLO = State([Turn("user", (Text("Hello?"),))])


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """With real threads, and so with real time."""
    return str(request.param)


class PlayedLlama:
    """Stands where llama.cpp stands."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.pieces: list[Piece] = ["Hello", " there."]
        self.endless = False
        self.too_long = 0
        self.refused = ""
        self.running = self.most = 0
        self.usage: tuple[int, int] | None = None
        self.template = ChatTemplate(takes_tools=True, opening="<tool_call>")

    def load(self, path: Path, *, threads: int, context: int, template: str | None) -> "PlayedLlama":
        return self

    def chat(self, request: Mapping[str, Any], take: Take) -> str:
        self.requests.append(dict(request))
        if any(tool["function"]["name"] == self.refused for tool in request.get("tools", ())):
            raise ResponderError("No grammar.")
        if self.too_long:
            raise ContextFull(self.too_long)
        self.running += 1
        self.most = max(self.most, self.running)
        stopped = any(take(piece) for piece in self.pieces)
        while self.endless and not stopped:
            stopped = take("x")
        self.running -= 1
        self.usage = None if stopped else (7, len(self.pieces))
        return "" if stopped else "stop"


@pytest.fixture
def llama(monkeypatch: pytest.MonkeyPatch) -> PlayedLlama:
    llama = PlayedLlama()
    monkeypatch.setattr(embedded_model, "Llama", llama.load)
    return llama


@pytest.fixture
async def provider(llama: PlayedLlama, tmp_path: Path) -> AsyncIterator[EmbeddedProvider]:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    provider = EmbeddedProvider(tmp_path / "model.gguf", context=1024)
    yield provider
    await provider.aclose()


async def given_by(provider: EmbeddedProvider, *options: Any, state: State = HELLO) -> list[Any]:
    return [artifact async for artifact in provider.invoke(state, *options)]


async def test_text_comes_in_pieces_and_the_usage_at_the_end(provider: EmbeddedProvider) -> None:
    assert await given_by(provider) == [TextDelta("Hello"), TextDelta(" there."), Usage(7, 2, 9)]


async def test_thoughts_are_reasoning(provider: EmbeddedProvider, llama: PlayedLlama) -> None:
    llama.pieces = ["<think>", "Hm.", "</think>", "Yes. a <", " b"]
    assert await given_by(provider) == [
        ReasoningDelta("Hm."),
        TextDelta("Yes. a "),
        TextDelta("< b"),
        Usage(7, 5, 12),
    ]


async def test_the_thread_goes_in_without_tools(provider: EmbeddedProvider, llama: PlayedLlama) -> None:
    turns = [
        Turn("system", (Text("Be brief."),)),
        Turn("user", (Text("Weather?"),)),
        Turn("assistant", (ToolCall("c", "weather"),)),
        Turn("tool", (ToolResult("c", "rain"),)),
        Turn("assistant", (Text("Rain."),)),
        Turn("user", (Text("Sure?"),)),
    ]
    await given_by(provider, Temperature(0), Seed(3), MaxTokens(5000), Tools(), state=State(turns))
    [request] = llama.requests
    assert request["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "Rain."},
        {"role": "user", "content": "Sure?"},
    ]
    assert (request["temperature"], request["seed"], request["max_tokens"]) == (0, 3, 1024 - 256)
    assert "tools" not in request


def weather(city: str) -> str:
    """Tell the weather."""
    return f"rain in {city}"


def piece_of_call(arguments: str, **more: Any) -> Aside:
    return Aside(calls=({"index": 0, "function": {**more.pop("function", {}), "arguments": arguments}, **more},))


async def test_calls_come_in_pieces_between_thoughts_and_text(provider: EmbeddedProvider, llama: PlayedLlama) -> None:
    llama.pieces = [
        Aside(thought="Look."),
        "Well.",
        piece_of_call("{", id="a", type="function", function={"name": "weather"}),
        piece_of_call('"city": "Rome"}'),
    ]
    assert await given_by(provider, Tools(weather)) == [
        ReasoningDelta("Look."),
        TextDelta("Well."),
        ToolCallDelta(0, "a", "weather", "{"),
        ToolCallDelta(0, arguments='"city": "Rome"}'),
        Usage(7, 4, 11),
    ]


async def test_offered_tools_go_in_with_the_calls_of_the_thread(provider: EmbeddedProvider, llama: PlayedLlama) -> None:
    turns = [
        Turn("system", (Text("Be brief."),)),
        Turn("user", (Text("Weather?"), Image("https://example.org/a.png"))),
        Turn("assistant", (ToolCall("c", "weather", '{"city": "Rome"}'),)),
        Turn("tool", (ToolResult("c", "rain"),)),
    ]
    tools = Tools(weather)
    await given_by(provider, tools, state=State(turns))
    [request] = llama.requests
    assert [message["role"] for message in request["messages"]] == ["system", "user", "assistant", "tool"]
    assert request["messages"][1]["content"] == "Weather?"
    assert request["messages"][2]["tool_calls"][0]["function"] == {"name": "weather", "arguments": '{"city": "Rome"}'}
    assert request["messages"][3] == {"role": "tool", "tool_call_id": "c", "content": "rain"}
    assert request["tools"] == [{"type": "function", "function": tools.schemas[0]}]
    assert request["tool_choice"] == "auto"


async def test_an_id_of_the_thread_is_not_given_again(provider: EmbeddedProvider, llama: PlayedLlama) -> None:
    llama.pieces = [piece_of_call("{}", id="c", function={"name": "weather"})]
    turns = [*HELLO.turns, Turn("assistant", (ToolCall("c", "weather"),)), Turn("tool", (ToolResult("c", "rain"),))]
    [delta, _] = await given_by(provider, Tools(weather), state=State(turns))
    assert delta.id not in ("", "c")


Deep = Annotated[int, Field(ge=-(10**30), le=10**30), "how deep"]


def hard(
    code: Annotated[str, Field(pattern="^[a-z]+$")],
    long: Annotated[str, Field(min_length=100_000)],
    few: Annotated[list[Deep], Field(max_length=3)],
    pattern: Literal["pattern"] = "pattern",
) -> str:
    """Hard to choose words by."""
    return "ok"


async def test_what_the_model_cannot_choose_words_by_is_told_instead(
    provider: EmbeddedProvider, llama: PlayedLlama
) -> None:
    tools = Tools(hard)
    await given_by(provider, tools)
    properties = llama.requests[0]["tools"][0]["function"]["parameters"]["properties"]
    assert properties == {
        "code": {"type": "string", "description": "(pattern ^[a-z]+$)"},
        "long": {"type": "string", "description": "(minLength 100000)"},
        "few": {
            "type": "array",
            "maxItems": 3,
            "items": {"type": "integer", "description": f"(maximum {10**30}, minimum -{10**30})"},
        },
        "pattern": {"type": "string", "const": "pattern", "default": "pattern"},
    }
    assert tools.schemas[0]["parameters"]["properties"]["long"]["minLength"] == 100_000


async def test_a_tool_that_the_model_cannot_take_is_named(provider: EmbeddedProvider, llama: PlayedLlama) -> None:
    def broken(city: str) -> None:
        """It is broken."""

    llama.refused = "broken"
    with pytest.raises(ResponderError, match=r"cannot take the tool broken: No grammar\..*simpler types"):
        await given_by(provider, Tools(weather, broken))


async def test_a_call_that_must_be_is_begun_for_the_model(provider: EmbeddedProvider, llama: PlayedLlama) -> None:
    llama.pieces = [piece_of_call("{}", id="a", function={"name": "weather"})]
    await given_by(provider, Tools(weather), ToolChoice("required"))
    assert llama.requests[0]["tool_choice"] == "required"
    assert llama.requests[0]["messages"][-1] == {"role": "assistant", "content": "<tool_call>"}
    behind = [*HELLO.turns, Turn("assistant", (ToolCall("c", "weather"),)), Turn("tool", (ToolResult("c", "rain"),))]
    await given_by(provider, Tools(weather), ToolChoice("required"), state=State(behind))
    assert llama.requests[1]["tool_choice"] == "auto"
    assert llama.requests[1]["messages"][-1]["role"] == "tool"


async def test_a_call_that_must_be_and_is_not_is_told(provider: EmbeddedProvider, llama: PlayedLlama) -> None:
    llama.template = ChatTemplate(takes_tools=True, opening="")
    with pytest.raises(ResponderError, match="was to call a tool and called none"):
        await given_by(provider, Tools(weather), ToolChoice("required"))
    assert llama.requests[0]["messages"][-1]["role"] == "user"


async def test_tools_for_a_template_without_are_refused(provider: EmbeddedProvider, llama: PlayedLlama) -> None:
    llama.template = ChatTemplate(takes_tools=False, opening="")
    with pytest.raises(SettingError, match=r"tools: the chat template of model\.gguf knows none"):
        await given_by(provider, Tools(weather))
    assert llama.requests == []
    assert await given_by(provider, Tools(), ToolChoice("required"))


async def test_tools_that_do_not_fit_are_told(provider: EmbeddedProvider, llama: PlayedLlama) -> None:
    llama.too_long = 10_000
    with pytest.raises(ResponderError, match=r"What is told of the tools does not fit .*Offer fewer tools"):
        await given_by(provider, Tools(weather))


def looked_up(*results: str, question: str = "Weather?", city: str = "Rome", system: str = "") -> State:
    turns = [Turn("system", (Text(system),)), Turn("user", (Text("Hi."),)), Turn("user", (Text(question),))]
    for number, result in enumerate(results):
        turns.append(Turn("assistant", (ToolCall(f"c{number}", "weather", f'{{"city": "{city}"}}'),)))
        turns.append(Turn("tool", (ToolResult(f"c{number}", result),)))
    return State(turns)


LONG = "word " * 2000


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (looked_up(LONG), r"What the tools gave does not fit .*smaller max_chars, or give the model a larger context"),
        (looked_up(*["word " * 100] * 20), r"What the tools gave for one message, 20 results together, does not fit"),
        (looked_up("rain", question=LONG), r"The message that tools were called for does not fit .*Send a shorter"),
        (looked_up("rain", city=LONG), r"What the tools were called with does not fit"),
        (looked_up("rain", system=LONG), r"The system prompt does not fit .*Make it shorter"),
        (looked_up(system=LONG), r"The system prompt does not fit"),
    ],
)
async def test_what_does_not_fit_is_named(
    provider: EmbeddedProvider, llama: PlayedLlama, state: State, says: str
) -> None:
    llama.too_long = 2000
    for _ in range(5):
        with pytest.raises(ResponderError, match=says):
            await given_by(provider, Tools(weather), state=state)


async def test_what_does_not_fit_shortens_no_later_message(provider: EmbeddedProvider, llama: PlayedLlama) -> None:
    llama.too_long = 2000
    for _ in range(20):
        with pytest.raises(ResponderError):
            await given_by(provider, state=looked_up(system=LONG))
    llama.too_long = 0
    await given_by(provider, state=looked_up(question="word " * 100))
    assert llama.requests[-1]["messages"][-1]["content"] == "Hi.\n" + "word " * 100


async def test_one_call_at_a_time(provider: EmbeddedProvider, llama: PlayedLlama) -> None:
    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(given_by, provider)
    assert len(llama.requests) == 4
    assert llama.most == 1


@pytest.mark.timed
async def test_cancelling_stops_the_model(provider: EmbeddedProvider, llama: PlayedLlama) -> None:
    llama.endless = True
    artifacts: Any = provider.invoke(HELLO)
    await anext(artifacts)
    began = time.perf_counter()
    await artifacts.aclose()
    assert time.perf_counter() - began < 0.1
    assert llama.running == 0
    llama.endless = False
    assert await given_by(provider) == [TextDelta("Hello"), TextDelta(" there."), Usage(7, 2, 9)]


async def test_a_closed_provider_answers_no_more(provider: EmbeddedProvider) -> None:
    await provider.warmup()
    await provider.aclose()
    await provider.aclose()
    with pytest.raises(RuntimeError, match="closed"):
        await given_by(provider)


async def test_bad_files_and_settings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    with pytest.raises(ModelMissing):
        EmbeddedProvider(path)
    path.write_bytes(b"nothing")
    with pytest.raises(ModelCorrupt):
        EmbeddedProvider(path)
    path.write_bytes(b"GGUF")
    refused: list[tuple[dict[str, Any], str]] = [
        ({"threads": 0}, "threads is 0"),
        ({"context": 512}, "context is 512"),
        ({"chat_template": " "}, "chat_template is empty"),
    ]
    for settings, says in refused:
        with pytest.raises(SettingError, match=says):
            EmbeddedProvider(path, **settings)
    with pytest.raises(SettingError, match="temperature is 3"):
        EmbeddedProvider(path, temperature=3)


@pytest.mark.models
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_real_model_prints_nothing_of_hard_tools(capfd: pytest.CaptureFixture[str]) -> None:
    [path] = Store().path_of(load_manifest().model("SmolLM2-135M")).glob("*.gguf")
    provider = EmbeddedProvider(path, context=1024, max_tokens=16, seed=1, chat_template=CHATML_TOOLS)
    with anyio.fail_after(40):
        given = await given_by(provider, Tools(hard), ToolChoice("required"))
    await provider.aclose()
    assert any(isinstance(artifact, ToolCallDelta) for artifact in given)
    assert capfd.readouterr() == ("", "")


@pytest.mark.models
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_real_model_answers_and_stops() -> None:
    [path] = Store().path_of(load_manifest().model("SmolLM2-135M")).glob("*.gguf")
    provider = EmbeddedProvider(path, context=1024, seed=1, temperature=0.1)
    await provider.warmup()

    def prompted(state: State) -> State:
        return state.with_turns(before=[Turn("system", (Text(system_prompt()),))])

    def step(_: Thread) -> Step:
        return Step(transforms=[prompted], invoke_options=[MaxTokens(40)])

    async with Manager(MemoryThreads(), provider, step) as manager:
        stream = await manager.create()
        with anyio.fail_after(40):
            await stream.process(UserMessageEvent("What is the capital of France?"))
        [answer] = [turn for turn in stream.thread.state.turns if turn.role == "assistant"]
        assert "Paris" in answer.text
        usage = answer.artifacts[-1]
        assert isinstance(usage, Usage)
        assert 10 < usage.prompt_tokens < 80
        assert 0 < usage.completion_tokens <= 40

    story = State([Turn("user", (Text("Tell me a long story about a ship."),))])
    artifacts: Any = provider.invoke(story)
    with anyio.fail_after(40):
        assert await anext(artifacts)
        began = time.perf_counter()
        await artifacts.aclose()
        assert time.perf_counter() - began < 1  # the goal is 0.1 s; the machine may be busy
    await provider.aclose()

"""Tools in a whole session: what was called is in the transcript and in the next request, and ends with the session."""

import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from discussion_helper.background import Background
from discussion_helper.errors import SettingError
from discussion_helper.models import Store, load_manifest
from discussion_helper.responder.calling import FILLER_COVERS_S, MOMENT_AFTER_S
from discussion_helper.responder.embedded import EmbeddedResponder
from discussion_helper.responder.endpoint import EndpointResponder
from discussion_helper.responder.filler import FILLER_AFTER_S, with_filler
from discussion_helper.responder.llama import Aside
from discussion_helper.session import Session
from discussion_helper.testing import ScriptedListener, SilentVoice, VirtualTimeLoop
from discussion_helper.tools import tool
from discussion_helper.tools.wire import CUT_OFF
from discussion_helper.types import Message, SpokenSentence

if TYPE_CHECKING:
    from pathlib import Path

    from tests.responder.conftest import Exchange, FakeEndpoint

pytestmark = pytest.mark.anyio


@tool
async def weather(city: str) -> str:
    """The weather in a city."""
    return f"{city}: 22.1 °C"


@tool(name="weather")
async def slow_weather(city: str) -> str:
    """The weather in a city, after a while."""
    await anyio.sleep(3.0)
    return f"{city}: 22.1 °C"


async def answer(exchange: "Exchange") -> None:
    """Calls the tool when it is asked something, and says what it gave."""
    last = exchange.body["messages"][-1]
    if last["role"] == "tool":
        await exchange.stream(f"It is {last['content']}.")
    else:
        await exchange.begin()
        function = {"name": exchange.body["tools"][0]["function"]["name"], "arguments": '{"city": "Rome"}'}
        await exchange.delta(
            tool_calls=[{"index": 0, "id": f"c{len(exchange.body['messages'])}", "function": function}]
        )
        await exchange.delta(finish="tool_calls")
        await exchange.end()


async def test_the_transcript_has_what_was_called_and_the_next_request_has_it_too(endpoint: "FakeEndpoint") -> None:
    endpoint.answer = answer
    responder = EndpointResponder(base_url=endpoint.base_url, model="m", system="S.", tools=[weather])
    session = Session(ScriptedListener(["How warm is it?", "And now?"]), responder, SilentVoice()).start()
    async with session.events("tool") as events:
        conversation = await session.wait()
        told = [(await anext(events)).data for _ in range(len(events))]

    agent = [it for it in conversation.utterances if it.speaker == "agent"]
    assert [it.text for it in agent] == ["It is Rome: 22.1 °C."] * 2
    assert [[use.result for use in it.calls] for it in agent] == [["Rome: 22.1 °C"]] * 2
    assert conversation.as_messages()[1]["calls"][0]["name"] == "weather"
    json.dumps(conversation.as_dict())
    assert [it["state"] for it in told if "state" in it] == ["called", "done"] * 2
    roles = [it["role"] for it in endpoint.exchanges[-1].body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user", "assistant", "tool"]


async def test_stopping_the_session_cancels_the_tool(endpoint: "FakeEndpoint") -> None:
    running, cancelled = anyio.Event(), anyio.Event()

    @tool
    async def stuck(city: str) -> None:
        """Never ends."""
        running.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    endpoint.answer = answer
    responder = EndpointResponder(base_url=endpoint.base_url, model="m", tools=[stuck])
    session = Session(ScriptedListener(["How warm is it?"], stays_open=True), responder, SilentVoice()).start()
    async with session.events("tool") as events:
        await running.wait()
        with anyio.fail_after(5):
            await session.stop()
        told = [(await anext(events)).data for _ in range(len(events))]
    assert cancelled.is_set()
    assert [it["result"] for it in told if it.get("state") == "done"] == [CUT_OFF]


async def test_interrupting_the_moment_cancels_the_tool(endpoint: "FakeEndpoint") -> None:
    spoken, cancelled = anyio.Event(), anyio.Event()

    @tool
    async def stuck(city: str) -> None:
        """Never ends."""
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    class Voice(SilentVoice):
        async def speak(self, sentence: str) -> SpokenSentence:
            spoken.set()
            return await super().speak(sentence)

    endpoint.answer = answer
    responder = EndpointResponder(base_url=endpoint.base_url, model="m", tools=[stuck], moment_after_s=0.01)
    listener = ScriptedListener(["How warm is it?"], stays_open=True)
    session = Session(listener, responder, Voice(seconds_per_sentence=5.0)).start()
    await spoken.wait()
    assert await session.interrupt()
    with anyio.fail_after(5):
        await cancelled.wait()
    await session.stop()


async def test_the_moment_is_spoken_while_a_tool_is_slow_and_what_it_gives_after_it(endpoint: "FakeEndpoint") -> None:
    go_on = anyio.Event()

    @tool
    async def slow(city: str) -> str:
        """Takes its time."""
        await go_on.wait()
        return city

    class Voice(SilentVoice):
        async def speak(self, sentence: str) -> SpokenSentence:
            go_on.set()
            return await super().speak(sentence)

    endpoint.answer = answer
    responder = EndpointResponder(
        base_url=endpoint.base_url, model="m", tools=[slow], language="fr", moment_after_s=0.01
    )
    conversation = await Session(ScriptedListener(["Où ?"]), responder, Voice()).start().wait()
    assert conversation.utterances[-1].text == "Un instant. It is Rome."


async def test_a_tool_that_is_slow_after_a_filler_is_not_announced(
    endpoint: "FakeEndpoint", monkeypatch: pytest.MonkeyPatch
) -> None:
    filler_is_spoken = anyio.Event()

    @tool(timeout_s=0.1)
    async def slow(city: str) -> None:
        """Takes too long."""
        await anyio.sleep_forever()

    class Voice(SilentVoice):
        async def speak(self, sentence: str) -> SpokenSentence:
            filler_is_spoken.set()
            return await super().speak(sentence)

    async def late_answer(exchange: "Exchange") -> None:
        await filler_is_spoken.wait()
        await answer(exchange)

    endpoint.answer = late_answer
    defaults: Any = with_filler.__kwdefaults__
    monkeypatch.setitem(defaults, "after_s", 0.01)
    responder = EndpointResponder(
        base_url=endpoint.base_url, model="m", tools=[slow], filler="Let me see.", moment_after_s=0.01
    )
    conversation = await Session(ScriptedListener(["Where?"]), responder, Voice()).start().wait()
    assert conversation.utterances[-1].text.startswith("Let me see. It is The tool slow was stopped")


# -- the model in this process


class Scripted:
    """Stands for a model in this process: pieces of one request after another; a number is seconds until the next."""

    def __init__(self, *answers: list[Any]) -> None:
        self.answers = list(answers)
        self.requests: list[Any] = []
        self.closed = False

    def begin(self, request: Any) -> Any:
        self.requests.append(request)
        pieces = iter(self.answers.pop(0) if request.max_tokens else ())  # a warm-up asks for none

        class Decoding:
            def __aiter__(self) -> Any:
                return self

            async def __anext__(self) -> Any:
                for piece in pieces:
                    if not isinstance(piece, float):
                        return piece
                    await anyio.sleep(piece)
                raise StopAsyncIteration

            async def outcome(self) -> str:
                return "stop"

        return Decoding()

    async def end(self, decoding: Any) -> None: ...

    async def aclose(self) -> None: ...


def embedded(tmp_path: "Path", *answers: list[Any], **options: Any) -> tuple[EmbeddedResponder, Scripted]:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    responder, model = EmbeddedResponder(file, system="S.", **options), Scripted(*answers)
    responder._model = model  # type: ignore[assignment]
    return responder, model


CALL = Aside(calls=({"index": 0, "id": "c1", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}},))
ASKED: list[Message] = [{"role": "user", "content": "How warm is it?"}]


async def test_the_model_in_this_process_gets_what_its_tool_gave(tmp_path: "Path") -> None:
    responder, model = embedded(tmp_path, [CALL], ["It is", " warm."], tools=[weather])
    assert [it async for it in responder.reply(ASKED)] == ["It is warm."]
    first, second = model.requests
    assert [it["function"]["name"] for it in first.tools] == ["weather"]
    assert [it["role"] for it in second.messages] == ["user", "assistant", "tool"]
    assert second.messages[2]["content"] == "Rome: 22.1 °C"


async def test_the_model_in_this_process_calls_nothing_before_the_turn_is_certain(tmp_path: "Path") -> None:
    responder, model = embedded(tmp_path, [CALL], ["It is warm."], tools=[weather])
    committed = anyio.Event()
    given: list[str] = []

    async def take() -> None:
        given.extend([it async for it in responder.speculate(ASKED, committed)])

    taking = Background(take, name="a reply ahead of time").start()
    while not model.requests:
        await anyio.lowlevel.checkpoint()
    assert not await taking.ends(within_s=0.05)
    assert len(model.requests) == 1
    committed.set()
    await taking.wait()
    assert given == ["It is warm."]


@pytest.mark.parametrize("anyio_backend", [("asyncio", {"loop_factory": VirtualTimeLoop})])
@pytest.mark.parametrize(
    ("called_s", "said"),
    [
        (0.2, "One moment. It is warm."),  # 0.9 s after the question: the reply has begun, and needs no filler
        (0.3, "Let me see. It is warm."),  # both are due at the same time
        (0.31, "Let me see. It is warm."),
        (1.5, "Let me see. It is warm."),
        (FILLER_AFTER_S + FILLER_COVERS_S - MOMENT_AFTER_S - 0.1, "Let me see. It is warm."),
        (FILLER_AFTER_S + FILLER_COVERS_S - MOMENT_AFTER_S + 0.1, "Let me see. One moment. It is warm."),
    ],
)
async def test_for_one_wait_a_filler_or_the_moment_is_said_and_not_both(
    called_s: float, said: str, tmp_path: "Path"
) -> None:
    responder, _ = embedded(tmp_path, [called_s, CALL], ["It is warm."], tools=[slow_weather], filler="Let me see.")
    conversation = await Session(ScriptedListener(["How warm is it?"]), responder, SilentVoice()).start().wait()

    assert conversation.utterances[-1].text == said


async def test_without_tools_the_request_is_as_it_was(tmp_path: "Path") -> None:
    responder, model = embedded(tmp_path, ["It is warm."])
    use = {"id": "c1", "name": "weather", "result": "Rome: 22.1 °C"}
    messages: list[Message] = [*ASKED, {"role": "assistant", "content": "Warm.", "calls": [use]}, *ASKED]
    assert [it async for it in responder.reply(messages)] == ["It is warm."]
    assert model.requests[0].whole(model.requests[0].messages) == [
        {"role": "system", "content": "S."},
        {"role": "user", "content": "How warm is it?"},
        {"role": "assistant", "content": "Warm."},
        {"role": "user", "content": "How warm is it?"},
    ]


@pytest.mark.models
async def test_the_default_model_takes_no_tools_and_says_so() -> None:
    folder = Store().path_of(load_manifest().model("SmolLM2-135M"))
    responder = EmbeddedResponder(next(folder.glob("*.gguf")), tools=[weather])
    with pytest.raises(SettingError, match=r"the chat template of .* knows none"):
        _ = [it async for it in responder.reply(ASKED)]
    await responder.aclose()

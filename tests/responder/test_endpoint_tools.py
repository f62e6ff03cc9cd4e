"""Tools of the endpoint responder: called, awaited, told of, cancelled, and never before the turn is certain."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from discussion_helper.errors import EndpointStalled, SettingError
from discussion_helper.parts import Attachable, Reporter
from discussion_helper.responder.calling import ROUNDS
from discussion_helper.responder.endpoint import EndpointResponder
from discussion_helper.responder.filler import with_filler
from discussion_helper.responder.phrases import Phrase, one_moment, text_of
from discussion_helper.tools import Tool, tool
from discussion_helper.tools.wire import CUT_OFF
from discussion_helper.types import Message

if TYPE_CHECKING:
    from tests.responder.conftest import Exchange, FakeEndpoint

pytestmark = pytest.mark.anyio

ASKED: list[Message] = [{"role": "user", "content": "How warm is it?"}]


@tool(parallel=True)
async def weather(city: str) -> str:
    """The weather in a city."""
    return f"{city}: 22.1 °C"


@dataclass
class Told(Reporter):
    """Keeps what is reported."""

    events: list[dict[str, Any]] = field(default_factory=list)

    def now(self) -> float:
        return 0.0

    def of(self, monotonic_s: float) -> float:
        return monotonic_s

    def report(self, kind: str, /, **data: Any) -> None:
        self.events.append({"kind": kind, **data})

    def of_state(self, state: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event.get("state") == state]


Make = Callable[..., EndpointResponder]


@pytest.fixture
async def make(endpoint: "FakeEndpoint") -> AsyncIterator[Make]:
    made: list[EndpointResponder] = []

    def one(*tools: Tool, **options: Any) -> EndpointResponder:
        made.append(EndpointResponder(base_url=endpoint.base_url, model="m", system="S.", tools=tools, **options))
        return made[-1]

    yield one
    for each in made:
        await each.aclose()


async def said(responder: EndpointResponder, messages: Sequence[Message] = ASKED) -> list[str]:
    return [clause async for clause in responder.reply(messages)]


def call(name: str, arguments: Any = None, *, call_id: str = "c1", index: int = 0) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


async def calls(exchange: "Exchange", *made: dict[str, Any], content: str = "") -> None:
    await exchange.begin()
    if content:
        await exchange.delta(content=content)
    await exchange.delta(tool_calls=list(made))
    await exchange.delta(finish="tool_calls")
    await exchange.end()


def in_turn(*answers: Callable[["Exchange"], Any]) -> Callable[["Exchange"], Any]:
    """The first request gets the first answer, and so on; the last one is repeated."""
    asked = 0

    def answer(exchange: "Exchange") -> Any:
        nonlocal asked
        asked += 1
        return answers[min(asked, len(answers)) - 1](exchange)

    return answer


def calling(*made: dict[str, Any], content: str = "") -> Callable[["Exchange"], Any]:
    return lambda exchange: calls(exchange, *made, content=content)


def saying(*pieces: str) -> Callable[["Exchange"], Any]:
    return lambda exchange: exchange.stream(*pieces)


async def test_what_a_tool_gave_goes_back_to_the_model_which_then_answers(endpoint: "FakeEndpoint", make: Make) -> None:
    endpoint.answer = in_turn(calling(call("weather", {"city": "Rome"})), saying("It is warm."))
    assert await said(make(weather)) == ["It is warm."]

    first, second = (exchange.body for exchange in endpoint.exchanges)
    assert [it["function"]["name"] for it in first["tools"]] == ["weather"]
    assert second["messages"][2:] == [
        {"role": "assistant", "content": None, "tool_calls": [without_index(call("weather", {"city": "Rome"}))]},
        {"role": "tool", "tool_call_id": "c1", "content": "Rome: 22.1 °C"},
    ]


def without_index(made: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in made.items() if key != "index"}


async def test_a_call_may_come_in_any_pieces_and_words_before_it_are_said(endpoint: "FakeEndpoint", make: Make) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content="Let me look.")
        pieces: list[dict[str, Any]] = [{"id": "c1", "function": {"name": "weather"}}]
        pieces += [{"function": {"arguments": text}} for text in ('{"ci', 'ty": "Ro', 'me"}')]
        for piece in pieces:
            await exchange.delta(tool_calls=[{"index": 0, **piece}])
        await exchange.delta(finish="tool_calls")
        await exchange.end()

    endpoint.answer = in_turn(answer, saying("Warm."))
    assert await said(make(weather)) == ["Let me look.", "Warm."]
    assert endpoint.exchanges[1].body["messages"][2]["content"] == "Let me look."
    assert endpoint.exchanges[1].body["messages"][3]["content"] == "Rome: 22.1 °C"


async def test_calls_of_one_answer_run_at_the_same_time_and_their_results_are_in_order(
    endpoint: "FakeEndpoint", make: Make
) -> None:
    running, both = 0, anyio.Event()

    @tool(parallel=True)
    async def meet(name: str) -> str:
        """Wait for the other one."""
        nonlocal running
        running += 1
        if running == 2:
            both.set()
        await both.wait()
        return name

    made = [call("meet", {"name": name}, call_id=name, index=at) for at, name in enumerate(["one", "two"])]
    endpoint.answer = in_turn(calling(*made), saying("Done."))
    await said(make(meet))
    results = endpoint.exchanges[1].body["messages"][-2:]
    assert [(it["tool_call_id"], it["content"]) for it in results] == [("one", "one"), ("two", "two")]


async def test_what_goes_wrong_with_a_call_is_told_to_the_model(endpoint: "FakeEndpoint", make: Make) -> None:
    @tool
    def broken() -> str:
        """Fails."""
        raise OSError("no such thing")

    @tool
    def huge() -> str:
        """Too much."""
        return "x" * 1_000_000

    @tool
    def odd() -> object:
        """No text."""
        return {"ok": {1, 2}, "nan": float("nan")}

    @tool(timeout_s=0.02)
    async def stuck() -> str:
        """Never ends."""
        await anyio.sleep_forever()
        return ""

    names = ["broken", "huge", "odd", "stuck", "unknown"]
    made = [call(name, call_id=name, index=at) for at, name in enumerate(names)]
    made.append(call("broken", '{"half', call_id="half", index=5))
    endpoint.answer = in_turn(calling(*made), saying("Sorry."))
    assert await said(make(broken, huge, odd, stuck)) == ["Sorry."]

    results = {
        it["tool_call_id"]: it["content"] for it in endpoint.exchanges[1].body["messages"] if it["role"] == "tool"
    }
    assert "no such thing" in results["broken"]
    assert "1000000 characters" in results["huge"]
    assert "null" in results["odd"]
    assert "longer than 0.02 s" in results["stuck"]
    assert "There is no tool 'unknown'" in results["unknown"]
    assert "do not fit" in results["half"]
    assert all(len(result) < 1_000 for result in results.values())


@pytest.mark.parametrize("found_out", [False, True])
async def test_a_slow_tool_is_announced_once_in_the_language_and_a_quick_one_is_not(
    endpoint: "FakeEndpoint", make: Make, found_out: bool
) -> None:
    go_on = anyio.Event()

    @tool
    async def slow() -> str:
        """Takes its time."""
        await go_on.wait()
        return "ok"

    endpoint.answer = in_turn(calling(call("slow")), calling(call("weather", {"city": "Rom"})), saying("Fertig."))
    options = {"moment": lambda: one_moment("de-AT")} if found_out else {"language": "de"}
    responder = make(slow, weather, **options, moment_after_s=0.01)
    async with aclosing(responder.reply(ASKED)) as clauses:  # type: ignore[type-var]
        assert await anext(clauses) == "Einen Moment."
        go_on.set()
        assert [clause async for clause in clauses] == ["Fertig."]


@pytest.mark.parametrize(("moment", "before"), [("", ""), ("Hold on.", "I will look.")])
async def test_nothing_is_said_of_a_slow_tool_where_that_is_not_wanted_or_the_model_has_said_something(
    endpoint: "FakeEndpoint", make: Make, moment: str, before: str
) -> None:
    @tool(timeout_s=0.05)
    async def slow() -> None:
        """Takes its time."""
        await anyio.sleep_forever()

    endpoint.answer = in_turn(calling(call("slow"), content=before), saying("Done."))
    assert await said(make(slow, moment=moment, moment_after_s=0.01)) == [*([before] if before else []), "Done."]


async def test_closing_the_reply_cancels_the_tool_and_tells_that_it_was_cut_off(
    endpoint: "FakeEndpoint", make: Make
) -> None:
    cancelled = anyio.Event()

    @tool
    async def stuck() -> None:
        """Never ends."""
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    endpoint.answer = calling(call("stuck"))
    told, responder = Told(), make(stuck, moment="Wait.", moment_after_s=0.01)
    assert isinstance(responder, Attachable)
    responder.attach(told)
    async with aclosing(responder.reply(ASKED)) as clauses:  # type: ignore[type-var]
        assert await anext(clauses) == "Wait."
    assert cancelled.is_set()
    assert [it["result"] for it in told.of_state("done")] == [CUT_OFF]
    assert len(endpoint.exchanges) == 1


async def test_a_tool_that_swallows_its_cancellation_keeps_nobody(endpoint: "FakeEndpoint", make: Make) -> None:
    free = anyio.Event()

    @tool
    async def deaf() -> None:
        """Does not let go."""
        with anyio.CancelScope(shield=True):
            await free.wait()

    endpoint.answer = calling(call("deaf"))
    responder = make(deaf, moment="Wait.", moment_after_s=0.01)
    with anyio.fail_after(5):
        async with aclosing(responder.reply(ASKED)) as clauses:  # type: ignore[type-var]
            assert await anext(clauses) == "Wait."
    free.set()


async def test_a_call_is_told_of_when_it_begins_and_when_it_is_over(endpoint: "FakeEndpoint", make: Make) -> None:
    endpoint.answer = in_turn(calling(call("weather", {"city": "Rome"})), saying("Warm."))
    told, responder = Told(), make(weather)
    responder.attach(told)
    await said(responder)
    [called], [done] = told.of_state("called"), told.of_state("done")
    assert (called["kind"], called["name"], called["arguments"]) == ("tool", "weather", '{"city": "Rome"}')
    assert (done["id"], done["result"], done["is_error"]) == ("c1", "Rome: 22.1 °C", False)


async def test_ahead_of_time_no_tool_is_called_before_the_turn_is_certain(endpoint: "FakeEndpoint", make: Make) -> None:
    called, committed = anyio.Event(), anyio.Event()

    @tool
    def send() -> str:
        """Has an effect."""
        called.set()
        return "sent"

    sent = anyio.Event()

    async def answer(exchange: "Exchange") -> None:
        await calls(exchange, call("send"), content="I will send it.")
        sent.set()

    endpoint.answer = in_turn(answer, saying("It is sent."))
    told, responder = Told(), make(send)
    responder.attach(told)
    async with aclosing(responder.speculate(ASKED, committed)) as clauses:  # type: ignore[type-var]
        assert await anext(clauses) == "I will send it."
        await sent.wait()
        with anyio.move_on_after(0.05) as waited:
            await anext(clauses)
        assert waited.cancelled_caught
    assert not called.is_set()
    assert told.events == []

    committed.set()
    endpoint.answer = in_turn(answer, saying("It is sent."))
    assert [it async for it in responder.speculate(ASKED, committed)] == ["I will send it.", "It is sent."]
    assert called.is_set()


async def test_a_model_that_calls_for_ever_is_asked_to_answer_without_tools(
    endpoint: "FakeEndpoint", make: Make
) -> None:
    def answer(exchange: "Exchange") -> Any:
        if exchange.body.get("tool_choice") == "none":
            return exchange.stream("I give up.")
        return calls(exchange, call("weather", {"city": "Rome"}))

    endpoint.answer = answer
    assert await said(make(weather)) == ["I give up."]
    assert len(endpoint.exchanges) == ROUNDS + 1
    ids = [it["id"] for turn in endpoint.exchanges[-1].body["messages"] for it in turn.get("tool_calls", ())]
    assert len(set(ids)) == ROUNDS


async def test_a_flood_of_calls_is_bounded(endpoint: "FakeEndpoint", make: Make) -> None:
    made = [call("weather", {"city": str(at)}, call_id=f"c{at}", index=at) for at in range(500)]
    endpoint.answer = in_turn(calling(*made), saying("Enough."))
    assert await said(make(weather)) == ["Enough."]
    assert len(endpoint.exchanges[1].body["messages"][2]["tool_calls"]) == 16


async def test_half_a_call_is_not_run(endpoint: "FakeEndpoint", make: Make) -> None:
    called = anyio.Event()

    @tool
    def send() -> None:
        """Has an effect."""
        called.set()

    async def answer(exchange: "Exchange") -> None:
        await exchange.begin(chunked=False)
        await exchange.delta(tool_calls=[call("send")], chunked=False)

    endpoint.answer = answer
    with pytest.raises(EndpointStalled):
        await said(make(send))
    assert not called.is_set()


async def test_a_later_turn_has_the_calls_of_the_earlier_ones(endpoint: "FakeEndpoint", make: Make) -> None:
    use = {"id": "c1", "name": "weather", "arguments": '{"city": "Rome"}', "result": "Rome: 22.1 °C", "is_error": False}
    messages: list[Message] = [
        *ASKED,
        {"role": "assistant", "content": "It is warm.", "calls": [use], "interrupted": True, "unheard": "Very."},
        {"role": "user", "content": "And now?"},
    ]
    await said(make(weather), messages)
    sent = endpoint.exchanges[0].body["messages"]
    assert [turn["role"] for turn in sent] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert sent[2]["tool_calls"][0]["id"] == sent[3]["tool_call_id"] == "c1"
    assert sent[3]["content"] == "Rome: 22.1 °C"
    assert sent[4] == {"role": "assistant", "content": "It is warm."}


async def test_a_model_without_tools_gets_no_calls(endpoint: "FakeEndpoint", make: Make) -> None:
    use = {"id": "c1", "name": "weather", "result": "Rome: 22.1 °C"}
    messages: list[Message] = [*ASKED, {"role": "assistant", "content": "", "calls": [use]}, *ASKED]
    await said(make(), messages)
    assert endpoint.exchanges[0].body["messages"] == [
        {"role": "system", "content": "S."},
        {"role": "user", "content": "How warm is it?\nHow warm is it?"},
    ]
    assert "tools" not in endpoint.exchanges[0].body


@pytest.mark.parametrize("seconds", [0, -1, 61])
def test_a_moment_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(SettingError, match="moment_after_s"):
        EndpointResponder(base_url="http://127.0.0.1:1/v1", model="m", moment_after_s=seconds)


# -- fillers


async def test_a_filler_is_said_only_where_it_is_asked_for_and_the_reply_is_slow(
    endpoint: "FakeEndpoint", make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = anyio.Event()

    async def answer(exchange: "Exchange") -> None:
        await go_on.wait()
        await exchange.stream("Here it is.")

    endpoint.answer = answer
    defaults: Any = with_filler.__kwdefaults__
    monkeypatch.setitem(defaults, "after_s", 0.01)
    fillers: list[Phrase] = ["Let me think.", lambda: "Mal sehen."]
    for filler in fillers:
        go_on = anyio.Event()
        async with aclosing(make(filler=filler).reply(ASKED)) as clauses:  # type: ignore[type-var]
            assert await anext(clauses) == text_of(filler)
            go_on.set()
            assert [clause async for clause in clauses] == ["Here it is."]
    assert await said(make()) == ["Here it is."]

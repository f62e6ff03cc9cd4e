"""Tools: what a model is told of a function, and what it is told of each of its calls."""

import itertools
import json
import logging
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import cached_property
from typing import Annotated, Any, Literal

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, PlainSerializer, computed_field, field_serializer, model_serializer

from discussion_helper.errors import SettingError
from discussion_helper.text.artifacts import TextDelta, ToolCall, ToolResult, payload_of
from discussion_helper.text.errors import SaveError, TurnCancelledError
from discussion_helper.text.inputs import EventContext, UserMessageEvent
from discussion_helper.text.manager import Manager
from discussion_helper.text.outputs import LifecycleEvent
from discussion_helper.text.providers.messages import messages_of
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.text.state import State, Turn
from discussion_helper.text.step import HandlesTurns, Step
from discussion_helper.text.tools import AT_ONCE, Tool, Tools, tool
from discussion_helper.tools.output import Unsendable, output_of
from discussion_helper.tools.parameters import BadArguments, Parameters


class Unit(Enum):
    C = "celsius"
    F = "fahrenheit"


@tool
async def weather(
    city: Annotated[str, "where"], days: int = 1, unit: Unit = Unit.C, schema: list[str] | None = None
) -> dict[str, Any]:
    """Tell the weather.

    Of some days.
    """
    return {"city": city, "days": days, "unit": unit, "schema": schema}


def call(tool_name: str, call_id: str = "c1", /, **arguments: Any) -> ToolCall:
    return ToolCall(call_id, tool_name, json.dumps(arguments))


async def results_of(tools: Tools, *calls: ToolCall) -> list[ToolResult]:
    state = State()
    await Step(handlers=[tools]).submit(state, "assistant", *calls)
    made = [turn.artifacts for turn in state.turns[1:]]
    assert all(turn.role == "tool" for turn in state.turns[1:])
    assert all(len(artifacts) == 1 for artifacts in made)
    return [result for [result] in made if isinstance(result, ToolResult)]


async def result_of(given: Tool | Callable[..., Any], arguments: str = "{}", **options: Any) -> ToolResult:
    made = given if isinstance(given, Tool) else Tool.of(given)
    [result] = await results_of(Tools(made, **options), ToolCall("c1", made.name, arguments))
    assert result.tool_call_id == "c1"
    return result


async def complaint_of(given: Tool | Callable[..., Any], arguments: str = "{}", **options: Any) -> str:
    result = await result_of(given, arguments, **options)
    assert result.is_error
    assert result.for_model == result.content
    assert len(result.content) < 800
    return result.content


# -- what a model is told of a function


def test_a_function_is_described_by_its_name_docstring_and_types() -> None:
    assert weather.name == "weather"
    assert weather.description == "Tell the weather.\n\nOf some days."
    assert weather.schema["parameters"] == {
        "$defs": {"Unit": {"enum": ["celsius", "fahrenheit"], "type": "string"}},
        "additionalProperties": False,
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "where"},
            "days": {"type": "integer", "default": 1},
            "unit": {"$ref": "#/$defs/Unit", "default": "celsius"},
            "schema": {"anyOf": [{"items": {"type": "string"}, "type": "array"}, {"type": "null"}], "default": None},
        },
        "required": ["city"],
    }


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def now() -> str:
        return ""

    assert Tool.of(now).schema == {
        "name": "now",
        "description": "",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    }


def test_a_parameter_may_have_any_name() -> None:
    def odd(title: str, model_config: int, self_: int, copy: bool = True) -> None: ...

    parameters = Parameters(odd, owner="odd")
    assert list(parameters.schema["properties"]) == ["title", "model_config", "self_", "copy"]
    given = parameters.parse('{"title": "t", "model_config": 1, "self_": 2}')
    assert given == {"title": "t", "model_config": 1, "self_": 2, "copy": True}


def test_the_decorator_takes_options_and_leaves_a_function() -> None:
    @tool(name="sum", parallel=True, timeout_s=2, render=str, description="Adds.")
    def add(a: int, b: int) -> int:
        return a + b

    assert (add.name, add.description, add.parallel, add.timeout_s, add.render) == ("sum", "Adds.", True, 2, str)
    assert add(1, b=2) == 3


def test_methods_and_objects_make_tools() -> None:
    class Shop:
        """Sells."""

        async def buy(self, item: str) -> str:
            return item

        async def __call__(self, count: int) -> int:
            return count

    assert list(Tool.of(Shop().buy).parameters.schema["properties"]) == ["item"]
    called = Tool.of(Shop())
    assert (called.name, called.description) == ("Shop", "Sells.")
    assert list(called.parameters.schema["properties"]) == ["count"]


class Opaque: ...


class Raising:
    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> Any:
        raise LookupError("not today")


def untyped(x) -> None: ...  # type: ignore[no-untyped-def]
def several(*words: str) -> None: ...
def by_place(x: int, /) -> None: ...
def of_a_function(x: Callable[[], None]) -> None: ...
def of_a_class_beside(city: str, x: Opaque) -> None: ...
def unknown(x: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def yielding() -> Any:
    yield 1


def of_a_pattern(city: str, x: Annotated[str, Field(pattern=r"^(?=.*[A-Z])\w+$")]) -> None: ...
def of_a_huge_pattern(x: Annotated[str, Field(pattern=r"^(\w{1,1000}){1,1000}$")]) -> None: ...
def of_a_length(x: Annotated[str, Field(min_length=3, max_length=-1)]) -> None: ...
def of_no_bound(x: Annotated[float, Field(examples=[float("nan")])]) -> None: ...
def of_no_text(x: Annotated[str, "half \ud83d"]) -> None: ...
def of_a_type_that_raises(x: Raising) -> None: ...
def of_no_attribute(x: "re.Nowhere") -> None: ...  # type: ignore[name-defined]
def of_no_code(x: "1+") -> None: ...  # type: ignore[valid-type]  # noqa: F722
def of_a_quotient(x: "1 / 0") -> None: ...  # type: ignore[valid-type]
def told_by_half() -> None:
    """Half of \ud83d."""


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (untyped, "its parameter x has no type hint"),
        (several, "its parameter words cannot be given by name"),
        (by_place, "its parameter x cannot be given by name"),
        (of_a_function, r"no schema can be made of its parameters: x is .*Callable.*, which JSON cannot hold"),
        (of_a_class_beside, "no schema can be made of its parameters: x is Opaque, which JSON cannot hold"),
        (unknown, "its signature cannot be read"),
        (yielding, "yields its results"),
        (of_a_pattern, r"parameters: x is .*, which cannot be: error: look-around, .* is not supported\. Give"),
        (of_a_huge_pattern, "which cannot be: SchemaError: Compiled regex exceeds size limit"),
        (of_a_length, "parameters: x is .*, which cannot be"),
        (of_no_bound, "would hold a number or a text that JSON does not know"),
        (of_no_text, "would hold a number or a text that JSON does not know"),
        (of_a_type_that_raises, "x is Raising, which cannot be: not today"),
        (of_no_attribute, "its signature cannot be read .*Nowhere"),
        (of_no_code, "its signature cannot be read"),
        (of_a_quotient, "its signature cannot be read .division by zero"),
        (told_by_half, "its description is no text"),
        (5, "its signature cannot be read"),
        (lambda: None, "a model cannot call that"),
    ],
)
def test_a_function_that_makes_no_tool_is_refused(function: Callable[..., Any], says: str) -> None:
    with pytest.raises(SettingError, match=says) as caught:
        Tool.of(function)
    assert caught.value.fix


def test_nothing_of_how_models_of_pydantic_are_made_is_told() -> None:
    with pytest.raises(SettingError) as refused:
        Tool.of(of_a_class_beside)
    assert not {"pydantic", "arbitrary_types_allowed", "model_config"} & set(re.findall(r"\w+", str(refused.value)))


def test_a_tool_of_which_the_model_learns_nothing_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    def bare() -> None: ...
    def told() -> None:
        """It is told."""

    Tool.of(told)
    Tool.of(bare, description="")
    assert [] == caplog.messages
    Tool.of(bare)
    assert ["the tool bare has no docstring: a model learns what it does from its name alone"] == caplog.messages


def test_a_default_that_json_does_not_know_is_not_told() -> None:
    def take(x: float = float("nan"), y: int = object(), z: int = 3) -> None:  # type: ignore[assignment]
        """Take."""

    properties = Tool.of(take).schema["parameters"]["properties"]
    assert properties == {"x": {"type": "number"}, "y": {"type": "integer"}, "z": {"default": 3, "type": "integer"}}


def test_bad_settings_are_refused() -> None:
    for wrong in ({"timeout_s": "5"}, {"name": 5}, {"description": 5}):
        with pytest.raises(SettingError):
            Tool.of(weather.function, **wrong)
    with pytest.raises(SettingError, match="timeout_s is 0"):
        Tool.of(weather.function, timeout_s=0)
    with pytest.raises(SettingError, match="same name"):
        Tools(weather, weather)
    with pytest.raises(SettingError, match="threads is 0"):
        Tools(threads=0)
    with pytest.raises(SettingError, match="max_chars is 0"):
        Tools(max_chars=0)


def test_tools_are_an_option_and_a_handler() -> None:
    tools = Tools(weather)
    assert tools.name == "tools"
    assert isinstance(tools, HandlesTurns)
    assert [schema["name"] for schema in tools.schemas] == ["weather"]


# -- arguments


@given(text=st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_arguments_fit_or_are_refused_in_a_line(text: str) -> None:
    try:
        city, complaint = weather.parameters.parse(text)["city"], ""
    except BadArguments as problem:
        city, complaint = "", str(problem)
    assert isinstance(city, str)
    assert city or 0 < len(complaint) <= 500
    assert "\n" not in complaint
    assert "http" not in complaint


@given(arguments=st.fixed_dictionaries({"a": st.integers(), "b": st.text()}, optional={"c": st.booleans()}))
def test_arguments_that_fit_arrive(arguments: dict[str, Any]) -> None:
    def take(a: int, b: str, c: bool = False) -> None: ...

    assert Parameters(take, owner="take").parse(json.dumps(arguments)) == {"c": False, **arguments}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ('{"city": "Bonn"', "Invalid JSON"),
        ("[]", "object"),
        ("", "city: Field required"),
        ('{"city": "Bonn", "days": "two"}', "days: Input should be a valid integer"),
        ('{"city": "Bonn", "unit": "K"}', "unit: Input should be 'celsius' or 'fahrenheit'"),
        ('{"city": "Bonn", "country": "DE"}', "country: Extra inputs are not permitted"),
        ("[" * 100_000, "JSON"),
        ("5", "object"),
        ("null", "object"),
        ('"city"', "object"),
        ('"{\\"city\\": \\"Bonn\\"}"', "object"),
        ('```json\n{"city": "Bonn"}\n```', "Invalid JSON"),
        ('{"city": "Bonn"} and so on', "Invalid JSON"),
        ('{"city": "Bonn", "days": 1.5}', "days: Input should be a valid integer"),
        ('{"city": "Bonn", "days": NaN}', "days: Input should be a finite number"),
        ('{"city": 5}', "city: Input should be a valid string"),
    ],
)
async def test_the_model_is_told_what_is_wrong_with_its_arguments(arguments: str, says: str) -> None:
    complaint = await complaint_of(weather, arguments)
    assert complaint.startswith("The arguments of weather do not fit: ")
    assert says in complaint
    assert complaint.endswith("Send one JSON object that fits its parameters.")


@pytest.mark.anyio
@pytest.mark.parametrize("size", ["NaN", "-Infinity", "1e999", "1" + "0" * 400])
async def test_what_a_provider_could_not_send_again_is_no_argument(size: str) -> None:
    def take(size: float) -> None: ...

    assert "They are not valid JSON" in await complaint_of(take, f'{{"size": {size}}}')


def test_a_number_may_come_as_a_string() -> None:
    def take(count: int, size: float) -> None: ...

    parsed = Parameters(take, owner="take").parse('{"count": "3", "size": "0.5"}')
    assert parsed == {"count": 3, "size": 0.5}
    assert type(parsed["count"]) is int


@pytest.mark.anyio
async def test_the_model_is_told_which_tools_there_are() -> None:
    [result] = await results_of(Tools(weather), call("wheather"))
    assert result == ToolResult("c1", "There is no tool 'wheather'. There is: weather.", is_error=True)
    [result] = await results_of(Tools(), call("x\ud800" * 100))
    assert "There is: none." in result.content
    result.content.encode()


# -- results


@dataclass
class Point:
    x: float
    y: float


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("value", "text", "kept"),
    [
        ("as it is", "as it is", None),
        ("", "", None),
        ("half \ud83d", "half ?", None),
        (None, "null", None),
        (0, "0", 0),
        (False, "false", False),
        ({"ä": [1, 2.5]}, '{"ä":[1,2.5]}', {"ä": [1, 2.5]}),
        (Point(1.0, float("nan")), '{"x":1.0,"y":null}', {"x": 1.0, "y": None}),
        (date(2026, 1, 2), "2026-01-02", None),
        (Unit.C, "celsius", None),
    ],
)
async def test_a_result_is_text_for_the_model_and_a_value(value: Any, text: str, kept: Any) -> None:
    async def give() -> Any:
        return value

    assert await result_of(give) == ToolResult("c1", text, kept)


@pytest.mark.anyio
async def test_render_makes_the_text() -> None:
    @tool(render=lambda value: f"{value['n']} apples")
    async def count() -> dict[str, int]:
        return {"n": 3}

    assert await result_of(count) == ToolResult("c1", "3 apples", {"n": 3})


@pytest.mark.anyio
async def test_a_long_value_is_left_out_beside_its_text() -> None:
    @tool(render=lambda value: f"{len(value)} lines")
    async def lines() -> list[str]:
        return ["word"] * 100

    assert await result_of(lines, max_chars=50) == ToolResult("c1", "100 lines")


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    )
)
def test_what_is_stored_gives_the_model_the_same_text(value: Any) -> None:
    try:
        output = output_of(value, render=None, max_chars=10_000)
    except Unsendable:
        assert "\\ud" in ascii(value)  # half an emoji within a value
        return
    for result in (ToolResult("c", output.text, output.value), ToolResult("c", "", output.value)):
        stored = json.loads(json.dumps(payload_of(result)))
        assert ToolResult(**stored) == result
        assert ToolResult(**stored).for_model == result.for_model
        result.for_model.encode()


async def explode() -> None:
    """Explode."""
    raise KeyError("no\nsuch thing " + "x" * 1000)


async def exit_() -> None:
    raise SystemExit(3)


async def unsendable() -> Any:
    return object()


async def circular() -> Any:
    items: list[Any] = []
    items.append(items)
    return items


async def endless() -> Any:
    return itertools.count()


async def long() -> str:
    return "x" * 30


@tool(render=lambda value: 3)  # type: ignore[arg-type, return-value]
async def badly_rendered() -> str:
    return ""


@tool(render=lambda value: value["text"])
async def not_rendered() -> str:
    return ""


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("function", "says"),
    [
        (explode, "The tool explode failed (KeyError): 'no\\nsuch thing xx"),
        (exit_, "The tool exit_ failed (SystemExit): 3"),
        (unsendable, "The tool unsendable ran, but its result, a object, has no form in JSON."),
        (circular, "The tool circular ran, but its result, a list, holds itself, in a list; return it without that."),
        (endless, "The tool endless ran, but its result, a count, may have no end; return a list."),
        (long, "The tool long ran, but its result has 30 characters, and 20 are the most; ask for less of it."),
        (badly_rendered, "The tool badly_rendered ran, but its result was rendered as a int, not as text."),
        (not_rendered, "The tool not_rendered failed (TypeError): "),
    ],
)
async def test_what_goes_wrong_is_the_result(function: Any, says: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.CRITICAL):
        assert (await complaint_of(function, max_chars=20)).startswith(says)


class Mute:
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise LookupError

    __repr__ = __str__
    __hash__ = object.__hash__


class Reading(BaseModel):
    values: Any

    @computed_field  # type: ignore[prop-decorator]
    @property
    def later(self) -> Any:
        return itertools.count() if self.values == "later" else iter(())


class Hides(list[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter(())


class HidesToo(dict[str, Any]):
    def items(self) -> Any:
        return ()


class Part(BaseModel):
    """What is not in its JSON, or another way, has no end as it is."""

    whole: Any = Field(default=None, exclude=True)
    first: Annotated[Any, PlainSerializer(lambda numbers: next(numbers))] = None
    second: Any = None
    parts: list[Any] = []

    @field_serializer("second")
    def _next(self, numbers: Any) -> int:
        return int(next(numbers))

    @cached_property
    def numbers(self) -> Iterator[int]:
        return itertools.count()


class Named(BaseModel):
    inside: Any

    @model_serializer
    def _name(self) -> str:
        return "named"


def naturals() -> Iterator[int]:
    yield from itertools.count()


def nested(times: int) -> list[Any]:
    inside: list[Any] = []
    for _ in range(times):
        inside = [inside]
    return inside


def doubled(times: int) -> Any:
    inside: Any = 1
    for _ in range(times):
        inside = deque([inside, inside])
    return inside


def cyclic() -> dict[str, Any]:
    found: dict[str, Any] = {"name": "x"}
    found["again"] = [found]
    return found


NO_END, TOO_LONG = "which may have no end; return a list.", "has more than 20000 characters, which are the most;"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(make, says, id=name)
        for name, make, says in (
            ("generator", naturals, "its result, a generator, may have no end; return a list."),
            ("generator in a dict", lambda: {"n": naturals()}, f"its result, a dict, holds a generator, {NO_END}"),
            ("count in a list", lambda: [[itertools.count()]], f"its result, a list, holds a count, {NO_END}"),
            ("as a key", lambda: {naturals(): 1}, f"its result, a dict, holds a generator, {NO_END}"),
            ("in a dataclass", lambda: Point(1.0, naturals()), f"its result, a Point, holds a generator, {NO_END}"),  # type: ignore[arg-type]
            ("in a model", lambda: Reading(values=naturals()), f"its result, a Reading, holds a generator, {NO_END}"),
            ("computed", lambda: Reading(values="later"), f"its result, a Reading, holds a count, {NO_END}"),
            ("in a deque", lambda: deque([itertools.count()]), f"its result, a deque, holds a count, {NO_END}"),
            ("huge in a deque", lambda: deque([10**5_000]), "its result, a deque, holds a whole number of thousands"),
            ("many times over", lambda: doubled(60), f"its result, a deque, {TOO_LONG}"),
            ("list that hides it", lambda: Hides([naturals()]), f"its result, a Hides, holds a generator, {NO_END}"),
            (
                "dict that hides it",
                lambda: HidesToo(n=naturals()),
                f"its result, a HidesToo, holds a generator, {NO_END}",
            ),
            ("cyclic dict", cyclic, "its result, a dict, holds itself, in a dict; return it without that."),
            ("deep list", lambda: nested(5_000), "its result, a list, is nested more than 100 times;"),
            ("long text", lambda: "x" * 10**7, "its result has 10000000 characters, and 20000 are the most;"),
            ("long text in a list", lambda: ["x" * 10**7], f"its result, a list, {TOO_LONG}"),
            ("long list", lambda: [0] * 10**7, f"its result, a list, {TOO_LONG}"),
            ("long bytes", lambda: b"x" * 10**7, f"its result, a bytes, {TOO_LONG}"),
            ("bytes of no text", lambda: {"b": b"\xff"}, "its result, a dict, has no form in JSON."),
            ("huge number", lambda: [10**5_000], "its result, a list, holds a whole number of thousands of digits;"),
            ("mute object", lambda: {"m": Mute()}, "its result, a dict, has no form in JSON."),
            ("mute key", lambda: {Mute(): 1}, "its result, a dict, has no form in JSON."),
        )
    ],
)
async def test_what_has_no_end_or_no_form_is_told_and_costs_nothing(make: Callable[[], Any], says: str) -> None:
    @tool
    async def made() -> Any:
        """Makes it on the event loop, which is not to stand still."""
        return make()

    with anyio.fail_after(5.0):
        assert (await complaint_of(made)).startswith(f"The tool made ran, but {says}")


@pytest.mark.anyio
async def test_what_is_not_in_its_json_may_be_without_end() -> None:
    @tool
    async def made() -> Any:
        """Makes it."""
        whole = Part(first=itertools.count(1), second=itertools.count(2))
        whole.parts = [Part(whole=whole, first=whole.numbers, second=itertools.count()), Named(inside=naturals())]
        return whole

    inside = [{"first": 0, "second": 0, "parts": []}, "named"]
    assert {"first": 1, "second": 2, "parts": inside} == (await result_of(made)).value


@pytest.mark.anyio
@pytest.mark.parametrize(
    "value", [{"n": naturals()}, cyclic(), [0] * 100_000, nested(200)], ids=["endless", "cyclic", "long", "deep"]
)
async def test_what_has_no_end_is_left_out_beside_its_text(value: Any) -> None:
    @tool(render=lambda _: "made")
    async def made() -> Any:
        """Makes it."""
        return value

    assert await result_of(made) == ToolResult("c1", "made")


def test_a_value_that_cannot_say_what_it_is_has_a_text_for_the_model() -> None:
    assert "(dict: it has no form in JSON)" == ToolResult("c1", value={"m": Mute()}).for_model


@pytest.mark.anyio
async def test_a_failure_is_logged_in_a_line_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="discussion_helper"):
        await complaint_of(explode)
    first, second = caplog.records
    assert (first.levelno, first.getMessage(), first.exc_info) == (
        logging.WARNING,
        "the tool explode failed (KeyError)",
        None,
    )
    assert second.levelno == logging.DEBUG
    assert second.exc_info is not None


@pytest.mark.anyio
async def test_a_tool_that_takes_too_long_is_stopped() -> None:
    stopped = anyio.Event()

    @tool(timeout_s=5)
    async def slow() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    began = anyio.current_time()
    assert await complaint_of(slow) == "The tool slow was stopped: it took longer than 5 s."
    assert anyio.current_time() - began == pytest.approx(5, abs=0.2)
    assert stopped.is_set()


@pytest.mark.anyio
async def test_a_tool_that_clings_on_is_left_behind() -> None:
    let_go = anyio.Event()

    @tool(timeout_s=5)
    async def clinging() -> None:
        with anyio.CancelScope(shield=True):
            await let_go.wait()

    assert "longer than 5 s" in await complaint_of(clinging)
    let_go.set()


@pytest.mark.anyio
async def test_a_time_out_within_a_tool_is_its_failure() -> None:
    async def asks() -> None:
        with anyio.fail_after(1):
            await anyio.sleep_forever()

    assert "failed (TimeoutError)" in await complaint_of(asks)


# -- several calls


class Meeting:
    """Tools that tell who runs beside whom."""

    def __init__(self) -> None:
        self.running: list[str] = []
        self.beside: dict[str, set[str]] = {}
        self.order: list[str] = []

    async def work(self, name: str, seconds: float) -> str:
        self.order.append(name)
        self.running.append(name)
        for one in self.running:
            self.beside.setdefault(one, set()).update(self.running)
        await anyio.sleep(seconds)
        self.running.remove(name)
        return name

    def tools(self) -> Tools:
        together = Tool.of(self.work, name="together", parallel=True)
        return Tools(together, Tool.of(self.work, name="alone"))


@pytest.mark.anyio
async def test_safe_tools_run_at_the_same_time_and_results_keep_the_order() -> None:
    meeting = Meeting()
    calls = [call("together", str(n), name=str(n), seconds=10 - n) for n in range(5)]
    began = anyio.current_time()
    results = await results_of(meeting.tools(), *calls)
    assert anyio.current_time() - began == pytest.approx(10, abs=0.1)
    assert [result.tool_call_id for result in results] == ["0", "1", "2", "3", "4"]
    assert [result.content for result in results] == ["0", "1", "2", "3", "4"]


@pytest.mark.anyio
@pytest.mark.parametrize("kinds", ["AAA", "TAT", "ATTATT", "TTAATT", "T" * (AT_ONCE + 3)])
async def test_a_tool_that_is_not_safe_runs_alone_in_its_place(kinds: str) -> None:
    meeting = Meeting()
    names = {"A": "alone", "T": "together"}
    calls = [call(names[kind], str(n), name=f"{kind}{n}", seconds=1) for n, kind in enumerate(kinds)]
    await results_of(meeting.tools(), *calls)
    assert sorted(meeting.order) == sorted(meeting.beside)
    for name, others in meeting.beside.items():
        assert len(others) <= AT_ONCE
        if name.startswith("A"):
            assert others == {name}
            place = meeting.order.index(name)
            assert {int(one[1:]) for one in meeting.order[:place]} == set(range(int(name[1:])))
        else:
            assert len(others) > 1 or kinds in ("TAT",)


@pytest.mark.anyio
async def test_a_failure_leaves_the_others_alone() -> None:
    meeting = Meeting()
    tools = Tools(Tool.of(meeting.work, name="together", parallel=True), Tool.of(explode, parallel=True))
    results = await results_of(
        tools, call("explode", "1"), call("nothing", "2"), call("together", "3", name="x", seconds=1)
    )
    assert [result.is_error for result in results] == [True, True, False]


@pytest.mark.anyio
async def test_only_an_assistants_calls_are_run() -> None:
    state = State()
    await Step(handlers=[Tools(weather)]).submit(state, "user", call("weather", city="Bonn"))
    assert len(state) == 1


# -- in a stream


def asking(*calls: ToolCall) -> ScriptedProvider:
    return ScriptedProvider(calls, [TextDelta("ok")])


def roles_of(turns: tuple[Turn, ...]) -> list[str]:
    return [turn.role for turn in turns]


@pytest.mark.anyio
async def test_a_tool_loop(manager_of: Callable[..., Manager]) -> None:
    tools = Tools(weather)
    provider = asking(call("weather", city="Bonn"))
    step = lambda _: Step(handlers=[tools], invoke_options=[tools])  # noqa: E731
    async with manager_of(provider, step=step) as manager:
        stream = await manager.create()
        events = stream.subscribe()
        await stream.process(UserMessageEvent("Will it rain?", EventContext("slack-1")))
        await stream.aclose()

        assert roles_of(stream.thread.state.turns) == ["user", "assistant", "tool", "assistant"]
        seen = [event async for event in events]
        assert {event.context.provenance for event in seen} == {"slack-1"}
        phases = [event.phase for event in seen if isinstance(event, LifecycleEvent)]
        assert phases == ["submitted", "streaming", "submitted", "streaming", "done"]
        assert provider.options == [(tools,), (tools,)]


@pytest.mark.anyio
async def test_whatever_goes_wrong_with_its_calls_the_model_goes_on(manager_of: Callable[..., Manager]) -> None:
    async def hanging() -> None:
        await anyio.sleep_forever()

    tools = Tools(weather, hanging, explode, exit_, unsendable, circular, Tool.of(long, name="huge"), max_chars=20)
    wrong = {
        "broken": ToolCall("broken", "weather", '{"city": "Bo'),
        "listed": ToolCall("listed", "weather", "[1]"),
        "unknown": call("sing", "unknown"),
        "hangs": call("hanging", "hangs"),
        "raises": call("explode", "raises"),
        "exits": call("exit_", "exits"),
        "has no JSON": call("unsendable", "has no JSON"),
        "has no end": call("circular", "has no end"),
        "is huge": call("huge", "is huge"),
    }
    provider = asking(*wrong.values())
    async with manager_of(provider, step=lambda _: Step(handlers=[tools])) as manager:
        stream = await manager.create()
        await stream.process(UserMessageEvent("go"))
        turns = stream.thread.state.turns
        await stream.aclose()
    assert roles_of(turns) == ["user", "assistant", *["tool"] * len(wrong), "assistant"]
    results = [part for turn in turns[2:-1] for part in turn.artifacts if isinstance(part, ToolResult)]
    assert [result.tool_call_id for result in results] == list(wrong)
    assert all(result.is_error and result.content for result in results)
    sent = messages_of(State(turns))
    assert [message["role"] for message in sent] == roles_of(turns)
    assert all(isinstance(json.loads(each["function"]["arguments"]), dict) for each in sent[1]["tool_calls"])


@pytest.mark.anyio
async def test_cancelling_the_turn_cancels_its_tools_and_keeps_what_was_done(
    manager_of: Callable[..., Manager],
) -> None:
    running, cancelled = anyio.Event(), anyio.Event()

    @tool(parallel=True)
    async def quick() -> str:
        return "done"

    @tool(parallel=True)
    async def endless() -> None:
        running.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    tools = Tools(quick, endless)
    provider = asking(call("quick", "1"), call("endless", "2"), call("quick", "3"))
    async with manager_of(provider, step=lambda _: Step(handlers=[tools])) as manager:
        stream = await manager.create()
        stream.submit(UserMessageEvent("go"))
        await running.wait()
        await anyio.sleep(1)
        stream.cancel()
        await stream.process(UserMessageEvent("and now?"))

        assert cancelled.is_set()
        turns = stream.thread.state.turns
        assert roles_of(turns) == ["user", "assistant", "tool", "user", "assistant"]
        assert turns[2].artifacts == (ToolResult("1", "done"),)


@pytest.mark.anyio
async def test_a_tool_may_close_its_own_stream(manager_of: Callable[..., Manager]) -> None:
    async def hang_up() -> str:
        await manager.list()[0].aclose()
        return "bye"

    provider = asking(call("hang_up"))
    async with manager_of(provider, step=lambda _: Step(handlers=[Tools(hang_up)])) as manager:
        stream = await manager.create()
        with anyio.fail_after(10), pytest.raises(TurnCancelledError):
            await stream.process(UserMessageEvent("go"))
        with anyio.fail_after(10):
            await stream.wait()


@pytest.mark.anyio
async def test_a_result_that_cannot_be_stored_fails_the_turn_and_ends_the_tools() -> None:
    ended = anyio.Event()

    @tool(parallel=True)
    async def endless() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    @tool(parallel=True)
    async def quick() -> Literal["x"]:
        await anyio.sleep(1)
        return "x"

    async def record(turn: Turn) -> None:
        if turn.role == "tool":
            raise SaveError("full.")

    step = Step(handlers=[Tools(quick, endless)]).within(EventContext(), record=record)
    with pytest.raises(SaveError):
        await step.submit(State(), "assistant", call("quick", "1"), call("endless", "2"))
    assert ended.is_set()

"""Tools: functions that a model may call, and the handler that runs what it called."""

import inspect
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Self, overload

import anyio
from anyio import to_thread

from discussion_helper.background import LET_GO_S, Background, isolated
from discussion_helper.errors import SettingError
from discussion_helper.failures import told
from discussion_helper.text.artifacts import ToolCall, ToolResult
from discussion_helper.text.state import State, Turn
from discussion_helper.text.step import Step
from discussion_helper.text.tool_json import is_sendable
from discussion_helper.text.tool_output import Output, Unsendable, output_of
from discussion_helper.text.tool_parameters import BadArguments, Parameters

__all__ = ["AT_ONCE", "MAX_CHARS", "TIMEOUT_S", "Tool", "Tools", "tool"]

AT_ONCE = 16
"""Calls that run at the same time, if their tools allow it at all."""
MAX_CHARS = 20_000
"""Of a result, about 5,000 tokens."""
TIMEOUT_S = 30.0
"""How long a tool may take, with waiting for a thread."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what OpenAI's interface takes
_LONGEST_FAILURE = 500
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """A function that a model may call; it can still be called as the function it is."""

    name: str
    description: str
    """What it does, for the model."""
    parameters: Parameters
    function: Callable[..., Any]
    parallel: bool = field(default=False, kw_only=True)
    """Safe beside others of an answer; else it runs alone, after those called before it."""
    timeout_s: float = field(default=TIMEOUT_S, kw_only=True)
    render: Callable[[Any], str] | None = field(default=None, kw_only=True)
    """Makes the model's text of what the function returned; None = a text as it is, anything else as JSON."""

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        parallel: bool = False,
        timeout_s: float = TIMEOUT_S,
        render: Callable[[Any], str] | None = None,
    ) -> Self:
        """The tool that a function, plain or async, makes: its name, its docstring, its type hints.

        The docstring is what the model is told of it; without one, and a `description`, the log warns.
        A plain function runs in a thread, which nothing can end: past its time it is left to itself. Raises
        SettingError.
        """
        name = name or str(getattr(function, "__name__", type(function).__name__))
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            what = f"tool {str(name)[:80]!r}: a model cannot call that."
            raise SettingError(what, fix="Use 1 to 64 of A-Z a-z 0-9 _ -.")
        if not isinstance(timeout_s, int | float) or not timeout_s > 0:
            raise SettingError(f"tool {name}: timeout_s is {str(timeout_s)[:80]}.", fix="Give seconds above 0.")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise SettingError(f"tool {name} yields its results.", fix="Return them at once.")
        if description is None:
            description = inspect.cleandoc(function.__doc__ or "")
            if not description:
                _log.warning("the tool %s has no docstring: a model learns what it does from its name alone", name)
        if not isinstance(description, str) or not is_sendable(description):
            raise SettingError(f"tool {name}: its description is no text.", fix="Decode it properly.")
        parameters = Parameters(function, owner=name)
        return cls(name, description, parameters, function, parallel=parallel, timeout_s=timeout_s, render=render)

    @property
    def schema(self) -> dict[str, Any]:
        """Name, description and the JSON schema of the parameters."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters.schema}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.function(*args, **kwargs)

    async def run(self, arguments: Mapping[str, Any], *, threads: anyio.CapacityLimiter, max_chars: int) -> Output:
        """Call it for a model. Raises Unsendable, and what the function and `render` raise."""
        shape = partial(output_of, render=self.render, max_chars=max_chars)
        if _is_async(self.function):
            return shape(await self.function(**arguments))
        # Not abandoned on cancellation: whoever is cancelled goes on, but the thread keeps its place till it ends.
        output, coming = await to_thread.run_sync(partial(self._called, arguments, shape), limiter=threads)
        return shape(await coming) if output is None else output

    def _called(self, arguments: Mapping[str, Any], shape: Callable[[Any], Output]) -> tuple[Output | None, Any]:
        """In the thread; its result, or else what is still to be awaited."""
        given = self.function(**arguments)
        return (None, given) if inspect.isawaitable(given) else (shape(given), None)


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    parallel: bool = False,
    timeout_s: float = TIMEOUT_S,
    render: Callable[[Any], str] | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """The decorator: `@tool`, or `@tool(parallel=True)` with the options of `Tool.of`. Raises SettingError."""
    return partial(Tool.of, **options) if function is None else Tool.of(function, **options)


class Tools:
    """Both an option of a provider, which tells the model of them, and the step's handler, which runs them.

    Every call of an answer gets one tool's turn, in the order of the calls, each as soon as it and those before it
    are done. Whatever goes wrong with a call is told to the model as its result. When a turn is cancelled, so are
    its tools, and calls without a result stay without one: a provider tells the model that they were cut off, as
    it must do when the whole process was. One object may serve many streams.
    """

    name: ClassVar[str] = "tools"

    def __init__(self, *tools: Tool | Callable[..., Any], threads: int = 8, max_chars: int = MAX_CHARS) -> None:
        """`threads`: plain functions that run at the same time. `max_chars`: of a result. Raises SettingError."""
        made = [given if isinstance(given, Tool) else Tool.of(given) for given in tools]
        self._tools = {each.name: each for each in made}
        if len(self._tools) < len(made):
            raise SettingError("Two tools have the same name.", fix="Rename one with Tool.of(..., name=...).")
        for setting, value in (("threads", threads), ("max_chars", max_chars)):
            if value < 1:
                raise SettingError(f"{setting} is {value}.", fix="Give 1 or more.")
        self._threads = anyio.CapacityLimiter(threads)
        self._max_chars = max_chars

    @property
    def schemas(self) -> tuple[dict[str, Any], ...]:
        """Of every tool: name, description, parameters."""
        return tuple(each.schema for each in self._tools.values())

    async def handle_turn(self, step: Step, state: State, turn: Turn) -> None:
        """Run what an assistant's turn calls. Raises SaveError when a result cannot be stored."""
        if turn.role != "assistant":
            return
        for calls in self._together([each for each in turn.artifacts if isinstance(each, ToolCall)]):
            await self._run(calls, step, state)

    def _together(self, calls: list[ToolCall]) -> Iterator[list[ToolCall]]:
        """Calls that may run at the same time; a tool that is not safe beside others is alone, in its place."""
        batch: list[ToolCall] = []
        for call in calls:
            known = self._tools.get(call.name)
            if known is not None and not known.parallel:
                yield from ([batch] if batch else [])
                yield [call]
                batch = []
                continue
            batch.append(call)
            if len(batch) == AT_ONCE:
                yield batch
                batch = []
        if batch:
            yield batch

    async def _run(self, calls: list[ToolCall], step: Step, state: State) -> None:
        running = [Background(partial(self.answer, call), name=f"the call of {call.name}").start() for call in calls]
        try:
            for each in running:
                await step.submit(state, "tool", await each.wait())
        finally:
            for each in running:
                each.cancel()
            for each in running:
                await each.ends(within_s=2 * LET_GO_S)

    async def answer(self, call: ToolCall) -> ToolResult:
        """Run one call; what goes wrong is in the result."""
        known = self._tools.get(call.name)
        if known is None:
            return _failed(call, f"There is no tool {call.name[:80]!r}. There is: {', '.join(self._tools) or 'none'}.")
        try:
            arguments = known.parameters.parse(call.arguments)
        except BadArguments as problem:
            what = f"The arguments of {known.name} do not fit: {problem}."
            return _failed(call, f"{what} Send one JSON object that fits its parameters.")
        except Exception as error:  # a validator of the application's
            return self._broke(call, error)
        return await self._result(call, known, arguments)

    async def _result(self, call: ToolCall, known: Tool, arguments: Mapping[str, Any]) -> ToolResult:
        run = partial(known.run, arguments, threads=self._threads, max_chars=self._max_chars)
        with anyio.move_on_after(known.timeout_s):
            try:
                output = await isolated(run, name=f"the tool {known.name}")
                return ToolResult(call.id, output.text, output.value)
            except Unsendable as problem:
                return _failed(call, f"The tool {known.name} ran, but {problem}.")
            except Exception as error:
                return self._broke(call, error)
        return _failed(call, f"The tool {known.name} was stopped: it took longer than {known.timeout_s:g} s.")

    def _broke(self, call: ToolCall, error: Exception) -> ToolResult:
        kind = type(getattr(error, "error", error)).__name__
        _log.warning("the tool %s failed (%s)", call.name, kind)  # its text may hold what no log is to hold
        _log.debug("the tool %s failed", call.name, exc_info=error)
        return _failed(call, f"The tool {call.name} failed ({kind}): {told(error)[:_LONGEST_FAILURE]}")


def _failed(call: ToolCall, text: str) -> ToolResult:
    return ToolResult(call.id, text.encode("utf-8", "replace").decode(), is_error=True)

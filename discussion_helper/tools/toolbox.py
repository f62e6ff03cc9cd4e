"""The toolbox: tools by name, and calls of them run within bounds, for any model."""

import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import anyio

from discussion_helper.background import LET_GO_S, Background, isolated
from discussion_helper.errors import SettingError
from discussion_helper.failures import told
from discussion_helper.tools.calls import ToolCall, ToolResult
from discussion_helper.tools.output import Unsendable
from discussion_helper.tools.parameters import BadArguments
from discussion_helper.tools.tool import Tool

__all__ = ["AT_ONCE", "MAX_CHARS", "Toolbox"]

AT_ONCE = 16
"""Calls that run at the same time, if their tools allow it at all."""
MAX_CHARS = 20_000
"""Of a result, about 5,000 tokens."""

_LONGEST_FAILURE = 500
_log = logging.getLogger(__name__)


class Toolbox:
    """Whatever goes wrong with a call is told to the model as its result. One object may serve many conversations."""

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

    @property
    def offers(self) -> list[dict[str, Any]]:
        """The tools as a chat completion takes them."""
        return [{"type": "function", "function": schema} for schema in self.schemas]

    async def results(self, calls: Sequence[ToolCall]) -> AsyncGenerator[ToolResult, None]:
        """One result a call, in their order, each as soon as it and those before it are there.

        Closing it, or cancelling who waits for it, cancels the tools; one that does not let go is left behind.
        """
        for batch in self.together(calls):
            running = [
                Background(partial(self.answer, call), name=f"the call of {call.name}").start() for call in batch
            ]
            try:
                for each in running:
                    yield await each.wait()
            finally:
                for each in running:
                    each.cancel()
                for each in running:
                    await each.ends(within_s=2 * LET_GO_S)

    def together(self, calls: Sequence[ToolCall]) -> Iterator[list[ToolCall]]:
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

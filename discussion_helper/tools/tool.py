"""A tool: a function that a model may call."""

import inspect
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self, overload

import anyio
from anyio import to_thread

from discussion_helper.errors import SettingError
from discussion_helper.tools.json_text import is_sendable
from discussion_helper.tools.output import Output, output_of
from discussion_helper.tools.parameters import Parameters

__all__ = ["TIMEOUT_S", "Tool", "tool"]

TIMEOUT_S = 30.0
"""How long a tool may take, with waiting for a thread."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what OpenAI's interface takes
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

"""Tools of a text stream: the handler that runs what a model called."""

from contextlib import aclosing
from typing import ClassVar

from discussion_helper.text.artifacts import ToolCall
from discussion_helper.text.state import State, Turn
from discussion_helper.text.step import Step
from discussion_helper.tools.tool import TIMEOUT_S, Tool, tool
from discussion_helper.tools.toolbox import AT_ONCE, MAX_CHARS, Toolbox

__all__ = ["AT_ONCE", "MAX_CHARS", "TIMEOUT_S", "Tool", "Tools", "tool"]


class Tools(Toolbox):
    """Both an option of a provider, which tells the model of them, and the step's handler, which runs them.

    Every call of an answer gets one tool's turn, in the order of the calls, each as soon as it and those before it
    are done. Whatever goes wrong with a call is told to the model as its result. When a turn is cancelled, so are
    its tools, and calls without a result stay without one: a provider tells the model that they were cut off, as
    it must do when the whole process was. One object may serve many streams.
    """

    name: ClassVar[str] = "tools"

    async def handle_turn(self, step: Step, state: State, turn: Turn) -> None:
        """Run what an assistant's turn calls. Raises SaveError when a result cannot be stored."""
        if turn.role != "assistant":
            return
        calls = [each for each in turn.artifacts if isinstance(each, ToolCall)]
        async with aclosing(self.results(calls)) as results:
            async for result in results:
                await step.submit(state, "tool", result)

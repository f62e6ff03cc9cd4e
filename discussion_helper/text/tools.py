"""Tools of a text stream: the handler that runs what a model called."""

from functools import partial
from typing import ClassVar

from discussion_helper.background import LET_GO_S, Background
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
        for calls in self.together([each for each in turn.artifacts if isinstance(each, ToolCall)]):
            await self._run(calls, step, state)

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

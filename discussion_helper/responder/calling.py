"""The tools of one reply: what the model calls is run, told of, and cancelled with the reply."""

import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from discussion_helper.background import LET_GO_S, Background
from discussion_helper.clock import now
from discussion_helper.errors import SettingError
from discussion_helper.parts import Reporter
from discussion_helper.responder.phrases import Phrase, text_of
from discussion_helper.tools.calls import ToolCall, ToolResult
from discussion_helper.tools.toolbox import Toolbox
from discussion_helper.tools.wire import CUT_OFF, WireIds, wire_call, wire_result

__all__ = ["FILLER_COVERS_S", "MOMENT_AFTER_S", "ROUNDS", "Calling", "Moment"]

FILLER_COVERS_S = 10.0
"""A tool that is slow within so long after a filler is part of the same wait, and not announced: one of the two is
enough. It is as long as people keep their attention on an answer that does not come (Miller 1968, Nielsen 1993)."""

MOMENT_AFTER_S = 0.7
"""A tool that has not answered by then is slow: the silence would be noticed. Between the turns of people some 0.2 s
pass, and a second already says something (Stivers et al. 2009, Jefferson 1989)."""
ROUNDS = 6
"""How often a model may call tools in one reply; then it is asked to answer without any."""

_STOP_S = 4 * LET_GO_S


@dataclass(frozen=True, slots=True)
class Moment:
    """What is said when tools have taken `after_s`, once a reply; "" = nothing.

    Nothing either when a filler was said in the `FILLER_COVERS_S` before that: for one wait there is one of the two.
    """

    text: Phrase
    after_s: float = MOMENT_AFTER_S

    def __post_init__(self) -> None:
        if not 0 < self.after_s <= 60:
            raise SettingError(f"moment_after_s is {self.after_s}.", fix="Give seconds above 0, 60 at most.")


class Calling:
    """For one reply. A call is reported as the event `tool`, when it begins and when it is over."""

    def __init__(self, tools: Toolbox, moment: Moment, reporter: Reporter | None) -> None:
        self._tools = tools
        self._moment = moment
        self._reporter = reporter
        self._waiting: dict[str, tuple[ToolCall, float]] = {}
        self._results: list[str] = []
        self._filled_s = -math.inf

    @property
    def offers(self) -> list[dict[str, Any]]:
        """The tools as a chat completion takes them."""
        return self._tools.offers

    def filled(self) -> None:
        """A filler is said now: whoever waits knows that the reply is to come."""
        self._filled_s = now()

    async def run(self, calls: Sequence[ToolCall], *, spoke: bool) -> AsyncGenerator[str, None]:
        """Run them; gives what is to be said meanwhile. `spoke`: the model has said something before it called.

        Closing it cancels the tools. What they gave is then in `messages`.
        """
        self._results = []
        running = Background(partial(self._collect, calls), name="the tools of a reply").start()
        try:
            if self._moment.text and not spoke:
                with anyio.move_on_after(self._moment.after_s):
                    await running.finished()
                covered = now() - self._filled_s < FILLER_COVERS_S
                if running.running and not covered and (text := text_of(self._moment.text)):
                    yield text
                    self._moment = Moment("")
            await running.wait()
        finally:
            if running.running:
                await running.stop(within_s=_STOP_S)
            for call, began in list(self._waiting.values()):
                self._tell_done(call, ToolResult(call.id, CUT_OFF, is_error=True), began)

    def messages(self, text: str, calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
        """What the model gets of the calls that were run last, and of the `text` that it said before them."""
        ids = WireIds([call.id for call in calls])
        named = [(ids.of(call.id), call) for call in calls]
        turn = {"role": "assistant", "content": text or None, "tool_calls": [wire_call(*each) for each in named]}
        results = zip(named, self._results, strict=True)
        return [turn, *(wire_result(wire_id, result) for (wire_id, _), result in results)]

    async def _collect(self, calls: Sequence[ToolCall]) -> None:
        began = now()
        for call in calls:
            self._waiting[call.id] = call, began
            self._report("called", id=call.id, name=call.name, arguments=call.arguments)
        async with aclosing(self._tools.results(calls)) as results:
            at = 0
            async for result in results:
                self._results.append(result.for_model)
                self._tell_done(calls[at], result, began)
                at += 1

    def _tell_done(self, call: ToolCall, result: ToolResult, began: float) -> None:
        del self._waiting[call.id]
        told = {"id": call.id, "name": call.name, "arguments": call.arguments, "result": result.for_model}
        self._report("done", **told, is_error=result.is_error, took_s=round(now() - began, 3))

    def _report(self, state: str, **data: Any) -> None:
        if self._reporter is not None:
            self._reporter.report("tool", state=state, **data)

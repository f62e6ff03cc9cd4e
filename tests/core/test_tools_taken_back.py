"""Tools that were called for a turn which was not over: what they did is done, and the next reply knows of it."""

import math
from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
import pytest

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, SilentVoice
from discussion_helper.text.spoken import SpokenThread
from discussion_helper.text.threads.memory import MemoryThreads
from discussion_helper.types import Message, Policy, SpokenUtterance, Utterance

pytestmark = pytest.mark.anyio


class Person:
    """Says "Order a pizza", which is taken to be all, and 0.5 s later "with cheese"."""

    resumes = True

    async def utterances(self) -> AsyncIterator[Utterance]:
        yield SpokenUtterance("user", "Order a pizza")
        await anyio.sleep(1.0)
        yield SpokenUtterance("user", "Order a pizza with cheese", revises="Order a pizza")
        await anyio.sleep(12.0)

    async def speech_started(self) -> None:
        await anyio.sleep_forever()

    async def resumed(self) -> None:
        await anyio.sleep(0.5 if self.resumes else math.inf)

    def reopen(self, *, within_s: float) -> bool:
        resumes, self.resumes = self.resumes, False
        return resumes

    async def aclose(self) -> None: ...


class Calls(EchoResponder):
    """Calls a tool that takes `tool_s`, and says what came of it `later_s` after that."""

    def __init__(self, tool_s: float, later_s: float) -> None:
        super().__init__()
        self._tool_s, self._later_s = tool_s, later_s
        self._reporter: Any = None

    def attach(self, reporter: Any) -> None:
        self._reporter = reporter

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        self.seen.append(list(messages))
        call = {"id": f"c{len(self.seen)}", "name": "order", "arguments": "{}"}
        self._reporter.report("tool", state="called", **call)
        result = "cut off"
        try:
            await anyio.sleep(self._tool_s)
            result = "ordered"
        finally:
            self._reporter.report("tool", state="done", **call, result=result, is_error=result != "ordered")
        await anyio.sleep(self._later_s)
        yield "There you are."


@pytest.mark.parametrize(("tool_s", "later_s", "result"), [(0.2, 5.0, "ordered"), (5.0, 0.0, "cut off")])
async def test_what_was_called_for_a_turn_that_goes_on_is_known_to_the_next_reply(
    tool_s: float, later_s: float, result: str
) -> None:
    store = MemoryThreads()
    thread, person, calls = SpokenThread(store, await store.create()), Person(), Calls(tool_s, later_s)
    session = Session(person, calls, SilentVoice(), Policy(), thread=thread).start()
    await session.wait()

    before, asked = calls.seen[-1]
    assert [("c1", result)] == [(use["id"], use["result"]) for use in before["calls"]]
    assert {"role": "user", "content": "Order a pizza with cheese"} == asked
    assert session.discussion.conversation.as_messages() == thread.messages()
    uses = [use for utterance in session.discussion.conversation.utterances for use in utterance.calls]
    assert [("c1", result), ("c2", "ordered")] == [(use.id, use.result) for use in uses]

"""Tools that were called for a turn which was not over: what they did is done, and the next reply knows of it."""

import math
from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
import pytest

from discussion_helper.record import Record
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, SilentVoice
from discussion_helper.text.spoken import SpokenThread
from discussion_helper.text.threads.memory import MemoryThreads
from discussion_helper.types import Message, Policy, SpokenUtterance, Utterance

pytestmark = pytest.mark.anyio


class Person:
    """Says "Order a pizza", which is taken to be all, and `after_s` later "with cheese", or no words at all."""

    resumes = True

    def __init__(self, after_s: float = 0.5, *, words: bool = True) -> None:
        self._after_s, self._words = after_s, words
        self._began_s = 0.0

    async def utterances(self) -> AsyncIterator[Utterance]:
        self._began_s = anyio.current_time()
        yield SpokenUtterance("user", "Order a pizza")
        await anyio.sleep(self._after_s + 0.5)
        if self._words:
            yield SpokenUtterance("user", "Order a pizza with cheese", revises="Order a pizza")
        else:
            yield Utterance("user", "")
        await anyio.sleep(12.0)

    async def speech_started(self) -> None:
        await self.resumed()

    async def resumed(self) -> None:
        await anyio.sleep_until(self._began_s + self._after_s if self.resumes else math.inf)

    def reopen(self, *, within_s: float) -> bool:
        resumes, self.resumes = self.resumes, False
        return resumes

    async def aclose(self) -> None: ...


class Calls(EchoResponder):
    """Calls a tool that takes `tool_s`, and says what came of it `later_s` after that."""

    def __init__(self, tool_s: float, later_s: float, *, moment: str = "") -> None:
        super().__init__()
        self._tool_s, self._later_s, self._moment = tool_s, later_s, moment
        self._reporter: Any = None
        self.over_at: list[float] = []

    def attach(self, reporter: Any) -> None:
        self._reporter = reporter

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        self.seen.append(list(messages))
        call = {"id": f"c{len(self.seen)}", "name": "order", "arguments": "{}"}
        self._reporter.report("tool", state="called", **call)
        result = "cut off"
        try:
            if self._moment:
                yield self._moment
            await anyio.sleep(self._tool_s)
            result = "ordered"
        finally:
            self.over_at.append(self._reporter.now())
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


@pytest.mark.parametrize("moment", ["", "One moment, please."])
@pytest.mark.parametrize("words", [True, False], ids=["words", "noise"])
async def test_a_tool_that_runs_is_cancelled_as_soon_as_the_user_goes_on(moment: str, words: bool) -> None:
    person, calls = Person(1.0, words=words), Calls(5.0, 0.0, moment=moment)
    session = Session(person, calls, SilentVoice(3.0), Policy()).start()
    await session.wait()

    assert 1.0 <= calls.over_at[0] < 1.1
    *_, used = [message for message in calls.seen[1] if message.get("calls")]
    assert [("c1", "cut off")] == [(use["id"], use["result"]) for use in used["calls"]]
    said = "Order a pizza with cheese" if words else "Order a pizza"
    assert [said] == [message["content"] for message in calls.seen[1] if message["role"] == "user"]
    assert session.discussion.conversation.utterances[-1].text.endswith("There you are.")


async def test_a_tool_that_did_not_end_leaves_no_empty_turn() -> None:
    record = Record(lambda kind, data: None)
    record.report("tool", state="called", id="c1", name="order", arguments="{}")
    assert record.uses_tools
    assert record.add_uses() is None
    assert [] == record.conversation.utterances

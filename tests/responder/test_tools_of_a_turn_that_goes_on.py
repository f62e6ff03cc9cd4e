"""Tools of a turn that is taken back, over the wire: the model is told of what was called for it."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import anyio
import pytest

from discussion_helper.responder.endpoint import EndpointResponder
from discussion_helper.session import Session
from discussion_helper.testing import SilentVoice
from discussion_helper.tools import tool
from discussion_helper.tools.wire import CUT_OFF
from discussion_helper.types import SpokenUtterance, Utterance

if TYPE_CHECKING:
    from tests.responder.conftest import Exchange, FakeEndpoint

pytestmark = pytest.mark.anyio


class Person:
    """Goes on with the first turn when `when` is set, and has said it all when `until` is."""

    def __init__(self, when: anyio.Event, until: anyio.Event) -> None:
        self._when, self._until = when, until
        self._taken_back = False

    async def utterances(self) -> AsyncIterator[Utterance]:
        yield SpokenUtterance("user", "Book a table")
        await self._until.wait()
        yield SpokenUtterance("user", "Book a table for two", revises="Book a table")

    async def speech_started(self) -> None:
        await anyio.sleep_forever()

    async def resumed(self) -> None:
        await self._when.wait()
        if self._taken_back:
            await anyio.sleep_forever()

    def reopen(self, *, within_s: float) -> bool:
        self._taken_back, before = True, self._taken_back
        return not before

    async def aclose(self) -> None: ...


@pytest.mark.parametrize(("hangs", "result"), [(False, "booked: 7"), (True, CUT_OFF)], ids=["over", "hangs"])
async def test_the_request_for_the_whole_turn_holds_the_call_and_its_result(
    endpoint: "FakeEndpoint", hangs: bool, result: str
) -> None:
    goes_on, over = anyio.Event(), anyio.Event()

    @tool
    async def book(table: str) -> str:
        """Book a table."""
        try:
            if hangs:
                goes_on.set()
                await anyio.sleep_forever()
        finally:
            over.set()
        return "booked: 7"

    async def answer(exchange: "Exchange") -> None:
        last = exchange.body["messages"][-1]
        await exchange.begin()
        if last["role"] == "tool":
            goes_on.set()
            await exchange.gone.wait()
        elif last["content"] == "Book a table":
            call = {"index": 0, "id": "c1", "function": {"name": "book", "arguments": '{"table": "7"}'}}
            await exchange.delta(tool_calls=[call])
            await exchange.delta(finish="tool_calls")
            await exchange.end()
        else:
            await exchange.delta(content="It is booked.")
            await exchange.delta(finish="stop")
            await exchange.end()

    endpoint.answer = answer
    responder = EndpointResponder(base_url=endpoint.base_url, model="m", system="S.", tools=[book], moment="")
    until = over if hangs else goes_on
    with anyio.fail_after(10):
        conversation = await Session(Person(goes_on, until), responder, SilentVoice()).start().wait()

    messages = endpoint.exchanges[-1].body["messages"]
    assert ["system", "user", "assistant", "tool", "user"] == [message["role"] for message in messages]
    assert "Book a table for two" == messages[1]["content"]
    assert "book" == messages[2]["tool_calls"][0]["function"]["name"]
    assert result == messages[3]["content"]
    assert messages[4]["content"].endswith("Book a table for two")
    assert "It is booked." == conversation.utterances[-1].text

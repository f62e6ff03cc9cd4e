"""Getting ready for what the user has probably said."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
import pytest

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, SilentVoice
from discussion_helper.types import Message, Utterance

pytestmark = pytest.mark.anyio


class Hears:
    """A listener that says what it has probably heard before each turn: `(partials, turn)`."""

    def __init__(self, *turns: tuple[Sequence[str], str]) -> None:
        self._turns = turns
        self._reporter: Any = None

    def attach(self, reporter: Any) -> None:
        self._reporter = reporter

    async def utterances(self) -> AsyncIterator[Utterance]:
        for partials, text in self._turns:
            for partial in partials:
                await anyio.sleep(0.2)
                self._reporter.report("partial", speaker="user", text=partial)
            await anyio.sleep(0.2)
            yield Utterance("user", text)

    async def speech_started(self) -> None:
        await anyio.sleep_forever()

    async def aclose(self) -> None: ...


class Reads(EchoResponder):
    """Needs `takes_s` to read; `read` are the last messages that it has read, `begun` those that it began on."""

    def __init__(self, takes_s: float = 0.1, failure: Exception | None = None) -> None:
        super().__init__()
        self._takes_s = takes_s
        self._failure = failure
        self.begun: list[str] = []
        self.read: list[str] = []
        self.cancelled = 0

    async def anticipate(self, messages: Sequence[Message]) -> None:
        self.begun.append(messages[-1]["content"])
        if self._failure is not None:
            raise self._failure
        try:
            await anyio.sleep(self._takes_s)
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise
        self.read.append(messages[-1]["content"])


async def held(listener: Hears, responder: EchoResponder) -> list[str]:
    conversation = await Session(listener, responder, SilentVoice()).start().wait()
    return [utterance.text for utterance in conversation.utterances]


async def test_a_responder_reads_what_was_probably_said_while_it_is_waited_for() -> None:
    responder = Reads()
    texts = await held(Hears((["Good day."], "Good day.")), responder)

    assert ["Good day.", "Good day."] == texts
    assert (["Good day."], ["Good day."], 0) == (responder.begun, responder.read, responder.cancelled)


async def test_what_proves_wrong_is_thrown_away() -> None:
    responder = Reads(takes_s=5.0)
    texts = await held(Hears((["Good", "Good day", "Good day"], "Good day, Ann.")), responder)

    assert ["Good day, Ann.", "Good day, Ann."] == texts
    assert (["Good", "Good day"], [], 2) == (responder.begun, responder.read, responder.cancelled)


async def test_the_earlier_turns_are_read_too_and_a_failure_changes_nothing() -> None:
    responder = Reads(failure=ValueError("no memory left"))
    texts = await held(Hears((["One."], "One."), (["Two."], "Two.")), responder)

    assert ["One.", "One.", "Two.", "Two."] == texts
    assert ["One.", "Two."] == responder.begun


async def test_nothing_is_read_while_the_agent_speaks_or_for_a_responder_that_cannot() -> None:
    class Talks(Hears):
        async def utterances(self) -> AsyncIterator[Utterance]:
            yield Utterance("user", "Tell me.")
            yield Utterance("user", "More.")

    listener, responder = Talks(), Reads()
    session = Session(listener, responder, SilentVoice(2.0)).start()
    await anyio.sleep(1.0)
    listener._reporter.report("partial", speaker="user", text="mm")
    await session.wait()
    assert [] == responder.begun
    assert ["Hm.", "Hm."] == await held(Hears((["H"], "Hm.")), EchoResponder())


async def test_the_end_stops_it() -> None:
    responder = Reads(takes_s=60.0)
    session = Session(Hears((["Good day"], "Good day.")), responder, SilentVoice()).start()
    await anyio.sleep(0.3)
    assert ["Good day"] == responder.begun
    with anyio.fail_after(1):
        await session.stop()
    assert 1 == responder.cancelled


async def test_a_turn_that_goes_on_is_read_as_it_grows() -> None:
    class GoesOn(Hears):
        async def utterances(self) -> AsyncIterator[Utterance]:
            for stable, text in [("", "I wan"), ("I want", "I want two"), ("I want", "I want to eat")]:
                await anyio.sleep(0.2)
                self._reporter.report("partial", speaker="user", text=text, stable=stable)
            await anyio.sleep(0.2)
            yield Utterance("user", "I want to eat.")

    responder = Reads()
    await held(GoesOn(), responder)

    assert ["I wan", "I want two", "I want to eat"] == responder.begun == responder.read

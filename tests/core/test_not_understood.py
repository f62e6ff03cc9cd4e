"""Silence for ever never happens: every turn of the user's is answered, resumed, or said to be not understood."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
import pytest

from discussion_helper.errors import NothingToSay
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Message, Policy, SpokenUtterance, Utterance

pytestmark = pytest.mark.anyio

TEXTS = {"unclear": "Sorry?", "unanswered": "I have no answer."}
UNCLEAR = SpokenUtterance("user", "", 1.0, 2.0, unclear="not understood")


class Gives(EchoResponder):
    """Answers every request with the next of these; an error is raised."""

    def __init__(self, *answers: Any) -> None:
        super().__init__()
        self._answers = list(answers)

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        self.seen.append(list(messages))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        for part in answer:
            if isinstance(part, Exception):
                raise part
            if isinstance(part, float):
                await anyio.sleep(part)
            else:
                yield part


async def held(
    turns: Sequence[str | Utterance], responder: EchoResponder, *, texts: dict[str, str] | None = None, **policy: Any
) -> tuple[Session, list[tuple[str, str]], list[dict[str, Any]]]:
    wanted: Any = (TEXTS if texts is None else texts).get
    listener = ScriptedListener(turns, pace_s=0.5)
    session = Session(
        listener, responder, SilentVoice(0.2), Policy(**policy), apologies=lambda kind: wanted(kind) or ""
    )
    async with session.events("decision", "floor") as events:
        await session.start().wait()
        decisions = [event.as_dict() async for event in events if event.kind == "decision"]
    said: list[tuple[str, str]] = [(u.speaker, u.text) for u in session.discussion.conversation.utterances]
    return session, said, decisions


@pytest.mark.parametrize(
    "answer", [[], [" "], [NothingToSay("Nothing.", fix="")], ["🙂"]], ids=["none", "blank", "error", "emoji"]
)
async def test_who_has_no_answer_is_told(answer: list[Any]) -> None:
    _, said, decisions = await held(["What is it?", "And now?"], Gives(answer, ["Now this."]))
    assert ("agent", "I have no answer.") in said
    assert [("user", "And now?"), ("agent", "Now this.")] == said[-2:]
    assert ["unanswered"] == [decision["what"] for decision in decisions]


async def test_who_was_not_understood_is_told() -> None:
    _, said, decisions = await held([UNCLEAR, "Good day."], EchoResponder())
    assert [("agent", "Sorry?"), ("user", "Good day."), ("agent", "Good day.")] == said
    told = {"what": "unclear", "why": "not understood", "said": "Sorry?"}
    assert [told] == [{key: it[key] for key in told} for it in decisions]


async def test_a_noise_is_nothing() -> None:
    _, said, decisions = await held([Utterance("user", ""), SpokenUtterance("user", "", 1.0, 2.0)], EchoResponder())
    assert ([], []) == (said, decisions)


async def test_it_is_said_twice_until_something_is_understood() -> None:
    turns = [UNCLEAR] * 4 + ["Good day."] + [UNCLEAR]
    _, said, decisions = await held(turns, EchoResponder())
    assert 3 == said.count(("agent", "Sorry?"))
    assert ("agent", "Sorry?") == said[-1]
    assert 5 == len(decisions)


@pytest.mark.parametrize("how", ["policy", "texts"])
async def test_it_may_be_silent_and_is_told_all_the_same(how: str) -> None:
    policy = {"say_not_understood": False} if how == "policy" else {}
    texts: dict[str, str] | None = {} if how == "texts" else None
    _, said, decisions = await held([UNCLEAR, "What?"], Gives([]), texts=texts, **policy)
    assert [("user", "What?")] == said
    assert ["unclear", "unanswered"] == [decision["what"] for decision in decisions]


async def test_a_typed_turn_without_an_answer_is_told_too() -> None:
    session = Session(
        ScriptedListener([], stays_open=True),
        Gives([]),
        SilentVoice(0.2),
        apologies=lambda kind: TEXTS[kind],
    ).start()
    await session.say("Well?")
    await anyio.sleep(1.0)
    conversation = await session.stop()
    assert ["Well?", "I have no answer."] == [u.text for u in conversation.utterances]


async def test_a_reply_that_takes_long_is_waited_for_and_that_is_told() -> None:
    session, said, decisions = await held(["What is it?"], Gives([5.0, "This."]))
    assert [("user", "What is it?"), ("agent", "This.")] == said
    (told,) = decisions
    assert ("waiting", 2.5) == (told["what"], told["at_s"])
    assert session.ended


async def test_a_responder_that_fails_ends_the_session_with_the_reason() -> None:
    with pytest.raises(ValueError, match="no memory"):
        await held(["What?"], Gives([ValueError("no memory")]))

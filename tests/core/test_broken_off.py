"""A reply that words cut: its request ends at once, and more is asked for when it is to go on."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
import pytest

from discussion_helper.going_on import GO_ON, with_rest_said
from discussion_helper.session import Session
from discussion_helper.testing import ScriptedListener, SilentVoice
from discussion_helper.types import Message, Policy

pytestmark = pytest.mark.anyio

TEXT = ["One two three four.", "Five six.", "Seven eight nine.", "Ten."]


class Slow:
    """Tells TEXT on the first request, a sentence every 0.5 s, and then "More." on each."""

    def __init__(self) -> None:
        self.seen: list[list[Message]] = []
        self.given: list[str] = []

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        self.seen.append(list(messages))
        for sentence in TEXT if len(self.seen) == 1 else ["More."]:
            await anyio.sleep(0.5)
            self.given.append(sentence)
            yield sentence

    async def aclose(self) -> None: ...


class Decides(ScriptedListener):
    """Somebody talks over the first reply 1.2 s after its first audio, and this was decided about it before."""

    decision: dict[str, Any]

    def attach(self, reporter: Any) -> None:
        super().attach(reporter)
        self._says, self._was_over = reporter, False

    async def speech_started(self) -> None:
        if self._was_over:
            await anyio.sleep_forever()
        self._was_over = True
        await anyio.sleep(1.2)
        self._says.report("decision", **self.decision)


def session_of(turns: Sequence[str], decision: dict[str, Any], **policy: Any) -> tuple[Session, Slow]:
    listener, responder = Decides(turns), Slow()
    listener.decision = decision
    return Session(listener, responder, SilentVoice(1.0), Policy(barge_in_grace_s=0.0, **policy)), responder


WORDS = {"what": "interruption", "why": "words", "text": "go on"}


async def test_words_end_the_request_and_after_go_on_more_is_asked_for() -> None:
    session, responder = session_of(["Tell me.", "Go on."], WORDS)
    conversation = await session.start().wait()
    cut, rest = (each for each in conversation.utterances if each.speaker == "agent")

    assert [*TEXT[:3], "More."] == responder.given
    assert " ".join(responder.given) == f"{cut.text} {rest.text}"
    assert ["Tell me.", " ".join(TEXT[:3]), "Go on."] == [message["content"] for message in responder.seen[1]]
    assert not [message for message in responder.seen[1] if "interrupted" in message or "unheard" in message]


async def test_of_a_reply_of_at_most_three_sentences_no_more_is_asked_for() -> None:
    session, responder = session_of(["Tell me.", "Go on."], WORDS, max_reply_sentences=3)
    conversation = await session.start().wait()

    assert TEXT[:3] == responder.given
    assert " ".join(TEXT[:3]) == " ".join(each.text for each in conversation.utterances if each.speaker == "agent")


async def test_words_that_became_no_turn_leave_nothing_unsaid() -> None:
    session, responder = session_of(["Tell me.", ""], WORDS)
    conversation = await session.start().wait()

    assert [*TEXT[:3], "More."] == responder.given
    assert " ".join(responder.given) == " ".join(each.text for each in conversation.utterances[1:])
    assert {"role": "user", "content": GO_ON} == responder.seen[1][-1]


@pytest.mark.parametrize(
    "decision", [{"what": "interruption", "why": "sustained speech"}, {"what": "ignored", "why": "echo", "text": "one"}]
)
async def test_what_is_no_words_leaves_the_request_as_it_is(decision: dict[str, Any]) -> None:
    session, responder = session_of(["Tell me.", ""], decision)
    conversation = await session.start().wait()

    assert (TEXT, 1) == (responder.given, len(responder.seen))
    assert " ".join(TEXT) == " ".join(each.text for each in conversation.utterances[1:])


def test_a_rest_that_was_said_is_part_of_the_turn() -> None:
    said: list[Message] = [
        {"role": "user", "content": "Tell me."},
        {"role": "assistant", "content": "One", "interrupted": True, "unheard": "two."},
    ]
    told: list[Message] = [said[0], {"role": "assistant", "content": "One two."}]

    assert [*told, {"role": "user", "content": GO_ON}] == with_rest_said(said)
    assert [*told, said[0]] == with_rest_said([*said, said[0]])
    assert [{"role": "user", "content": GO_ON}] == with_rest_said([])

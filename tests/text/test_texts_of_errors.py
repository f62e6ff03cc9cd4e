"""What people read when an event is none, or came to nothing."""

import re
from typing import Any

import pytest

from discussion_helper.errors import ResponderError, SettingError
from discussion_helper.text import (
    EventDroppedError,
    Manager,
    MemoryThreads,
    ProcessError,
    Step,
    TurnCancelledError,
    UserMessageEvent,
)
from discussion_helper.text.providers import ScriptedProvider

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("hello", "event: 'hello' is a str, not an event. Use UserMessageEvent('hello')."),
        (None, "event: a NoneType is not an event: it has no kind, or no EventContext. Use UserMessageEvent(text)"),
        (UserMessageEvent, "event: the class UserMessageEvent itself is not an event"),
        ({"kind": "user_message"}, "event: a dict is not an event"),
    ],
)
async def test_what_is_no_event_is_told_with_the_event_that_was_meant(given: Any, says: str) -> None:
    async with Manager(MemoryThreads(), ScriptedProvider(), lambda _: Step()) as manager:
        stream = await manager.create()
        for takes in (stream.submit, stream.enqueue):
            with pytest.raises(SettingError, match=re.escape(says)):
                takes(given)
        with pytest.raises(SettingError, match="event: "):
            await stream.process(given)


async def test_a_long_text_is_not_repeated_whole() -> None:
    async with Manager(MemoryThreads(), ScriptedProvider(), lambda _: Step()) as manager:
        stream = await manager.create()
        with pytest.raises(SettingError) as refused:
            stream.submit("x" * 10_000)  # type: ignore[arg-type]
    assert 200 > len(str(refused.value))
    assert str(refused.value).endswith("Use UserMessageEvent(text).")


def test_a_content_that_is_no_text_is_told() -> None:
    with pytest.raises(SettingError, match=r"content: a bytes is not a text\. Use a string\."):
        UserMessageEvent(b"hi")  # type: ignore[arg-type]


def test_the_reason_is_what_it_failed_with_and_not_where_in_the_program() -> None:
    cause = ResponderError("It refused.", fix="Try again.")

    assert "process event: It refused. Try again." == str(ProcessError(cause))
    assert cause is ProcessError(cause).reason
    assert "The answer was cancelled." == str(TurnCancelledError().reason)
    assert "process event" not in str(ProcessError().reason)


def test_what_an_interrupt_took_from_the_queue_says_so_in_the_users_words() -> None:
    assert "The message waited when an interrupt came, and was not answered. Send it again." == (
        str(EventDroppedError("user_message"))
    )
    assert "(ping)" in str(EventDroppedError("ping"))

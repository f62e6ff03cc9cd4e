"""Threads as the documents that programs get of them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from discussion_helper.text.artifacts import Reasoning, Text, ToolCall, ToolResult, Usage
from discussion_helper.text.errors import ThreadCorruptError, ThreadNotFoundError
from discussion_helper.text.state import State, Turn
from discussion_helper.text.threads.base import Thread
from discussion_helper.text.threads.document import document_of, entries_of, unanswered
from discussion_helper.text.threads.memory import MemoryThreads

ASKED = Turn("user", (Text("Why?"),))
CALLED = Turn("assistant", (Text("I look."), ToolCall("1", "look", "{}")))
GAVE = Turn("tool", (ToolResult("1", "dark"),))
SAID = Turn("assistant", (Text("So."), Usage(1, 2, 3)))
CUT = Turn("assistant", (Text("So"),), interrupted=True)
STOP = Turn("user", (Text("Stop."),), wants_answer=False)
TOLD = Turn("system", (Text("Be brief."),))


@pytest.mark.parametrize(
    ("turns", "open_ones"),
    [
        ([], []),
        ([ASKED, SAID], []),
        ([ASKED, CUT], []),
        ([TOLD, ASKED, CALLED, GAVE, SAID, TOLD], []),
        ([ASKED], [0]),
        ([ASKED, ASKED, SAID], [0]),
        ([ASKED, SAID, ASKED, TOLD], [2]),
        ([ASKED, CALLED], [0]),
        ([ASKED, CALLED, GAVE, ASKED, CALLED, GAVE, SAID, ASKED], [0, 7]),
        ([SAID, ASKED, SAID, SAID], []),
        ([ASKED, CUT, STOP], []),
        ([ASKED, CUT, STOP, ASKED], [3]),
    ],
)
def test_a_question_is_answered_by_a_turn_of_the_agents_that_calls_nothing_more(
    turns: list[Turn], open_ones: list[int]
) -> None:
    assert open_ones == [number for number, mark in enumerate(unanswered(turns)) if mark]


def test_a_document_has_a_head_and_turns_with_what_became_of_them() -> None:
    eastern = timezone(timedelta(hours=9))
    asked = Turn("user", (Text("Why\n not?"),), at=datetime(2026, 1, 2, 3, tzinfo=eastern))
    began = datetime(2026, 1, 1, tzinfo=UTC)
    thread = Thread("some-thread", State([asked, CUT, asked]), began, began, {"a": "b"})
    document = document_of(thread)
    turns = document.pop("turns")

    assert {
        "id": "some-thread",
        "created_at": "2026-01-01T00:00:00+00:00",
        "updated_at": "2026-01-01T00:00:00+00:00",
        "turn_count": 3,
        "first": "Why not?",
        "metadata": {"a": "b"},
    } == document
    question = {
        "role": "user",
        "at": "2026-01-01T18:00:00+00:00",
        "artifacts": [{"kind": "text", "content": "Why\n not?"}],
    }
    assert [question, question | {"answered": False}] == [turns[0], turns[2]]
    assert ["role", "at", "interrupted", "artifacts"] == list(turns[1])


@pytest.mark.anyio
async def test_a_list_has_the_heads_and_tells_of_a_thread_that_cannot_be_read() -> None:
    class Broken(MemoryThreads):
        async def get(self, thread_id: str) -> Thread:
            if thread_id == "broken-thread":
                raise ThreadCorruptError("It is torn.")
            if thread_id == "forgotten-thread":
                raise ThreadNotFoundError(thread_id)
            return await super().get(thread_id)

    async with Broken() as store:
        for thread_id in ("broken-thread", "forgotten-thread", "whole-thread"):
            held = await store.create(thread_id=thread_id)
        await store.append(held, Turn("user", (Reasoning("Hm."), Text("x " * 100))))
        whole, broken = await entries_of(store)
        document = document_of(held)

    assert whole == {key: document[key] for key in ("id", "created_at", "updated_at", "turn_count", "first")}
    assert (1, 59) == (whole["turn_count"], len(whole["first"]))  # 60 without the last space
    assert ["id", "created_at", "updated_at", "error"] == list(broken)


@pytest.mark.anyio
async def test_the_first_words_hide_what_looks_like_a_key_as_a_title_does() -> None:
    async with MemoryThreads() as store:
        thread = await store.create()
        for text in ("\u200b", "my key is sk-abc123DEF456ghi789JKLmno"):
            await store.append(thread, Turn("user", (Text(text),)))
        (entry,) = await entries_of(store)

    assert ["my key is …"] * 2 == [entry["first"], document_of(thread)["first"]]

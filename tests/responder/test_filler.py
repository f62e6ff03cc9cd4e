"""Fillers, and what a pause of the model does to its text, on a clock that jumps."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.background import Background
from discussion_helper.responder.clauses import ClauseSplitter
from discussion_helper.responder.filler import FILLER_AFTER_S, with_filler
from discussion_helper.responder.phrases import Phrase
from discussion_helper.settings import Settings

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend(virtual_backend: tuple[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    return virtual_backend


async def reply(delay_s: float, closed: list[str] | None = None) -> AsyncGenerator[str, None]:
    try:
        await anyio.sleep(delay_s)
        yield "One."
        await anyio.sleep(10.0)
        yield "Two."
    finally:
        if closed is not None:
            closed.append("closed")


@pytest.mark.parametrize(
    ("filler", "delay_s", "given"),
    [
        ("", 5.0, ["One.", "Two."]),
        ("Hm.", 0.9, ["One.", "Two."]),
        ("Hm.", 1.1, ["Hm.", "One.", "Two."]),
        (lambda: "Mal sehen.", 1.1, ["Mal sehen.", "One.", "Two."]),
        (lambda: "", 1.1, ["One.", "Two."]),
    ],
)
async def test_a_filler_comes_before_a_slow_first_clause_and_nowhere_else(
    filler: Phrase, delay_s: float, given: list[str]
) -> None:
    assert [it async for it in with_filler(reply(delay_s), filler)] == given


def test_nobody_has_asked_for_one() -> None:
    assert Settings().filler == ""


async def test_the_time_before_the_turn_is_certain_does_not_count() -> None:
    committed = anyio.Event()
    taken: list[tuple[str, float]] = []

    def note(clause: str) -> None:
        taken.append((clause, anyio.current_time() - began))

    async def take() -> None:
        async for clause in with_filler(reply(9.5), "Hm.", committed=committed):
            note(clause)

    began = anyio.current_time()
    taking = Background(take, name="a reply ahead of time").start()
    await anyio.sleep(5.0)
    assert taken == []
    committed.set()
    await taking.wait()
    assert [(clause, round(at_s, 2)) for clause, at_s in taken[:2]] == [("Hm.", 5.0 + FILLER_AFTER_S), ("One.", 9.5)]


async def test_a_reply_that_is_there_before_the_turn_is_certain_is_not_held_up() -> None:
    async with (
        aclosing(reply(0.5)) as given,
        aclosing(with_filler(given, "Hm.", committed=anyio.Event())) as clauses,
    ):
        assert await anext(clauses) == "One."


async def test_cancelling_while_the_first_clause_is_awaited_ends_the_request() -> None:
    closed: list[str] = []
    with anyio.move_on_after(0.3):
        async for _ in with_filler(reply(60.0, closed), "Hm."):
            pass
    assert closed == ["closed"]


def test_an_empty_reply_is_empty() -> None:
    async def nothing() -> AsyncIterator[str]:
        return
        yield ""

    async def run() -> list[str]:
        return [it async for it in with_filler(nothing(), "Hm.")]

    assert anyio.run(run) == []


PIECES = [
    *["It", " costs", " $3.", "50", ".", " ", "Dr. ", "No", "!", "\n"],
    *['"', "e.g. ", "22,1", " °C", "。", "你好", "...", "so", ","],
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30), st.data())
@settings(max_examples=200)
def test_pauses_anywhere_lose_and_reorder_nothing(pieces: list[str], data: st.DataObject) -> None:
    splitter, items = ClauseSplitter(), list[str]()
    for piece in pieces:
        items += splitter.feed(piece)
        if data.draw(st.booleans()):
            items += splitter.paused()
    items += splitter.flush()
    assert "".join("".join(items).split()) == "".join("".join(pieces).split())

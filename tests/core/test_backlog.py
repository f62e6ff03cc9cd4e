"""What waits for a watcher: a bounded backlog, and a watcher who falls behind."""

import sys
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.events import Backlog, DropOldest, Event, EventHub, Following, Numbered, Standing
from discussion_helper.weight import HEAVIEST, weight_of

pytestmark = pytest.mark.anyio

STANDINGS = {
    "l": Standing("level", voids="level"),  # the newest one says all
    "p": Standing("pieces"),  # each counts, until
    "t": Standing(voids="pieces"),  # a turn says the same
}


def standing_of(item: str) -> Standing:
    return STANDINGS.get(item[0], Standing())


def expected(items: list[str]) -> list[str]:
    """Of all that came, what is not void."""
    kept: list[str] = []
    for item in items:
        gone = {"l": "l", "t": "p"}.get(item[0])
        kept = [*(one for one in kept if one[0] != gone), item]
    return kept


@given(
    steps=st.lists(st.one_of(st.sampled_from("lptx"), st.just("take")), max_size=60),
    items=st.integers(1, 8),
    weight=st.integers(1, 30),
)
def test_it_is_what_a_list_would_be_within_its_bounds_and_in_order(steps: list[str], items: int, weight: int) -> None:
    backlog: Backlog[str] = Backlog(items=items, weight=weight, standing=standing_of)
    model: list[str] = []
    for number, step in enumerate(steps):
        if step == "take" and model:
            assert model.pop(0) == backlog.take()
        elif step != "take":
            item = f"{step}{number}"
            after = expected([*model, item])
            heavy = sum(map(len, after)) > weight or len(after) > items
            fits = not heavy or len(after) == 1
            assert fits is backlog.add(item, len(item))
            model = after if fits else after[:-1]
        assert (len(model), sum(map(len, model))) == (len(backlog), backlog.weight)
        assert len(backlog) <= items
        assert backlog.weight <= weight or len(backlog) == 1

    assert len(model) == backlog.clear()
    assert (0, 0) == (len(backlog), backlog.weight)


def hub_of() -> EventHub[Any]:
    return EventHub(overflow=DropOldest(lambda missed, _: -missed), history=8)


def follow(
    hub: EventHub[Any], after: int | None = None, *, items: int = 4, weight: int = 10_000
) -> Following[Numbered[Any]] | None:
    backlog: Backlog[Numbered[Any]] = Backlog(items=items, weight=weight)
    return hub.follow(lambda item: item, backlog=backlog, gap=lambda missed: f"gap {missed}", after=after)


@pytest.mark.parametrize("behind", [5, 6, 50])
async def test_who_falls_behind_gets_a_gap_as_the_last_item_and_all_of_it_when_it_comes_back_in_time(
    behind: int,
) -> None:
    hub = hub_of()
    slow = follow(hub)
    assert slow is not None
    hub.publish("seen")
    assert Numbered(1, "seen") == await anext(slow)
    for number in range(behind):
        hub.publish(number)
    assert 0 == len(slow)  # nothing is held for one who will come back

    assert [Numbered(0, f"gap {behind}")] == [one async for one in slow]
    assert behind == slow.dropped
    assert 0 == len(hub)
    again = follow(hub, after=1, items=8)
    assert (behind <= 8) == (again is not None)
    if again is not None:
        assert list(range(behind)) == [(await anext(again)).item for _ in range(len(again))]


async def test_what_is_heavy_is_bounded_by_its_weight_and_one_item_alone_may_be_heavier() -> None:
    hub = hub_of()
    slow = follow(hub, items=1000)
    assert slow is not None
    hub.publish("x" * 50_000)
    assert "x" * 50_000 == (await anext(slow)).item
    for _ in range(3):
        hub.publish("x" * 4_000)

    assert "gap 3" == (await anext(slow)).item
    assert follow(hub, after=1, items=1000) is None
    assert follow(hub, after=2, items=1000) is not None


async def test_a_watcher_who_waits_is_woken_by_an_item_and_by_the_end() -> None:
    hub = hub_of()
    watcher = follow(hub)
    assert watcher is not None
    had: list[Any] = []

    async def read() -> None:
        async for one in watcher:
            had.append(one.item)  # noqa: PERF401 - at once

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        hub.publish("one")
        await anyio.wait_all_tasks_blocked()
        assert ["one"] == had
        hub.close("end")

    assert ["one", "end"] == had


async def test_who_is_behind_when_it_ends_has_the_gap_and_who_comes_then_the_last_words() -> None:
    hub = hub_of()
    slow = follow(hub)
    for number in range(9):
        hub.publish(number)
    hub.close("end")
    late = follow(hub)

    assert slow is not None
    assert late is not None
    assert ["gap 10"] == [one.item async for one in slow]
    assert ["end"] == [one.item async for one in late]


async def test_leaving_lets_go_of_all_that_waits() -> None:
    hub = hub_of()
    watcher = follow(hub)
    assert watcher is not None
    hub.publish("one")
    await watcher.aclose()
    hub.publish("two")

    assert [] == [one async for one in watcher]
    assert (0, 0) == (len(watcher), len(hub))


def test_the_end_of_a_hub_is_told_once_and_not_to_who_comes_after_it() -> None:
    hub, told = hub_of(), []
    hub.at_close(lambda: told.append("in time"))
    hub.close()
    hub.close()
    hub.at_close(lambda: told.append("too late"))

    assert ["in time"] == told


def test_what_something_weighs_is_about_the_memory_that_it_takes() -> None:
    text = "x" * 100_000
    event = Event("utterance", 1.0, {"speaker": "user", "text": text})

    assert 100_000 < weight_of(event) < 101_500
    assert weight_of(event) < weight_of(Event("utterance", 1.0, {"a": [text, "y" * 900]})) < 102_000
    assert 2 * 100_000 < weight_of("水" * 100_000)  # two bytes each
    assert sys.getsizeof(1) <= weight_of(1) < 40


def test_a_value_with_itself_inside_and_one_without_an_end_are_weighed_in_bounded_time() -> None:
    circle: list[Any] = [1, 2]
    circle.append(circle)

    assert weight_of(circle) < 300
    assert HEAVIEST == weight_of(list(range(2_000_000)))

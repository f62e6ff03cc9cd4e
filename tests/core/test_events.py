"""The event hub."""

import gc
from collections import deque

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.events import Block, DropNewest, DropOldest, Event, EventHub

pytestmark = pytest.mark.anyio


def hub_of(capacity: int = 4, history: int = 4) -> EventHub[int]:
    return EventHub(overflow=DropOldest(lambda missed, following: -missed), capacity=capacity, history=history)


def test_a_payload_key_never_overwrites_kind_or_time() -> None:
    event = Event("floor", 1.23456, {"kind": "evil", "at_s": 99, "floor": "idle"})

    assert {"kind": "floor", "at_s": 1.235, "floor": "idle"} == event.as_dict()


async def test_the_oldest_go_and_one_gap_says_how_many() -> None:
    hub = hub_of()
    slow = hub.subscribe()
    for number in range(10):
        hub.publish(number)
    hub.close()

    assert [-6, 6, 7, 8, 9] == [item async for item in slow]
    assert 6 == slow.dropped


async def test_the_newest_that_may_be_lost_go_first_and_no_gap_is_told() -> None:
    hub: EventHub[str] = EventHub(overflow=DropNewest(lambda item: item.startswith("delta")), capacity=3)
    slow = hub.subscribe()
    for item in ["delta 1", "start", "delta 2", "delta 3", "end", "error"]:
        hub.publish(item)
    hub.close()

    assert ["start", "end", "error"] == [item async for item in slow]
    assert 3 == slow.dropped


async def test_leaving_ends_a_pending_iteration_and_is_idempotent() -> None:
    hub = hub_of()
    watcher = hub.subscribe()
    hub.publish(1)
    await watcher.aclose()
    await watcher.aclose()
    hub.publish(2)

    assert [] == [item async for item in watcher]
    assert 0 == len(hub)


async def test_leaving_a_context_leaves_the_hub() -> None:
    hub = hub_of()
    async with hub.subscribe() as watcher:
        hub.publish(1)
        assert 1 == await anext(watcher)

    assert 0 == len(hub)


def test_a_watcher_can_resume_from_a_number_that_is_still_kept() -> None:
    hub = hub_of(history=3)
    for number in range(1, 6):
        hub.publish(number)

    assert [(4, 4), (5, 5)] == hub.since(3)
    assert [] == hub.since(5)
    assert hub.since(1) is None
    assert hub.since(6) is None


async def test_nothing_is_published_after_the_end() -> None:
    hub = hub_of()
    hub.close(7)
    hub.close(8)
    hub.publish(9)

    assert [7] == [item async for item in hub.subscribe()]


@given(items=st.lists(st.integers(0, 9), max_size=40), capacity=st.integers(1, 6))
def test_every_watcher_sees_one_order_within_its_bound(items: list[int], capacity: int) -> None:
    hub = hub_of(capacity)
    watchers = [hub.subscribe(), hub.subscribe(lambda item: item % 2 == 0)]
    for item in items:
        hub.publish(item)

    for watcher, wanted in zip(watchers, (items, [i for i in items if i % 2 == 0]), strict=True):
        held: deque[int] = watcher._buffer
        assert wanted[-capacity:] == list(held)
        assert max(0, len(wanted) - capacity) == watcher.dropped


async def deliver(hub: EventHub[int], item: int) -> None:
    await hub.room_for(item)
    hub.publish(item)


def blocking_hub(*, capacity: int = 2) -> EventHub[int]:
    return EventHub(overflow=Block(), capacity=capacity)


@pytest.mark.parametrize("way", ["reads", "leaves", "is forgotten", "sees the end"])
async def test_who_publishes_waits_for_a_full_watcher_until_it(way: str) -> None:
    hub = blocking_hub()
    watchers = [hub.subscribe()]
    await deliver(hub, 1)
    await deliver(hub, 2)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(deliver, hub, 3)
        await anyio.wait_all_tasks_blocked()
        assert 2 == hub.sequence
        if way == "reads":
            assert 1 == await anext(watchers[0])
        elif way == "leaves":
            await watchers[0].aclose()
        elif way == "is forgotten":
            watchers.clear()
            gc.collect()
        else:
            hub.close()

    assert hub.sequence == (2 if way == "sees the end" else 3)
    assert [watcher.dropped for watcher in watchers] == [0] * len(watchers)


async def test_nobody_waits_for_a_full_watcher_who_did_not_ask_for_the_item() -> None:
    hub = blocking_hub()
    even = hub.subscribe(lambda item: item % 2 == 0)
    for item in (2, 4, 5, 7):
        await deliver(hub, item)

    assert (4, 2) == (hub.sequence, len(even))


async def test_what_is_published_without_waiting_is_lost_and_counted_by_a_full_blocking_watcher() -> None:
    hub = blocking_hub()
    watcher = hub.subscribe()
    for item in range(5):
        hub.publish(item)

    assert (2, 3) == (len(watcher), watcher.dropped)


async def test_a_watcher_may_have_the_items_in_another_form() -> None:
    hub = hub_of(capacity=8)
    last_goes: DropNewest[str] = DropNewest(lambda _: True)
    words = hub.subscribe_as(lambda item: f"number {item}" if item % 2 else None, overflow=last_goes)
    for item in range(4):
        hub.publish(item)
    hub.close(9)

    assert ["number 1", "number 3", "number 9"] == [word async for word in words]


async def test_who_comes_gets_what_follows_and_who_leaves_gets_no_more_however_they_alternate() -> None:
    hub = hub_of(capacity=100, history=100)
    stays = hub.subscribe()
    hub.publish(1)
    late = hub.subscribe()
    hub.publish(2)
    await late.aclose()
    last = hub.subscribe()
    hub.publish(3)
    del last
    gc.collect()
    hub.publish(4)
    hub.close()

    assert [1, 2, 3, 4] == [item async for item in stays]
    assert [] == [item async for item in late]
    assert 0 == len(hub)


async def test_who_comes_or_leaves_while_an_item_is_published_holds_it_up_for_nobody() -> None:
    hub, came = hub_of(), list[object]()

    def comes(_: int) -> bool:
        came.append(hub.subscribe())
        leaver.finish()
        del leavers[:]
        return True

    first = hub.subscribe(comes)
    leavers = [leaver := hub.subscribe()]
    last = hub.subscribe()
    hub.publish(1)
    hub.close()

    assert [1] == [item async for item in first]
    assert [1] == [item async for item in last]
    assert [] == [item async for item in leaver]
    assert 1 == len(came)


async def test_every_task_that_waits_for_one_watcher_is_woken_and_a_cancelled_one_takes_nothing() -> None:
    hub, had = hub_of(capacity=10, history=1), list[int]()
    watcher = hub.subscribe()

    async def take() -> None:
        had.append(await anext(watcher))

    with anyio.move_on_after(1.0):
        await take()
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(take)
        await anyio.wait_all_tasks_blocked()
        for number in range(3):
            hub.publish(number)

    assert [0, 1, 2] == sorted(had)


@pytest.mark.parametrize(
    ("published", "held", "dropped"),
    [
        (2, [1, 2, -1, -2], 0),
        (3, [1, 2, -1, -2, -3], 0),
        (5, [-1, -2, -3, -4, -5], 2),  # what may be lost is pushed out first
        (7, [-3, -4, -5, -6, -7], 4),  # then the oldest: the bound holds whatever is published
    ],
)
async def test_what_must_not_be_lost_has_a_reserve_with_who_must_not_miss_anything(
    published: int, held: list[int], dropped: int
) -> None:
    hub: EventHub[int] = EventHub(overflow=Block(lambda item: item > 0, reserve=3), capacity=2)
    watcher = hub.subscribe()
    for item in (1, 2, *(-number for number in range(1, published + 1))):
        hub.publish(item)
    hub.close()

    assert (held, dropped) == ([item async for item in watcher], watcher.dropped)


async def test_a_reserve_is_for_nothing_that_may_be_lost_and_for_nobody_who_is_waited_for() -> None:
    hub: EventHub[int] = EventHub(overflow=Block(lambda item: item > 0), capacity=2)
    watcher = hub.subscribe()
    for item in (1, 2, 3, -1):
        hub.publish(item)
    assert (3, 1) == (len(watcher), watcher.dropped)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(deliver, hub, -2)
        await anyio.wait_all_tasks_blocked()
        assert 1 == await anext(watcher)
        await anyio.wait_all_tasks_blocked()
        assert 4 == hub.sequence, "two are held, as many as it may"
        assert 2 == await anext(watcher)

    assert [-1, -2] == [await anext(watcher) for _ in range(2)]


async def test_a_watcher_that_cannot_judge_an_item_goes_without_it_and_holds_nobody_up() -> None:
    def odd(item: int) -> int | None:
        return 1 // (item % 2)

    def told(item: int) -> bool:
        return 1 // (item - 3) != 0

    hub: EventHub[int] = EventHub(overflow=DropNewest(told), capacity=1)
    first, last = hub.subscribe_as(odd, overflow=Block(), capacity=1), hub.subscribe()
    for item in (1, 2, 3, 4):
        hub.publish(item)
    await hub.room_for(6)

    assert (1, 1) == (len(first), len(last))
    assert [1] == [await anext(first)]


@pytest.mark.parametrize("capacity", [1, 2, 5, 64, 1000])
async def test_who_publishes_and_pauses_when_it_is_due_loses_nothing_for_who_reads(capacity: int) -> None:
    hub: EventHub[int] = EventHub(overflow=DropNewest(lambda _: True), capacity=capacity)
    watcher, had = hub.subscribe(), list[int]()

    async def read() -> None:
        had.extend([item async for item in watcher])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        for item in range(300):
            if hub.sequence >= hub.pause_at:
                await hub.pause()
            hub.publish(item)
        hub.close()

    assert (list(range(300)), 0) == (had, watcher.dropped)

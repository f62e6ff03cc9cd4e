"""The inbox: order, bounds, closing."""

import time
from threading import Thread

import numpy as np
import pytest

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Call, Captured, Closed, DeviceLost, Inbox, Item, Played
from discussion_helper.audio.playback import Position


def captured(start: int = 0) -> Captured:
    return Captured(Frame(np.zeros(480, np.float32), 48_000, start), at_s=start / 48_000)


def played() -> Played:
    return Played(Frame(np.zeros(480, np.float32), 48_000), 0.0, Position(1, 480, 48_000))


def test_items_come_out_in_the_order_they_went_in() -> None:
    inbox = Inbox()
    items: list[Item] = [captured(), DeviceLost("capture", "unplugged"), played(), Call(print)]

    assert all(inbox.put(item) for item in items)

    assert [inbox.get() for _ in items] == items


def test_nothing_within_the_time_is_none() -> None:
    assert Inbox().get(timeout=0.001) is None


@pytest.mark.parametrize("block", [captured(), played()])
def test_audio_that_finds_it_full_is_dropped_and_counted(block: Item) -> None:
    inbox = Inbox(capacity=2)
    first = captured(0)
    inbox.put(first)
    inbox.put(captured(480))

    assert not inbox.put(block)

    assert inbox.dropped == 1
    assert inbox.get() == first
    assert inbox.put(block)


def test_it_tells_when_an_item_was_put_in_and_how_many_waited_at_most() -> None:
    inbox = Inbox()
    before = time.monotonic()
    for number in range(3):
        inbox.put(captured(480 * number))
    after = time.monotonic()
    inbox.get()
    inbox.get()
    inbox.put(captured())

    assert before <= inbox.put_at_s <= after
    assert inbox.most == 3


def test_a_flood_of_audio_keeps_no_call_and_no_lost_device_out() -> None:
    inbox = Inbox(capacity=3)
    for block in range(50):
        inbox.put(captured(480 * block))
    late: list[Item] = [Call(print), DeviceLost("playback", "gone")]

    assert all(inbox.put(item) for item in late)

    assert inbox.dropped == 47
    assert [inbox.get() for _ in range(5)][3:] == late


def test_even_calls_are_bounded() -> None:
    inbox = Inbox(capacity=2, reserve=3)

    taken = [inbox.put(Call(print)) for _ in range(20)]

    assert taken == [True] * 5 + [False] * 15


def test_closing_gives_out_what_was_there_and_then_the_end_for_ever() -> None:
    inbox = Inbox()
    call = Call(print)
    inbox.put(call)

    inbox.close()
    inbox.close()

    assert not inbox.put(captured())
    assert [inbox.get() for _ in range(3)] == [call, Closed(), Closed()]


def test_closing_wakes_the_thread_that_waits() -> None:
    inbox = Inbox()
    got: list[object] = []
    thread = Thread(target=lambda: got.append(inbox.get()))
    thread.start()

    inbox.close()
    thread.join(10.0)

    assert got == [Closed()]


def test_many_threads_lose_nothing() -> None:
    inbox = Inbox(capacity=10_000)
    threads = [Thread(target=lambda: [inbox.put(captured(480 * n)) for n in range(500)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    starts = [item.frame.start for _ in range(2_000) if isinstance(item := inbox.get(10.0), Captured)]
    for thread in threads:
        thread.join(10.0)

    assert sorted(starts) == sorted([480 * n for n in range(500)] * 4)

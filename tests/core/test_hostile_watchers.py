"""Watchers that come and go at the worst moment, share a place, are slow, or are forgotten; and long sessions."""

import gc
import time
import tracemalloc
from collections.abc import AsyncIterator, Sequence

import anyio
import pytest

from discussion_helper.events import DropOldest, Event, EventHub
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Message, Utterance

pytestmark = pytest.mark.anyio


def session_of(*turns: str, sentences: int = 1) -> Session:
    return Session(ScriptedListener(turns), EchoResponder(sentences), SilentVoice(0.01))


async def test_two_tasks_on_one_subscription_share_its_events_and_both_end() -> None:
    session = session_of(*["hi"] * 5)
    shared, whole = session.events(), session.events()
    seen: list[Event] = []

    async def watch() -> None:
        async for event in shared:
            seen.append(event)  # noqa: PERF401 - both tasks, one at a time

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        tasks.start_soon(watch)
        await anyio.sleep(0.1)
        session.start()

    assert [event async for event in whole] == seen


async def test_a_watcher_that_another_one_sends_away_in_the_same_moment_ends() -> None:
    session = session_of("hi")
    first, second = session.events(), session.events()

    async def watch_first() -> None:
        async for _ in first:
            await second.aclose()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch_first)
        session.start()
        seen = [event async for event in second]

    assert len(seen) <= 1


async def test_a_thousand_watchers_get_the_same_and_come_and_go_at_any_time() -> None:
    session = session_of(*["hi"] * 5)
    staying = [session.events() for _ in range(1000)]
    numbers: list[int] = []

    async def visit(stay: int) -> None:
        await anyio.sleep(stay / 5000)
        async with session.events() as events:
            seen = 0
            async for _ in events:
                seen += 1
                if seen > stay % 7:
                    break
            numbers.append(seen)

    async with anyio.create_task_group() as tasks:
        for stay in range(300):
            tasks.start_soon(visit, stay)
        session.start()
    await session.wait()
    lists = [[event async for event in events] for events in staying]

    assert 300 == len(numbers)
    assert all(each == lists[0] for each in lists)


async def test_a_wait_for_the_next_event_that_is_cancelled_loses_none() -> None:
    session = session_of(*["hi"] * 20)
    patient, hasty = session.events(), session.events()
    seen: list[Event] = []

    async def watch() -> None:
        over = False
        while not over:
            with anyio.move_on_after(0.0005):
                try:
                    seen.append(await anext(hasty))
                except StopAsyncIteration:
                    over = True

    session.start()
    await watch()

    assert [event async for event in patient] == seen


async def test_a_gap_is_no_later_than_what_follows_it() -> None:
    session = session_of(*["hi"] * 200)
    slow = session.events()
    await session.start().wait()
    await anyio.sleep(5.0)
    seen = [event async for event in slow]

    assert "gap" == seen[0].kind
    assert [event.at_s for event in seen] == sorted(event.at_s for event in seen)


async def test_gaps_may_be_asked_for_by_name() -> None:
    session = session_of("hi")
    gaps = session.events("gap")
    await session.start().wait()

    assert [] == [event async for event in gaps]


async def test_watchers_that_were_forgotten_are_forgotten() -> None:
    hub: EventHub[int] = EventHub(overflow=DropOldest(lambda missed, following: -missed))
    kept = hub.subscribe()
    for number in range(100):
        visitor = hub.subscribe()
        hub.publish(number)
        async for _ in visitor:
            break
        hub.subscribe()
    del visitor
    gc.collect()

    assert 1 == len(hub)
    assert 100 == len(kept)


class Constant:
    """Answers without keeping what it saw."""

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        yield "yes"

    async def aclose(self) -> None: ...


class ManyTurns(ScriptedListener):
    async def utterances(self) -> AsyncIterator[Utterance]:
        for _ in range(self.count):
            yield Utterance("user", "hi")

    def __init__(self, count: int) -> None:
        super().__init__([])
        self.count = count


class Forgetful(SilentVoice):
    async def stop(self) -> None:
        self.spoken.clear()
        self.completed.clear()
        await super().stop()


async def test_memory_and_time_grow_with_the_transcript_alone() -> None:
    async def hold(turns: int) -> tuple[float, int]:
        gc.collect()
        before_s, before = time.process_time(), tracemalloc.get_traced_memory()[0]
        session = Session(ManyTurns(turns), Constant(), Forgetful(0.0)).start()
        await session.wait()
        conversation = session.discussion.conversation
        assert 2 * turns == len(conversation.utterances)
        took = time.process_time() - before_s
        conversation.utterances.clear()
        conversation.timings.clear()
        gc.collect()
        return took, tracemalloc.get_traced_memory()[0] - before

    await hold(5)
    few_s, _ = await hold(100)
    many_s, _ = await hold(400)
    assert many_s < 4 * few_s * 2.0

    tracemalloc.start()
    try:
        await hold(5)
        _, few = await hold(60)
        _, many = await hold(300)
    finally:
        tracemalloc.stop()
    assert many - few < 30_000

"""Following a hub by numbers: whoever leaves and comes back misses nothing and gets nothing twice."""

from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from discussion_helper.events import Backlog, DropOldest, EventHub, Following, Numbered

pytestmark = pytest.mark.anyio

KEPT = 8
Followed = Following[Numbered[int]]


def hub_of(history: int = KEPT) -> EventHub[int]:
    return EventHub(overflow=DropOldest(lambda missed, _: -missed), capacity=4, history=history)


def follow(hub: EventHub[int], after: int | None = None) -> Followed | None:
    """Even numbers alone, as a watcher of some kinds has it."""
    backlog: Backlog[Numbered[int]] = Backlog(items=100_000, weight=100_000_000)
    return hub.follow(
        lambda item: item if item % 2 == 0 else None, backlog=backlog, gap=lambda missed: -missed, after=after
    )


def taken_from(following: Followed) -> Numbered[int]:
    """What is held can be read at once: nothing is waited for."""
    with pytest.raises(StopIteration) as given_back:
        following.__anext__().send(None)
    return cast(Numbered[int], given_back.value.value)


def held(following: Followed | None) -> list[Numbered[int]]:
    assert following is not None
    return [taken_from(following) for _ in range(len(following))]


class Returning(RuleBasedStateMachine):
    """One watcher of a hub who leaves, and comes back with the last number that it saw."""

    def __init__(self) -> None:
        super().__init__()
        self.hub = hub_of()
        self.following: Followed | None = follow(self.hub)
        self.seen: list[Numbered[int]] = []
        self.since = 0
        """Number after which everything must have been seen."""
        self.last = 0
        self.closed = False

    @rule(items=st.lists(st.integers(0, 9), max_size=12))
    def publish(self, items: list[int]) -> None:
        for item in items:
            self.hub.publish(item)

    @precondition(lambda self: self.following is not None)
    @rule(most=st.integers(0, 20))
    def read(self, most: int) -> None:
        self._read(most)

    def _read(self, most: int) -> None:
        assert self.following is not None
        self.seen += [taken_from(self.following) for _ in range(min(most, len(self.following)))]
        self.last = self.seen[-1].number if self.seen else self.last

    @precondition(lambda self: self.following is not None)
    @rule()
    def leave(self) -> None:
        assert self.following is not None
        with pytest.raises(StopIteration):
            self.following.aclose().send(None)
        self.following = None

    @precondition(lambda self: self.following is None)
    @rule()
    def come_back(self) -> None:
        self._come_back()

    def _come_back(self) -> None:
        self.following = follow(self.hub, after=self.last)
        lost = self.hub.sequence - self.last > KEPT
        assert (self.following is None) == lost
        if lost:
            self.seen, self.since = [], self.hub.sequence
            self.last, self.following = self.hub.sequence, follow(self.hub, after=self.hub.sequence)

    @precondition(lambda self: not self.closed)
    @rule()
    def close(self) -> None:
        self.closed = True
        self.hub.close(100)

    @invariant()
    def has_all_up_to_where_it_is(self) -> None:
        numbers = [one.number for one in self.seen]
        assert numbers == sorted(set(numbers))
        assert all(one.number > self.since and one.item % 2 == 0 for one in self.seen)

    def teardown(self) -> None:
        """In the end the watcher has what a watcher has who never left."""
        if self.following is None:
            self._come_back()
        self._read(10_000)
        kept = self.hub.since(max(self.since, self.hub.sequence - KEPT)) or []
        wanted = [number for number, item in kept if item % 2 == 0]
        assert wanted == [one.number for one in self.seen if one.number > self.hub.sequence - KEPT]


TestReturning = Returning.TestCase
TestReturning.settings = settings(max_examples=60, stateful_step_count=30)


@given(items=st.lists(st.integers(0, 9), max_size=30), cut=st.integers(0, 30))
def test_two_parts_are_the_whole_wherever_it_is_cut(items: list[int], cut: int) -> None:
    hub = hub_of(history=64)
    whole, first = follow(hub), follow(hub)
    for item in items[:cut]:
        hub.publish(item)
    part = held(first)
    after = part[-1].number if part else 0
    for item in items[cut:]:
        hub.publish(item)

    assert held(whole) == part + held(follow(hub, after=after))


async def test_who_comes_after_the_end_gets_the_last_word_with_its_number_and_who_has_it_nothing() -> None:
    hub = hub_of()
    for item in (2, 4):
        hub.publish(item)
    hub.close(6)
    late, resumed, done = follow(hub), follow(hub, after=1), follow(hub, after=3)

    assert late is not None
    assert resumed is not None
    assert done is not None
    assert [Numbered(3, 6)] == [one async for one in late]
    assert [Numbered(2, 4), Numbered(3, 6)] == [one async for one in resumed]
    assert [] == [one async for one in done]
    assert 2 == hub.behind


async def test_a_number_that_never_was_is_not_resumed() -> None:
    hub = hub_of()
    hub.publish(2)

    assert follow(hub, after=2) is None
    assert hub_of().epoch != hub.epoch

"""Whatever happens to a client and its connection, in the end it knows what the session knows."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discussion_helper.governor import Change
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text import InterruptEvent, Manager, MemoryThreads, Step, TextDelta, UserMessageEvent
from discussion_helper.text.errors import ProcessError
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.base import Thread
from discussion_helper.types import Floor, SpokenUtterance, TurnTiming, Utterance
from discussion_helper.web import states
from discussion_helper.web.feed import Feed
from discussion_helper.web.framing import MESSAGES, SERVER_SENT, Framing
from discussion_helper.web.sse import EventStream
from discussion_helper.web.states import States

RunVirtually = Callable[..., Any]
Do = tuple[Any, ...]

HELD = st.sampled_from([4_000, 40_000, 1_000_000])
"""Bytes held for the client: with the first, which are some six events, it often falls behind."""
HEARTBEAT_S = 0.001
"""After which nothing more is there to be read."""
WORDS = st.sampled_from(["", "yes", "and the river", "Straße 😀 \n\n水", "x" * 3_000])
DEVICES = st.sampled_from(["open", "muted", "lost", "hanging"])
WAYS = pytest.mark.parametrize("framing", [SERVER_SENT, MESSAGES], ids=["stream", "socket"])


STATES: dict[str, States] = {}
"""By the epoch of the hub: all clients of a session share them, as in a server."""


@pytest.fixture(autouse=True)
def _light_states_are_shared_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "HEAVY", 0)
    STATES.clear()


class Client:
    """Follows a session, reads as slowly as it likes, leaves, and comes back with whatever id."""

    def __init__(self, reducer: Any, session: Any, most_bytes: int, framing: Framing) -> None:
        self.reducer, self._session, self._most_bytes = reducer, session, most_bytes
        self._framing = framing
        self._stream: EventStream | None = None
        self._frames: AsyncGenerator[list[bytes], None] | None = None
        self._own = reducer.Reducer()
        self._states = STATES.setdefault(session.hub.epoch, States())

    @property
    def knows(self) -> Any:
        return self._own

    async def come_back(self, how: str) -> None:
        """With the id "right" after what it has, an "old" one, or one that is of no use."""
        await self.leave()
        own, epoch = self._own, self._session.hub.epoch
        if how == "old" and own.known:
            own.go_back(list(own.known)[len(own.known) // 2])
        useless = {"none": "", "foreign": "0badc0de-3", "garbage": "né à", "ahead": f"{epoch}-999999"}
        last_id = own.cursor + ".9" if how == "part" and own.cursor else useless.get(how, own.cursor)
        before = len(own.stale)
        feed, shared = Feed(self._session, ["*"], most_bytes=self._most_bytes), self._states
        self._stream = EventStream(feed, last_id, heartbeat_s=HEARTBEAT_S, states=shared, framing=self._framing)
        self._stream.begin()
        self._frames = self._stream.frames()
        await self.read(1)
        if how in useless and last_id:
            assert len(own.stale) == before + 1
            assert own.stale[-1] == {"foreign": "epoch"}.get(how, "unknown")

    async def read(self, most: int) -> bool:
        """So many items; whether nothing more was there."""
        if self._frames is None:
            return True
        for _ in range(most):
            now = self._session.state
            frames = await anext(self._frames, None)
            if frames is None:
                await self.leave()
                return bool(self._own.kinds[-1] == "ended")
            for told in self._events_in(frames):
                self._own.take(told)
            if frames == [self._framing.alive]:
                self.agrees_with(now)
                return True
        return False

    def _events_in(self, frames: list[bytes]) -> list[Any]:
        as_stream = self._framing is SERVER_SENT
        told: list[Any] = self.reducer.events_in(b"".join(frames)) if as_stream else self.reducer.events_of(frames)
        return told

    def agrees_with(self, state: dict[str, Any]) -> None:
        """What it knows is what a session knows with this state."""
        told, known = (self.reducer.comparable(one) for one in (state, self._own.state))
        waits = [[one["think_s"] for one in each.pop("timings")] for each in (told, known)]
        assert told == known
        assert len(waits[0]) == len(waits[1])
        assert all(abs(one - other) < 0.01 for one, other in zip(*waits, strict=True))

    async def leave(self) -> None:
        if self._stream is not None and self._frames is not None:
            await self._frames.aclose()
            await self._stream.aclose()
        self._stream = self._frames = None

    async def catch_up(self) -> None:
        """Come back, also after a gap, until there is nothing more."""
        while True:
            if self._frames is None:
                await self.come_back("right")
            if await self.read(5_000):
                break
        await self.leave()


READING = st.one_of(
    st.tuples(st.just("read"), st.sampled_from([1, 2, 5, 500, 500])),
    st.tuples(st.just("leave")),
    st.tuples(
        st.just("come_back"),
        st.sampled_from(["right", "right", "old", "foreign", "garbage", "ahead", "none", "part"]),
    ),
)
TALK = st.one_of(
    st.tuples(st.just("user"), WORDS),
    st.tuples(st.just("agent"), WORDS, st.integers(0, 20)),
    st.tuples(st.just("revise"), WORDS),
    st.tuples(st.just("timing"), st.floats(0, 3)),
    st.tuples(st.just("floor"), st.sampled_from(Floor)),
    st.tuples(st.just("partial"), WORDS),
    st.tuples(st.just("saying"), WORDS),
    st.tuples(st.just("level"), st.integers(1, 40)),
    st.tuples(st.just("decision"), st.integers(1, 300)),
    st.tuples(st.just("interruption")),
    st.tuples(st.just("attention"), st.sampled_from(["awake", "asleep"])),
    st.tuples(st.just("tool"), st.sampled_from(["called", "done"])),
    st.tuples(st.just("device"), st.sampled_from(["microphone", "loudspeaker"]), DEVICES),
    st.tuples(st.just("shed")),
)


class Talk:
    """A session to which things happen."""

    def __init__(self) -> None:
        self.session = Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice())
        self._record = self.session.discussion._record

    def happen(self, what: str, *more: Any) -> None:
        getattr(self, f"_{what}")(*more)

    def _user(self, text: str) -> None:
        self._record.add(Utterance("user", text))

    def _agent(self, said: str, heard: int) -> None:
        cut = heard < len(said)
        self._record.add(Utterance("agent", said[:heard], interrupted=cut, said=said if cut else ""))

    def _revise(self, text: str) -> None:
        before = self._record.conversation.last_user_text
        self._record.add(SpokenUtterance("user", f"{before} {text}", revises=before))

    def _timing(self, think_s: float) -> None:
        self._record.add_timing(TurnTiming(think_s=think_s))

    def _floor(self, floor: Floor) -> None:
        self._record.set_floor(floor)

    def _partial(self, text: str) -> None:
        self._record.report("partial", speaker="user", text=text, stable=text[:3])

    def _saying(self, text: str) -> None:
        self._record.report("partial", speaker="agent", text=text)

    def _level(self, count: int) -> None:
        for number in range(count):
            self._record.report("level", dbfs=-float(number))

    def _decision(self, count: int) -> None:
        for number in range(count):
            self._record.report("decision", what="ignored", why=f"number {number}")

    def _interruption(self) -> None:
        self._record.tell("interruption", {"by": "voice"})

    def _attention(self, state: str) -> None:
        self._record.report("attention", state=state, why="")

    def _tool(self, state: str) -> None:
        self._record.report("tool", id="1", name="weather", arguments="{}", state=state, took_s=0.1)

    def _device(self, which: str, state: str) -> None:
        self._record.report("device", which=which, state=state, fix="Plug it in.")

    def _shed(self) -> None:
        sheds = self.session.discussion.sheds
        self.session.discussion.tell_shed(Change("interim", bool(sheds.now), "loop", 0.5, 0.1))


@WAYS
@given(steps=st.lists(st.one_of(TALK, TALK, READING), min_size=5, max_size=60), most_bytes=HELD, ends=st.booleans())
@example(steps=[("decision", 300), ("read", 9), ("come_back", "right")], most_bytes=4_000, ends=False)
@example(steps=[("user", "x" * 3_000), ("user", "x" * 3_000), ("read", 2)], most_bytes=4_000, ends=True)
@example(steps=[("leave",), ("level", 3), ("come_back", "part"), ("read", 9)], most_bytes=40_000, ends=False)
@example(steps=[("level", 5), ("come_back", "foreign"), ("read", 9)], most_bytes=40_000, ends=False)
@example(steps=[("saying", "a"), ("saying", "b"), ("partial", "c"), ("read", 9)], most_bytes=40_000, ends=False)
@example(steps=[("tool", "done"), ("read", 9), ("agent", "yes", 20), ("read", 9)], most_bytes=40_000, ends=False)
@settings(max_examples=150)
def test_in_the_end_it_knows_what_the_session_knows(
    run_virtually: RunVirtually, reducer: Any, framing: Framing, steps: list[Do], most_bytes: int, ends: bool
) -> None:
    async def run() -> None:
        talk = Talk()
        client = Client(reducer, talk.session, most_bytes, framing)
        await client.come_back("none")
        for what, *more in steps:
            if what in ("read", "leave", "come_back"):
                await getattr(client, what)(*more)
            else:
                talk.happen(what, *more)
        if ends:
            await talk.session.stop()
        await client.catch_up()
        client.agrees_with(talk.session.state)
        assert 0 == len(talk.session.hub)

    run_virtually(run)


class SlowThreads(MemoryThreads):
    """What is stored is in the state for a while before anybody is told of it."""

    async def append(self, thread: Thread, turn: Turn) -> None:
        await super().append(thread, turn)
        await anyio.sleep(0.1)

    async def save(self, thread: Thread) -> None:
        await anyio.sleep(0.1)
        await super().save(thread)


@WAYS
@given(
    steps=st.lists(
        st.one_of(
            READING,
            st.tuples(st.just("wait"), st.sampled_from([0.05, 0.1, 0.15, 0.2, 3.0])),
            st.tuples(st.sampled_from(["message", "message", "cancel", "interrupt"])),
        ),
        min_size=5,
        max_size=40,
    ),
    most_bytes=HELD,
)
@example(  # a question that is being stored
    steps=[("leave",), ("message",), ("wait", 0.05), ("come_back", "none"), ("read", 9)], most_bytes=40_000
)
@example(  # one that the model thinks about
    steps=[("leave",), ("message",), ("wait", 0.15), ("come_back", "none"), ("wait", 0.1), ("read", 9)],
    most_bytes=40_000,
)
@example(  # an answer that is complete, and not over
    steps=[("message",), ("wait", 0.5), ("read", 9), ("wait", 0.15), ("read", 9)], most_bytes=40_000
)
@example(  # one that is broken off
    steps=[
        ("message",),
        ("wait", 0.3),
        ("read", 9),
        ("cancel",),
        ("wait", 0.05),
        ("read", 9),
        ("wait", 0.2),
        ("read", 9),
    ],
    most_bytes=40_000,
)
@settings(max_examples=80)
def test_of_a_text_session_too(
    run_virtually: RunVirtually, reducer: Any, framing: Framing, steps: list[Do], most_bytes: int
) -> None:
    async def run() -> None:
        whole: list[Any] = [0.1, TextDelta("He"), 0.1, TextDelta("llo"), 0.1, TextDelta("x" * 2_000), 0.1]
        provider = ScriptedProvider(whole, [0.2, TextDelta("par"), 0.1, ValueError("no")], whole)
        async with Manager(SlowThreads(), provider, lambda _: Step()) as manager:
            stream = await manager.create()
            client = Client(reducer, stream, most_bytes, framing)
            await client.come_back("none")
            for what, *more in steps:
                if what in ("read", "leave", "come_back"):
                    await getattr(client, what)(*more)
                elif what == "wait":
                    await anyio.sleep(*more)
                elif what == "cancel":
                    stream.cancel()
                elif stream.pending < 5:
                    stream.submit(UserMessageEvent("hi") if what == "message" else InterruptEvent())
            with suppress(ProcessError):  # it may be the one that fails
                await stream.process(UserMessageEvent("the last one"))
            await client.catch_up()
            client.agrees_with(stream.state)

    run_virtually(run)


def test_a_snapshot_alone_shows_all_of_a_page(reducer: Any) -> None:
    """A client that comes in the middle of everything knows it from the first event on."""
    talk = Talk()
    for what, *more in (
        *(("user", "hi"), ("agent", "hello there", 5), ("timing", 0.5), ("partial", "so far"), ("saying", "One.")),
        *(("saying", "Two."), ("level", 3), ("decision", 60), ("attention", "awake"), ("tool", "called")),
        *(("device", "microphone", "lost"), ("floor", Floor.SPEAKING), ("shed",)),
    ):
        talk.happen(what, *more)
    stream = EventStream(Feed(talk.session, most_bytes=40_000), "", heartbeat_s=HEARTBEAT_S)
    stream.begin()
    (told,) = reducer.events_in(b"".join(stream._first))
    state = told.data["state"]

    assert "stale" not in told.data
    assert [("hi", "", False), ("hello", "hello there", True)] == [
        (turn["text"], turn["said"], turn["interrupted"]) for turn in state["utterances"]
    ]
    assert {"user": {"text": "so far", "stable": "so "}, "agent": "One. Two.", "level": -2.0} == {
        name: state["live"][name] for name in ("user", "agent", "level")
    }
    assert "weather" == state["live"]["tool"]
    assert {"which": "microphone", "state": "lost", "fix": "Plug it in."} == state["live"]["fault"]
    assert ("speaking", "awake", "lost", 1) == (
        *(state[name] for name in ("floor", "attention", "microphone")),
        len(state["timings"]),
    )
    assert [f"number {number}" for number in range(10, 60)] == [one["why"] for one in state["decisions"]]
    assert json.loads(json.dumps(talk.session.state["shed"])) == state["shed"]

"""A stream under random treatment: nobody stays unanswered, nothing runs twice, nothing is left."""

import contextlib
import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.subscription import Subscription
from discussion_helper.text.artifacts import TextDelta
from discussion_helper.text.errors import (
    EventDroppedError,
    ProcessError,
    QueueFullError,
    SessionClosedError,
    SessionError,
    TurnCancelledError,
)
from discussion_helper.text.inputs import EventContext, InterruptEvent, UserMessageEvent
from discussion_helper.text.manager import Manager
from discussion_helper.text.outputs import LifecycleEvent, OutputEvent, PropertiesEvent
from discussion_helper.text.providers.scripted import Cue, ScriptedProvider
from discussion_helper.text.state import State
from discussion_helper.text.step import Step
from discussion_helper.text.stream import Stream
from discussion_helper.text.threads.memory import MemoryThreads

INBOX = 4
DEEDS = ("submit", "process", "process briefly", "cancel", "interrupt", "emit", "watch", "watch blocking", "leave")
deeds = st.lists(st.tuples(st.sampled_from(DEEDS), st.sampled_from([0.0, 0.1, 0.5, 1.0])), max_size=25)
answers = st.lists(st.sampled_from(["quick", "slow", "broken", "wordy"]), min_size=1, max_size=4)
CUES: dict[str, tuple[Cue, ...]] = {
    "quick": (TextDelta("ok"),),
    "slow": (0.3, TextDelta("well"), 0.3, TextDelta(" then")),
    "broken": (TextDelta("par"), ValueError("no more words")),
    "wordy": (TextDelta("word "),) * 20,
}


@dataclass
class Witness:
    """What was done, and what came of it."""

    sent: list[str] = field(default_factory=list)
    outcomes: list[tuple[str, str]] = field(default_factory=list)
    waiting: int = 0
    refused: int = 0


async def _process(stream: Stream, text: str, witness: Witness, limit_s: float) -> None:
    witness.waiting += 1
    outcome = "gave up"
    try:
        with anyio.move_on_after(limit_s):
            await stream.process(UserMessageEvent(text, EventContext(text)))
            outcome = "done"
    except (TurnCancelledError, EventDroppedError, SessionClosedError, QueueFullError, ProcessError) as error:
        outcome = type(error).__name__
    witness.waiting -= 1
    witness.outcomes.append((text, outcome))


async def treat(script: list[str], todo: list[tuple[str, float]], close_early: bool) -> tuple[Any, ...]:
    witness, watchers = Witness(), list[Subscription[OutputEvent]]()
    provider = ScriptedProvider(*(CUES[name] for name in script))
    store = MemoryThreads()
    async with Manager(store, provider, lambda _: Step(), inbox=INBOX) as manager:
        stream = await manager.create()
        faithful = stream.subscribe(buffer=100_000)
        async with anyio.create_task_group() as tasks:
            for number, (deed, wait_s) in enumerate(todo):
                await anyio.sleep(wait_s)
                text = f"m{number}"
                try:
                    if deed == "submit":
                        stream.submit(UserMessageEvent(text, EventContext(text)))
                        witness.sent.append(text)
                    elif deed.startswith("process"):
                        witness.sent.append(text)
                        tasks.start_soon(_process, stream, text, witness, 0.2 if "briefly" in deed else 1e6)
                        await anyio.wait_all_tasks_blocked()
                    elif deed == "cancel":
                        stream.cancel()
                    elif deed == "interrupt":
                        stream.submit(InterruptEvent(EventContext("interrupt")))
                    elif deed == "emit":
                        await stream.emit(PropertiesEvent({"a": "b"}))
                    elif deed == "leave" and watchers:
                        await watchers.pop().aclose()
                    elif deed == "watch":
                        watchers.append(stream.subscribe(buffer=2))
                    elif deed == "watch blocking":
                        watcher = stream.subscribe("text_delta", buffer=3, overflow="block")
                        watchers.append(watcher)
                        tasks.start_soon(_read_slowly, watcher)
                except QueueFullError:
                    witness.refused += 1
            if not close_early:
                with contextlib.suppress(SessionError):
                    await stream.process(UserMessageEvent("flush", EventContext("flush")))
            await stream.aclose()
        events = [event async for event in faithful]
    return witness, events, stream, provider


async def _read_slowly(watcher: Subscription[OutputEvent]) -> None:
    async for _ in watcher:
        await anyio.sleep(0.05)


@settings(max_examples=120)
@given(script=answers, todo=deeds, close_early=st.booleans())
def test_a_stream_keeps_its_promises(
    run_virtually: Callable[..., Any], script: list[str], todo: list[tuple[str, float]], close_early: bool
) -> None:
    witness, events, stream, provider = run_virtually(treat, script, todo, close_early)
    turns: State = stream.thread.state
    users = [turn.text for turn in turns.turns if turn.role == "user" and turn.text != "flush"]

    assert 0 == witness.waiting, "no caller is left unanswered"
    assert provider.most <= 1, "at most one turn runs at a time"
    assert 0 == provider.running, "no turn is left"
    assert users == [text for text in witness.sent if text in users], "the order of the calls"
    assert 1 == max(Counter(users).values(), default=1), "nothing is processed twice"
    assert all(text in users for text, outcome in witness.outcomes if outcome == "done")
    assert not any(
        text in users for text, outcome in witness.outcomes if outcome in ("EventDroppedError", "QueueFullError")
    )

    phases = [(e.context.event_id, e.phase) for e in events if isinstance(e, LifecycleEvent)]
    for _, group in itertools.groupby(phases, key=lambda pair: pair[0]):
        sequence = [phase for _, phase in group]
        assert sequence.count("done") == 1, "every event that began is over once"
        assert sequence[-1] == "done"
    assert [e.at_s for e in events] == sorted(e.at_s for e in events)
    assert stream.ended

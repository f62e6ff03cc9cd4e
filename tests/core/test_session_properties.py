"""A session under random treatment: whatever is done to it and whenever, its promises hold."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discussion_helper.events import Event
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Floor, Policy

NEXT: dict[str, set[str]] = {
    "idle": {"listening"},
    "listening": {"thinking", "speaking", "idle"},
    "thinking": {"speaking", "listening", "idle"},
    "speaking": {"listening", "idle"},
}


@dataclass
class Outcome:
    session: Session
    events: list[Event]
    answers: list[tuple[Floor, bool]]


SHORT = {"turns": [], "sentences": 0, "sentence_s": 1.0, "delay_s": 0.0, "onset_s": None, "pace_s": 0.0, "cap": 0}
actions = st.lists(st.tuples(st.sampled_from(["interrupt", "say", "speak", "watch"]), st.floats(0.0, 1.5)), max_size=12)
shapes = st.fixed_dictionaries(
    {
        "turns": st.lists(st.sampled_from(["one", "two three", "", "four five six"]), max_size=4),
        "sentences": st.integers(0, 3),
        "sentence_s": st.floats(0.0, 1.0),
        "delay_s": st.floats(0.0, 0.5),
        "onset_s": st.none() | st.floats(0.0, 1.0),
        "pace_s": st.floats(0.0, 1.0),
        "cap": st.integers(0, 2),
    }
)


async def treat(shape: dict[str, Any], todo: list[tuple[str, float]]) -> Outcome:
    session = Session(
        ScriptedListener(shape["turns"], interrupt_after_s=shape["onset_s"], pace_s=shape["pace_s"], stays_open=True),
        EchoResponder(shape["sentences"], shape["delay_s"]),
        SilentVoice(shape["sentence_s"]),
        Policy(max_reply_sentences=shape["cap"]),
    )
    watcher = session.events()
    session.start()
    answers = []
    for action, wait_s in todo:
        await anyio.sleep(wait_s)
        if action == "interrupt":
            answers.append((session.floor, await session.interrupt()))
        elif action == "watch":
            session.events("*")
        elif session.discussion.conversation.floor is not Floor.IDLE:
            await (session.say if action == "say" else session.speak)("something typed")
    await session.stop()
    return Outcome(session, [event async for event in watcher], answers)


@settings(max_examples=150)
@example(shape={**SHORT, "onset_s": 0.5}, todo=[("speak", 0.0), ("interrupt", 1.5), ("say", 1.0)])
@given(shape=shapes, todo=actions)
def test_a_session_keeps_its_promises(
    run_virtually: Callable[..., Any], shape: dict[str, Any], todo: list[tuple[str, float]]
) -> None:
    outcome = run_virtually(treat, shape, todo)
    session, conversation = outcome.session, outcome.session.discussion.conversation
    floors = ["idle", *(e.data["floor"] for e in outcome.events if e.kind == "floor")]

    assert all(after in NEXT[before] for before, after in itertools.pairwise(floors))
    assert "idle" == floors[-1]
    assert "ended" == outcome.events[-1].kind
    assert 1 == sum(event.kind == "ended" for event in outcome.events)
    assert all(answer == (floor is Floor.SPEAKING) for floor, answer in outcome.answers)
    assert len(conversation.utterances) == sum(event.kind == "utterance" for event in outcome.events)
    assert [e.at_s for e in outcome.events] == sorted(e.at_s for e in outcome.events)
    voice = session.discussion.voice
    assert isinstance(voice, SilentVoice)
    assert (False, True) == (voice.speaking, voice.closed)
    assert not session._talk.running
    assert all(u.text.strip() for u in conversation.utterances if u.speaker == "user")
    assert all(u.interrupted for u in conversation.utterances if u.said)

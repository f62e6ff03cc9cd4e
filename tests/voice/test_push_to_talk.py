"""Push to talk in a room: whole talks in virtual time."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from discussion_helper.policy import Policy
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder
from discussion_helper.testing.room import (
    CutSynthesiser,
    NoEchoPath,
    Room,
    Scene,
    cheap_detectors,
    run_in_room,
    speech_like,
)
from discussion_helper.text import MemoryThreads
from discussion_helper.text.spoken import SpokenThread

STORY = speech_like(1.5, 48_000, seed=7)


def held(talk: Callable[[Room], Awaitable[None]], *, seed: int = 0) -> None:
    """Hold a talk in a room in which nothing depends on the real detectors."""

    room = Room(Scene(seed=seed), detectors=cheap_detectors, echo_path=NoEchoPath)
    run_in_room(talk, room)


def opened(room: Room, *, turn_policy: str = "push_to_talk", sentences: int = 1, thread: Any = None) -> Session:
    return room.session(
        responder=EchoResponder(sentences=sentences),
        recogniser=room.recogniser(),
        synthesiser=CutSynthesiser(),
        policy=Policy.from_mapping({"turn_policy": turn_policy}),
        thread=thread,
    ).start()


def test_only_what_is_said_with_the_key_down_is_a_turn_and_a_press_cuts_the_agent_off() -> None:
    async def talk(room: Room) -> None:
        session = opened(room, sentences=6)
        told = session.events("attention", "interruption")
        room.say(STORY, at_s=0.5, text="to somebody else")
        await room.quiet(2.5)
        assert [] == session.discussion.conversation.utterances
        assert await session.press() is False
        await anyio.sleep(0.1)
        assert ("push_to_talk", "pressed") == (session.state["turn_policy"], session.state["attention"])
        room.say(STORY, text="to somebody else")
        await anyio.sleep(1.8)
        released_s = room.now_s
        await session.release()
        reply_s = (await room.reached("reply")).at_s
        assert reply_s - released_s < 0.6  # no silence is waited for
        room.say(speech_like(1.0, 48_000, seed=9), text="also to somebody else")
        await anyio.sleep(1.2)
        assert "speaking" == session.floor.value
        pressed_s = room.now_s
        assert await session.press() is True
        assert "listening" == session.floor.value
        assert room.recording.silent_s(pressed_s) < 0.15
        await session.release()
        await session.release()  # of a key that is up
        await anyio.sleep(0.1)
        conversation = await session.stop()

        assert ["user", "agent"] == [utterance.speaker for utterance in conversation.utterances]
        assert conversation.utterances[1].interrupted
        data = [event.data async for event in told if event.kind in ("attention", "interruption")]
        states = [one["state"] for one in data if "state" in one]
        assert ["released", "pressed", "released", "pressed"] == states[:4]
        assert [{"by": "interrupt"}] == [one for one in data if "by" in one]

    held(talk, seed=1)


def test_without_a_key_and_with_a_muted_microphone_a_press_is_refused() -> None:
    async def talk(room: Room) -> None:
        session = opened(room, turn_policy="open")
        with pytest.raises(RuntimeError, match="no key to press"):
            await session.press()

    async def muted(room: Room) -> None:
        session = opened(room)
        await room.quiet(0.5)
        await session.mute(True)
        with pytest.raises(RuntimeError, match="muted"):
            await session.press()
        await session.release()
        await session.stop()
        with pytest.raises(RuntimeError, match="not running"):
            await session.press()

    held(talk)
    held(muted)


DO = st.lists(st.tuples(st.sampled_from(["type", "say", "say and type over it"]), st.floats(0.1, 3.0)), max_size=4)


@settings(max_examples=8, phases=[Phase.explicit, Phase.generate])
@given(DO)
@example([("say and type over it", 0.1), ("type", 0.1), ("say", 0.2), ("type", 0.1)])
def test_typed_and_spoken_turns_have_one_order_everywhere(todo: list[tuple[str, float]]) -> None:
    """Typed while somebody speaks, while that is recognised, while the agent thinks and speaks."""

    async def talk(room: Room) -> None:
        store = MemoryThreads()
        thread = SpokenThread(store, await store.create())
        session = opened(room, thread=thread)
        events, asked = session.events("utterance"), session.discussion.responder
        assert isinstance(asked, EchoResponder)
        typed = []
        for number, (what, wait_s) in enumerate(todo):
            if what != "type":
                await session.press()
                room.say(speech_like(0.8, 48_000, seed=20 + number), text=f"spoken {number}")
                await anyio.sleep(0.4)
            if what != "say":
                typed.append(f"typed {number}")
                await session.say(typed[-1])
            if what != "type":
                await anyio.sleep(0.6)
                await session.release()
            await anyio.sleep(wait_s)
        await room.quiet(2.0)
        said = [(it.speaker, it.text) for it in (await session.stop()).utterances]

        assert said == [(it.data["speaker"], it.data["text"]) async for it in events if it.kind == "utterance"]
        users = [text for who, text in said if who == "user"]
        again = SpokenThread(store, await store.get(thread.thread.id))
        assert users == [message["content"] for message in again.messages() if message["role"] == "user"]
        assert typed == [text for text in users if text.startswith("typed")]
        spoken = [f"spoken {number}" for number, (what, _) in enumerate(todo) if what != "type"]
        # The room's recogniser may find more in these sounds, which are much alike: what was said is the last of it.
        assert spoken == [" ".join(text.split()[-2:]) for text in users if text.startswith("spoken")]
        assert users == [seen[-1]["content"] for seen in asked.seen]
        for seen in asked.seen:
            heard = [message["content"] for message in seen if message["role"] == "user"]
            assert heard == users[: len(heard)]

    held(talk, seed=2)


@pytest.mark.slow
def test_a_press_that_is_never_released_ends() -> None:
    async def talk(room: Room) -> None:
        session = opened(room)
        told = session.events("attention")
        await room.quiet(0.5)
        await session.press()
        room.say(np.tile(STORY, 50), text="on and on")
        await anyio.sleep(61.0)
        await session.stop()
        assert "held for 60 s" in [event.data["why"] async for event in told if event.kind == "attention"]

    held(talk)

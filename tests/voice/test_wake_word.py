"""A wake word in a room: whole talks in virtual time, with the real detectors of voices and of the word."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Frame
from discussion_helper.audio.resample import resample
from discussion_helper.models import Store, load_manifest
from discussion_helper.policy import Policy
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder
from discussion_helper.testing.room import (
    CutSynthesiser,
    Echo,
    InlineSynthesiser,
    NoEchoPath,
    Room,
    Scene,
)
from discussion_helper.tts.piper import PiperSynthesiser

pytestmark = [pytest.mark.anyio, pytest.mark.models]

RATE = 48_000
SPEECH = Path(__file__).parents[2] / "audio" / "speech"
STORY, MORE, LATE = (
    load(SPEECH / name, RATE)
    for name in ("sphinx_goforward.wav", "praatio_bobby.wav", "asterisk_en_agent-incorrect.wav")
)
NABU = Policy(turn_policy="wake_word", wake_word="okay_nabu", follow_up_s=4.0)


@pytest.fixture(scope="module")
def voice() -> Iterator[PiperSynthesiser]:
    made = PiperSynthesiser(Store().path_of(load_manifest().model("joe-medium")), steady=True)
    yield made
    anyio.run(made.aclose)


@pytest.fixture(scope="module")
def word(voice: PiperSynthesiser) -> Frame:
    """Somebody says it."""
    speech = anyio.run(voice.synthesise, "Okay Nabu.")
    return Frame(np.asarray(resample(speech.samples, speech.rate, RATE), np.float32), RATE)


class Kept(InlineSynthesiser):
    """A session closes its voice; this one is for all tests."""

    async def aclose(self) -> None: ...


def opened(room: Room, *, synthesiser: Any = None, sentences: int = 1) -> Session:
    return room.session(
        responder=EchoResponder(sentences=sentences),
        recogniser=room.recogniser(),
        synthesiser=synthesiser or CutSynthesiser(),
        policy=NABU,
    ).start()


def users(session: Session) -> list[str]:
    return [turn.text for turn in session.discussion.conversation.utterances if turn.speaker == "user"]


async def test_it_wakes_the_agent_for_a_turn_and_for_a_while_after_each_answer(word: Frame) -> None:
    async with Room(Scene(seed=1)) as room:
        session = opened(room)
        told = session.events("attention")
        room.say(STORY, at_s=1.0, text="not to you")
        await anyio.sleep(4.0)
        assert [] == users(session)

        room.say(word, text="okay nabu")
        room.say(MORE, at_s=room.now_s + word.duration_s + 0.3, text="tell me a story")
        await room.reached("reply", 1)
        await room.quiet(1.5)
        room.say(LATE, text="tell me more")  # without the word
        await room.reached("reply", 2)
        assert ["tell me a story", "tell me more"] == users(session)

        await room.quiet(NABU.follow_up_s + 1.5)
        room.say(STORY, text="not to you")
        await room.quiet(3.0)
        assert ["tell me a story", "tell me more"] == users(session)
        await session.stop()
        states = [(event.data["state"], event.data["why"]) async for event in told if event.kind == "attention"]

    assert [("asleep", "okay_nabu"), ("awake", "okay_nabu")] == states[:2]
    assert ("awake", "follow-up") in states
    assert ("asleep", "okay_nabu") == states[-1] or "closed" in states[-1][1]


async def test_over_the_agent_nothing_but_the_word_cuts_it_off(word: Frame) -> None:
    async with Room(Scene(echo=Echo(gain_db=-20.0, delay_s=0.08), seed=2)) as room:
        session = opened(room)
        told = session.events("interruption")
        await session.speak(" ".join(f"word{number}" for number in range(40)))
        await room.reached("reply", 1)
        room.say(STORY, at_s=room.now_s + 1.0, text="not to you")
        await anyio.sleep(3.5)
        assert "speaking" == session.floor.value
        assert 0 == len(told)
        room.say(word, text="okay nabu")
        await room.reached("halt", 1, within_s=4.0)
        room.say(MORE, at_s=room.now_s + 0.5, text="tell me a story")
        await room.reached("reply", 2)
        assert ["tell me a story"] == users(session)


@pytest.mark.parametrize("cancels", [False, pytest.param(True, marks=pytest.mark.slow)])
async def test_the_agent_saying_it_wakes_nobody(voice: PiperSynthesiser, cancels: bool) -> None:
    """Where the microphone hears the agent as it is, its word is heard, and refused."""
    scene = Scene(echo=Echo(gain_db=-10.0, delay_s=0.08), seed=3)
    room_of: dict[str, Any] = {} if cancels else {"echo_path": NoEchoPath}
    async with Room(scene, **room_of) as room:
        session = opened(room, synthesiser=Kept(voice, delay_s=0.1, rate=scene.loudspeaker.rate))
        told = session.events("attention", "decision", "interruption")
        await session.speak("Okay Nabu. That is what I am called. Okay Nabu.")
        await room.reached("reply", 1)
        await room.quiet(2.0)
        utterances = list(session.discussion.conversation.utterances)
        await session.stop()
        events = [(event.kind, event.data) async for event in told]

    assert [("agent", False)] == [(turn.speaker, turn.interrupted) for turn in utterances]
    assert [] == [data for kind, data in events if kind == "interruption"]
    awake = [data["why"] for kind, data in events if kind == "attention" and data["state"] == "awake"]
    assert {"follow-up"} == set(awake)
    refused = [data for kind, data in events if kind == "decision" and data["why"] == "the agent's own voice"]
    assert cancels or refused
    assert {"ignored"} >= {data["what"] for data in refused}

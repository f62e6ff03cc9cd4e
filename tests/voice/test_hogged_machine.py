"""A talk with real models while other programs keep every processor busy: measured, and held to little.

What a machine can do beside them is its own affair: the figures are printed (`pytest -s`). It says so where it is late.
"""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

import anyio
import pytest

from discussion_helper.app import Talk, open_talk
from discussion_helper.events import Event
from discussion_helper.settings import Settings
from discussion_helper.types import Message

pytestmark = [pytest.mark.anyio, pytest.mark.models, pytest.mark.slow, pytest.mark.timed, pytest.mark.timeout(180)]

CLIP = Path(__file__).parents[2] / "audio" / "speech" / "sphinx_goforward.wav"
SPIN = "while True: pass"
TURNS = 2
LATE_S = 0.2


@pytest.fixture
def anyio_backend() -> str:
    """Real time."""
    return "asyncio"


@pytest.fixture
def hog() -> Iterator[None]:
    """As many programs that only count as there are processors, and one more."""
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range((os.cpu_count() or 1) + 1)]
    try:
        yield
    finally:
        for program in spinning:
            program.kill()
            program.wait()


class Dictionary:
    """Says what it heard, in two sentences."""

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        yield f"I have heard {messages[-1]['content']}"
        yield "That is all that I can say about it."

    async def aclose(self) -> None: ...


async def talked(talk: Talk) -> list[Event]:
    """What was told of some turns, each said when the one before was answered."""
    told: list[Event] = []
    assert talk.files is not None
    async with talk.session.events("utterance", "shed") as events:
        talk.session.start()
        talk.files.say(0)
        async for event in events:
            told.append(event)
            answers = sum(each.kind == "utterance" and each.data["speaker"] == "agent" for each in told)
            if event.kind == "utterance" and event.data["speaker"] == "agent":
                if answers == TURNS:
                    break
                await anyio.sleep(1.0)
                talk.files.say(0)
    return told


async def test_a_talk_on_a_hogged_machine_is_held_and_says_what_it_does_without(
    hog: None, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    settings = Settings(inputs=(CLIP,), output=tmp_path / "talk.wav")
    async with open_talk(settings, responder=Dictionary()) as talk:
        told = await talked(talk)
        health, sheds = talk.health(), talk.session.state["shed"]

    shed = [event.data for event in told if event.kind == "shed"]
    figures = {"health": health, "state": sheds, "shed": shed}
    record_property("figures", repr(figures))  # what runs the tests side by side passes on plain values alone
    print(figures)
    assert shed or health.late_p99_s < LATE_S, figures
    assert health.dropped == 0, figures
    assert sheds["times"] == sum(each["state"] == "shed" for each in shed), figures

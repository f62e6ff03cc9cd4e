"""A. The leak matrix: echoes of all levels and delays, and nobody who speaks."""

from dataclasses import dataclass
from typing import Any

import pytest

from discussion_helper.testing.room import Echo, Scene

pytestmark = pytest.mark.anyio

GAINS_DB = (-30.0, -20.0, -10.0, -5.0, 0.0)
DELAYS_S = (0.02, 0.06, 0.12, 0.25, 0.4)
REPLIES = (
    ["There is a lot to tell about that.", "It began a long time ago in the north.", "Nobody knew why."],
    ["After that came a winter with much snow.", "People stayed at home and told each other stories."],
    ["Some of them were true, and most of them were not.", "The one about the ship was the best."],
)
"""Of 7 s each."""


@dataclass(frozen=True)
class Leak:
    """What an echo did."""

    turns: int
    interruptions: int
    ducks: int
    ducked_s: float
    spoken_s: float


async def leak(talk: Any, gain_db: float, delay_s: float, replies: int) -> Leak:
    """Of so many replies; the recogniser would understand the agent."""
    scene = Scene(echo=Echo(gain_db=gain_db, delay_s=delay_s), seed=round(1_000 * delay_s))
    async with talk(scene=scene) as on:
        for number, sentences in enumerate(REPLIES[:replies], 1):
            for sentence in sentences:
                on.overhear(sentence)
            await on.session.speak(" ".join(sentences))
            await on.room.reached("reply", number)
            await on.room.quiet(2.0)
        ducks = [data["ducked_s"] for data in await on.told("decision") if "ducked_s" in data]
        assert replies == len(on.replies)
        return Leak(
            turns=sum(turn.speaker == "user" for turn in on.said),
            interruptions=len(await on.told("interruption")) + sum(reply.interrupted for reply in on.replies),
            ducks=len(ducks),
            ducked_s=sum(ducks),
            spoken_s=sum(reply.duration_s for reply in on.replies),
        )


@pytest.mark.parametrize(("gain_db", "delay_s"), [(-20.0, 0.02), (-10.0, 0.25), (0.0, 0.06)])
async def test_an_echo_is_no_turn_and_interrupts_nothing(talk: Any, gain_db: float, delay_s: float) -> None:
    """Three cells of the matrix, a reply each."""
    found = await leak(talk, gain_db, delay_s, 1)

    assert (0, 0) == (found.turns, found.interruptions)
    assert found.ducks <= 1


@pytest.mark.slow
@pytest.mark.timeout(1_200)
async def test_the_leak_matrix(talk: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """-30 to 0 dB, 20 to 400 ms, three replies each: no turn, no interruption; at most one false duck a minute."""
    found = {(gain, delay): await leak(talk, gain, delay, 3) for gain in GAINS_DB for delay in DELAYS_S}
    minutes = sum(it.spoken_s for it in found.values()) / 60.0
    with capsys.disabled():
        print(
            "\nturns / interruptions / ducks (seconds turned down)\ndB      "
            + "".join(f"{d:>18.2f} s" for d in DELAYS_S)
        )
        for gain in GAINS_DB:
            cells = [found[gain, delay] for delay in DELAYS_S]
            row = (f"{it.turns} / {it.interruptions} / {it.ducks} ({it.ducked_s:.2f})" for it in cells)
            print(f"{gain:6.0f}  " + "".join(f"{cell:>20}" for cell in row))
        print(f"{sum(it.ducks for it in found.values())} ducks in {minutes:.1f} minutes of speech")

    assert {(0, 0)} == {(it.turns, it.interruptions) for it in found.values()}
    assert sum(it.ducks for it in found.values()) <= minutes

"""A6. What the README claims about the echo is done by something."""

import importlib
import re
from pathlib import Path

import pytest

from discussion_helper.voice.overlap import LOUD_DB

README = Path(__file__).parents[2] / "README.md"
CLAIMS = {
    "echo canceller": "audio.echo:EchoCanceller",
    "agent's own echo": "voice.deciding:Decider",
    "above the echo": "voice.overlap:Overlap.go_half_duplex",
    "of the echo removed": "voice.suppression:suppression_db",
    "echo removed": "voice.suppression:suppression_db",
    "echo           ": "audio.echo_level:EchoLevel",
    "an echo that": "voice.suppression:suppression_db",
    "No echo at all": "voice.room_check:__all__",
    "interruptions, echo,": "bench.echo_run:run_echo",
    "their own echo": "bench.echo_run:run_echo",
    "`echo` with devices": "bench.echo_run:run_echo",
    "CutSynthesiser, Echo,": "testing.room:Echo",
    "echo=Echo(": "testing.room:Echo",
    "| echo | voice to 20 dB": "voice.ducking:DuckRule",
}
"""What is said about it, and what does it, or measures it."""


def test_a6_every_claim_about_the_echo_names_what_does_it() -> None:
    """A line of the README that speaks of an echo makes one of the claims that are known here."""
    lines = [line for line in README.read_text("utf-8").splitlines() if re.search(r"\becho\b(?! \")", line, re.I)]

    assert 5 <= len(lines)
    assert [] == [line for line in lines if not any(claim in line for claim in CLAIMS)]


@pytest.mark.parametrize("place", sorted(set(CLAIMS.values())))
def test_a6_what_does_it_is_there(place: str) -> None:
    """No claim is without its code."""
    module, _, path = place.partition(":")
    found: object = importlib.import_module(f"discussion_helper.{module}")
    for name in path.split("."):
        found = getattr(found, name)

    assert found


def test_a6_the_level_that_gets_through_half_duplex_is_the_one_that_is_promised() -> None:
    """The README names it."""
    assert f"{LOUD_DB:.0f} dB above the echo" in README.read_text("utf-8")

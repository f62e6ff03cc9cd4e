"""The wait that is chosen without the conversation that it is measured on."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.bench import recorded_turns

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).parent


@pytest.fixture
def choice(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark, which is no part of the package."""
    monkeypatch.syspath_prepend(str(ROOT))
    yield import_module("benchmarks.endpointing_choice"), recorded_turns
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]


def recorded(turns: Any) -> Any:
    return [turn for name in ("turns", "dialogue") for turn in turns.read_turns(KEPT / f"recorded_{name}.json")]


def test_a_conversation_has_no_say_in_what_it_is_measured_with(choice: Any) -> None:
    """Its own latencies may be anything."""
    measure, turns = choice
    everybody = recorded(turns)
    found = dict.fromkeys(measure.CHOICES, [900.0] * len(everybody))
    found[1.3] = [500.0 if turn.conversation == "ami_ES2003" else 900.0 for turn in everybody]
    found[1.4] = [900.0 if turn.conversation == "ami_ES2003" else 500.0 for turn in everybody]
    choices, latencies = measure.left_out(everybody, found, 12.0)

    assert choices["ami_ES2003"] == 1.4
    assert {
        latency for turn, latency in zip(everybody, latencies, strict=True) if turn.conversation == "ami_ES2003"
    } == {900.0}


def test_the_people_of_one_meeting_are_left_out_together(choice: Any) -> None:
    _, turns = choice
    dialogue = {turn.conversation for turn in recorded(turns) if turn.kind == "dialogue"}

    assert dialogue == {"ami_EN2001", "ami_EN2003", "ami_ES2003", "fillets_cs_barrel", "fillets_nl_cellar"}


def test_held_out_a_tenth_of_the_dialogue_is_cut_off_within_600_ms(choice: Any) -> None:
    measure, turns = choice
    everybody = recorded(turns)
    _, latencies = measure.left_out(everybody, measure.latencies_of(everybody, measure.Delays()), 16.0)
    dialogue = [latency for turn, latency in zip(everybody, latencies, strict=True) if turn.kind == "dialogue"]
    kept = [latency for latency in dialogue if latency is not None]

    assert len(dialogue) - len(kept) <= 0.1 * len(dialogue)
    assert sum(kept) / len(kept) <= 600.0

"""How many of the words that were heard of a cut reply are told, by the benchmark's own measure and real models."""

import importlib.util
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import anyio
import pytest

from discussion_helper.audio.analysis import percentile
from discussion_helper.models import Store, load_manifest

pytestmark = pytest.mark.models

MEASURE = Path(__file__).parents[2] / "benchmarks" / "heard.py"
PLAIN = slice(0, 4)
"""Sentences with a price, a time, a title, a year and a full stop within."""


@pytest.fixture
def measure() -> Iterator[ModuleType]:
    """`benchmarks/heard.py`, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("measure_of_heard", MEASURE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def errors_of(measure: ModuleType, cuts: int) -> list[int]:
    """Words told less words played at so many random places; a recogniser says which were played."""
    voice = Store().path_of(load_manifest().model("joe-medium"))
    reads = anyio.run(measure._read_all, voice)
    known = [read for read in reads if read.understood >= measure.UNDERSTOOD]
    assert 2 * len(known) > len(reads)  # else little is known of what was played
    method = measure.METHODS.index("phoneme durations")
    return [abs(cut.errors[method]) for cut in measure._random_cuts(known, cuts)]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_of_200_cuts_anywhere_95_of_100_are_right_within_a_word(measure: ModuleType) -> None:
    errors = errors_of(measure, 200)

    assert 200 == len(errors)
    assert percentile(sorted(errors), 95) <= 1.0


def test_of_20_cuts_19_are_right_within_a_word(measure: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of few sentences, said the same way each time: else there are runs in which half of them are misheard."""
    monkeypatch.setattr(measure, "TEXTS", measure.TEXTS[PLAIN])
    monkeypatch.setattr(measure, "PiperSynthesiser", partial(measure.PiperSynthesiser, steady=True))
    errors = errors_of(measure, 20)

    assert sum(error <= 1 for error in errors) >= 19, errors
    assert max(errors) <= 2

"""The tuning: one name for each number, and errors that say it."""

from typing import Any

import pytest

from discussion_helper.errors import SettingError
from discussion_helper.tuning import TUNING_NAMES, Tuning
from discussion_helper.turn.activity import Hysteresis
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.voice.ducking import OVER_DB


def test_the_defaults_are_those_of_the_parts() -> None:
    usual, endpointer, hysteresis = Tuning(), SilenceEndpointer(), Hysteresis()

    assert (usual.vad_threshold, usual.vad_release) == (hysteresis._on, hysteresis._off)
    assert (usual.endpoint_silence_s, usual.endpoint_early_s) == (endpointer.silence_s, endpointer.early_s)
    assert (usual.endpoint_max_turn_s, usual.duck_over_db) == (endpointer.max_turn_s, OVER_DB)


def test_a_name_has_a_full_stop_where_the_field_has_its_first_underscore() -> None:
    assert Tuning(vad_threshold=0.6, endpoint_max_turn_s=9) == Tuning.from_mapping(
        {"vad.threshold": 0.6, "endpoint.max_turn_s": 9}
    )
    assert {name: Tuning().as_mapping()[name] for name in TUNING_NAMES} == Tuning().as_mapping()


def test_what_may_not_be_above_a_number_goes_down_with_it_unless_it_is_named() -> None:
    lower = Tuning().changed({"vad.threshold": 0.2, "endpoint.silence_s": 0.04})

    assert (0.2, 0.04) == (lower.vad_release, lower.endpoint_early_s)
    with pytest.raises(SettingError, match=r"^vad\.release: 0\.3 is above vad\.threshold"):
        Tuning().changed({"vad.threshold": 0.2, "vad.release": 0.3})


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"vad.threshold": 1.0}, "vad.threshold: 1.0 is out of range. Use a number between 0 and 1."),
        ({"vad.threshold": float("nan")}, "vad.threshold: nan is out of range"),
        ({"vad.release": "x"}, "vad.release: 'x' is no number"),
        ({"vad.release": True}, "vad.release: True is no number"),
        ({"endpoint.early_s": 0.9}, "endpoint.early_s: 0.9 is above endpoint.silence_s"),
        ({"endpoint.silence_s": 60.0}, "endpoint.silence_s: 60.0 is not below endpoint.max_turn_s"),
        ({"endpoint.max_turn_s": 10**400}, "endpoint.max_turn_s: 1000"),
        ({"endpoint.max_turn_s": 16**5000}, "endpoint.max_turn_s: a number of too many digits is out of range"),
        ({"duck.over_db": -1}, "duck.over_db: -1 is out of range"),
        ({"vad_on": 0.5}, "vad_on: there is no such number. Use vad.threshold, "),
    ],
)
def test_what_is_wrong_is_told_by_the_name_that_was_written(values: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError) as error:
        Tuning.from_mapping(values)

    assert str(error.value).startswith(says)
    assert len(str(error.value)) < 250

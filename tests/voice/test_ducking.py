"""The duck rule: the first voice that is not the agent's."""

import math
from typing import Any

import pytest

from discussion_helper.errors import SettingError
from discussion_helper.voice.ducking import Block, DuckRule

QUIET = Block(near_db=-70.0, expected_db=-70.0, clean_db=-70.0, voiced=False, clean_voiced=False)
ECHO = Block(near_db=-30.0, expected_db=-32.0, clean_db=-62.0, voiced=True, clean_voiced=False)
LOUD = Block(near_db=-22.0, expected_db=-35.0, clean_db=-60.0, voiced=True, clean_voiced=False)
LEFT = Block(near_db=-30.0, expected_db=-32.0, clean_db=-40.0, voiced=True, clean_voiced=True)


def first(*blocks: Block) -> int | None:
    """The block at which it says yes, counted from 1."""
    rule = DuckRule()
    return next((number for number, block in enumerate(blocks, 1) if rule.step(block)), None)


def test_a_talker_above_the_echo_is_known_after_four_blocks() -> None:
    assert 4 == first(*[LOUD] * 10)
    assert 5 == first(LOUD, QUIET, LOUD, LOUD, LOUD)


def test_one_that_the_canceller_leaves_is_known_after_three() -> None:
    assert 3 == first(*[LEFT] * 10)


@pytest.mark.parametrize("block", [QUIET, ECHO])
def test_silence_and_an_echo_as_expected_are_nobody(block: Block) -> None:
    assert first(*[block] * 1000) is None


@pytest.mark.parametrize("sound", [LOUD, LEFT])
def test_a_click_is_nobody(sound: Block) -> None:
    assert first(QUIET, sound, sound, QUIET, QUIET, QUIET, sound, sound, QUIET) is None


@pytest.mark.parametrize("over_db", [math.nan, math.inf, -0.1, 61.0, "x", None, True])
def test_a_bar_that_is_none_is_refused(over_db: Any) -> None:
    with pytest.raises(SettingError, match=r"over_db: .* Use decibels from 0 to 60"):
        DuckRule(over_db=over_db)

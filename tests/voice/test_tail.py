"""What a recogniser is given behind the end of a turn."""

import numpy as np
import pytest

from discussion_helper.voice.tail import with_tail

RATE = 16_000
rng = np.random.default_rng(1)
VOICE = (0.2 * np.sin(np.arange(RATE) / 8)).astype(np.float32)
ROOM = rng.normal(0.0, 0.001, RATE // 20).astype(np.float32)


def test_a_turn_goes_on_with_the_mirror_image_of_the_room() -> None:
    turn = np.concatenate((VOICE, ROOM))

    longer = with_tail(turn)

    assert np.array_equal(longer, np.concatenate((VOICE, ROOM, ROOM[::-1])))
    assert longer.dtype == np.float32


def test_a_voice_that_breaks_off_is_not_played_backwards() -> None:
    assert with_tail(VOICE) is VOICE


@pytest.mark.parametrize(("level_db", "longer"), [(-9.5, False), (-10.5, True)])
def test_a_tail_is_quiet_beside_the_loudest_voice_whatever_the_rest_is_like(level_db: float, longer: bool) -> None:
    turn = np.concatenate((VOICE[:800], np.tile(VOICE[:800] * np.float32(10 ** (level_db / 20)), 20)))

    assert (len(with_tail(turn)) > len(turn)) == longer


def test_what_is_too_short_to_tell_is_left_alone() -> None:
    assert with_tail(ROOM) is ROOM
    assert not len(with_tail(ROOM[:0]))

"""What the microphone hears, compared with what was played."""

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.own_voice import OwnVoice


def sound(seed: int, level: float = 0.1) -> Samples:
    """A second of noise, of which every seed is another voice."""
    return np.asarray(np.random.default_rng(seed).standard_normal(16_000) * level, np.float32)


NOW = 12_800
"""Index up to which the microphone was heard; what was played is known further."""


def hearing(near: Samples, clean: Samples) -> OwnVoice:
    own = OwnVoice()
    for at in range(0, NOW, 160):
        own.push(near[at : at + 160], clean[at : at + 160])
    return own


def is_heard(near: Samples, clean: Samples, far: Samples) -> bool:
    return hearing(near, clean).is_heard(far[NOW - OwnVoice.before : NOW + OwnVoice.after])


def late(samples: Samples, by: int) -> Samples:
    return np.roll(samples, by)


FAR, USER, SILENT = sound(1), sound(2), np.zeros(16_000, np.float32)


def test_an_echo_that_nobody_removed_is_the_own_voice_whatever_its_level_and_delay() -> None:
    for delay in (-1_600, -320, 0, 160, 1_600, 7_500):
        echo = 0.03 * late(FAR, delay)

        assert is_heard(echo, echo, FAR)


def test_another_voice_is_not() -> None:
    assert not is_heard(USER, USER, FAR)


def test_nor_is_anything_while_nothing_was_played() -> None:
    assert not is_heard(FAR, FAR, SILENT)


def test_who_talks_over_an_echo_that_was_removed_is_another_voice() -> None:
    echo = late(FAR, 800)

    assert not is_heard(echo + USER, USER, FAR)


def test_what_is_left_where_nearly_all_was_removed_is_the_own_voice() -> None:
    echo = late(FAR, 800)

    assert is_heard(echo, sound(3, 0.01), FAR)


def lateness(near: Samples, far: Samples) -> int | None:
    """Of what was heard up to the last second of `far`."""
    at = len(far) - OwnVoice.after
    own = OwnVoice()
    for start in range(at - 3_200, at, 160):
        own.push(near[start : start + 160], near[start : start + 160])
    return own.lateness(far[at - OwnVoice.long_before :])


def test_an_echo_that_comes_late_is_found_at_its_place() -> None:
    far = np.concatenate([sound(seed) for seed in range(5, 9)])
    for delay in (-1_600, 0, 4_000, 16_000, 26_000):
        assert delay == lateness(0.03 * late(far, delay) + 0.003 * np.tile(USER, 4), far)


def test_another_voice_is_not_late() -> None:
    far = np.concatenate([sound(seed) for seed in range(5, 9)])

    assert lateness(np.tile(USER, 4), far) is None
    assert lateness(far, np.zeros_like(far)) is None


def test_a_reset_forgets_what_was_heard() -> None:
    own = hearing(FAR, FAR)
    played = FAR[NOW - OwnVoice.before : NOW + OwnVoice.after]
    assert own.is_heard(played)

    own.reset()

    assert not own.is_heard(played)

"""Rendering: silence first, the same sample after a change of the device, and an end that does not click."""

import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.playback import Playback
from discussion_helper.audio.rendering import Rendering

RATE = 48_000


def blocks(rendering: Rendering, number: int, rate: int = RATE, samples: int = 0) -> Samples:
    out = np.empty((number, samples or rate // 100), np.float32)
    for block in out:
        rendering.render(block)
    return out.ravel()


def voice(seconds: float, rate: int = RATE) -> Samples:
    return np.random.default_rng(3).normal(0.0, 0.1, round(seconds * rate)).astype(np.float32)


def test_a_loudspeaker_that_wakes_up_swallows_silence_and_no_first_word() -> None:
    said = voice(0.1)
    playback = Playback(RATE)
    playback.write(1, said)

    heard = blocks(Rendering(playback, RATE, prime_s=0.25), 40)

    assert not heard[: RATE // 4].any()
    np.testing.assert_array_equal(heard[RATE // 4 : RATE // 4 + len(said)], said)


def test_a_reply_goes_on_from_the_same_sample_on_another_stream() -> None:
    said = voice(0.2)
    playback = Playback(RATE)
    playback.write(1, said)

    before = blocks(Rendering(playback, RATE), 7)
    after = blocks(Rendering(playback, RATE), 20)

    np.testing.assert_array_equal(before, said[: len(before)])
    rest = said[len(before) :]
    np.testing.assert_array_equal(after[480 : len(rest)], rest[480:])
    assert (np.abs(after[:480]) <= np.abs(rest[:480])).all()
    assert after[240] == pytest.approx(rest[240] / 2, rel=1e-3)  # it rises


def test_what_is_taken_is_led_to_silence_and_nothing_more_is_taken() -> None:
    playback = Playback(RATE)
    playback.write(1, np.full(RATE, 0.5, np.float32))
    rendering = Rendering(playback, RATE)
    blocks(rendering, 3)

    rendering.finish()
    end = blocks(rendering, 3)

    assert playback.position.samples == 3 * 480
    assert np.abs(np.diff(end, prepend=np.float32(0.5))).max() < 0.01
    assert not end[480:].any()


@pytest.mark.parametrize("samples", [64, 240, 480, 700])
def test_ramps_go_on_from_block_to_block_however_short_these_are(samples: int) -> None:
    playback = Playback(RATE)
    playback.write(1, np.full(RATE, 0.5, np.float32))
    blocks(Rendering(playback, RATE), 3)
    rendering = Rendering(playback, RATE)

    begin = blocks(rendering, 16, samples=samples)
    rendering.finish()
    end = blocks(rendering, 16, samples=samples)

    heard = np.concatenate((begin, end))
    assert np.abs(np.diff(heard, prepend=np.float32(0.0))).max() < 0.005
    assert begin[479] < 0.5 == begin[480]


def test_finished_a_converter_gives_what_it_holds() -> None:
    given = (np.sin(np.arange(RATE) * 2 * np.pi * 440 / RATE) * 0.5).astype(np.float32)
    playback = Playback(RATE)
    playback.write(1, given)
    rendering = Rendering(playback, 16_000)

    heard = blocks(rendering, 50, 16_000)
    rendering.finish()
    rest = blocks(rendering, 10, 16_000)

    taken = playback.position.samples // 3
    sounding = np.flatnonzero(np.concatenate([heard, rest]))
    assert taken <= sounding[-1] + 1 <= taken + 160  # all of it, and the fade
    assert not rest[-160:].any()


@pytest.mark.parametrize("rate", [16_000, 44_100])
def test_a_playback_of_another_rate_is_converted(rate: int) -> None:
    playback = Playback(RATE)
    playback.write(1, (np.sin(np.arange(RATE) * 2 * np.pi * 1_000 / RATE) * 0.5).astype(np.float32))

    heard = blocks(Rendering(playback, rate), 90, rate)[rate // 4 : rate * 3 // 4]

    spectrum = np.abs(np.fft.rfft(heard * np.hanning(len(heard))))
    assert np.argmax(spectrum) * 2 == 1_000
    assert heard.std() == pytest.approx(0.5 / 2**0.5, rel=0.02)


@pytest.mark.parametrize("rate", [16_000, 44_100, RATE])
@pytest.mark.parametrize("block_s", [0.0025, 0.005, 0.01, 0.02])
@pytest.mark.parametrize("finished_after", [1, 2, 3, 5, None])
def test_a_rise_is_whole_however_short_the_blocks_are_and_whenever_it_is_finished(
    rate: int, block_s: float, finished_after: int | None
) -> None:
    playback = Playback(RATE)
    playback.write(1, np.sin(2 * np.pi * 50 * np.arange(RATE) / RATE).astype(np.float32))
    blocks(Rendering(playback, RATE), 9)
    rendering = Rendering(playback, rate)
    samples = round(block_s * rate)

    begin = blocks(rendering, finished_after or 24, rate, samples)
    if finished_after:
        rendering.finish()
    heard = np.concatenate((begin, blocks(rendering, 24, rate, samples)))

    step = np.abs(np.diff(heard, prepend=np.float32(0.0))).max()
    assert step < 3.4 / (0.01 * rate)  # the wave's own are 2 * pi * 50 / rate
    assert np.abs(heard).max() > 0.01


def test_each_block_with_something_of_a_converted_reply_has_a_place_in_it() -> None:
    playback = Playback(RATE)
    playback.write(1, np.full(RATE, 0.5, np.float32))
    rendering = Rendering(playback, 44_100)
    block = np.empty(220, np.float32)

    told = [(rendering.render(block) is not None, bool(block.any())) for _ in range(40)]

    assert all(has_place for has_place, sounds in told if sounds)


@pytest.mark.parametrize("rate", [16_000, 22_050, 44_100])
@pytest.mark.parametrize("level", [0.5, 1.0])
def test_a_converted_reply_that_is_finished_at_a_high_level_does_not_click(rate: int, level: float) -> None:
    playback = Playback(rate)
    playback.write(1, np.full(rate, level, np.float32))
    rendering = Rendering(playback, RATE)

    before = blocks(rendering, 5)
    rendering.finish()
    end = blocks(rendering, 8)

    steps = np.abs(np.diff(end, prepend=before[-1]))
    assert steps.max() < 0.05 * level
    assert not end[-RATE // 100 :].any()


@pytest.mark.parametrize("rate", [RATE, 44_100])
@pytest.mark.parametrize("how", ["halted", "ended"])
def test_what_became_of_a_reply_while_the_device_was_away_does_not_click_when_it_is_back(rate: int, how: str) -> None:
    playback = Playback(RATE)
    playback.write(1, np.full(RATE if how == "halted" else RATE // 10, 0.9, np.float32))
    before = Rendering(playback, rate)
    blocks(before, 10, rate)
    before.finish()
    if how == "halted":
        playback.halt(1)

    heard = blocks(Rendering(playback, rate, prime_s=0.1), 40, rate)

    assert np.abs(np.diff(heard, prepend=np.float32(0.0))).max() < 0.05
    assert not heard[-rate // 100 :].any()

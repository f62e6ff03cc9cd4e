"""What is read off a tape, against what was done to the playback."""

import math

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Item, Played
from discussion_helper.audio.playback import FADE_S, Playback
from discussion_helper.testing.room import Loudspeaker, Microphone, NoEchoPath, Room, Scene, Stalled, cheap_detectors

pytestmark = pytest.mark.anyio
RATE = 48_000
LATEST_S = 0.0301
"""The device's latency, and a block that has just been rendered."""


def tone(seconds: float) -> Samples:
    return np.asarray(0.3 * np.sin(2 * np.pi * 437 * np.arange(round(seconds * RATE)) / RATE), np.float32)


def room(**devices: float) -> Room:
    loudspeaker = Loudspeaker(rate=RATE, ppm=devices.get("ppm", 0.0))
    scene = Scene(noise_dbfs=None, loudspeaker=loudspeaker, microphone=Microphone())
    return Room(scene, detectors=cheap_detectors, echo_path=NoEchoPath)


@pytest.mark.parametrize("ppm", [0.0, 150.0])
async def test_what_is_played_is_on_the_tape_where_the_device_said(ppm: float) -> None:
    async with room(ppm=ppm) as it:
        await anyio.sleep(0.5)
        it.engine.playback.write(1, tone(1.0))
        await anyio.sleep(2.0)
        tape = it.recording

    first = tape.mark("reply").at_s
    assert 0.5 < first < 0.5 + LATEST_S + 0.001
    start = tape.rendered[0].start
    places = np.arange(40_000) * (1.0 + ppm * 1e-6)
    wanted = 0.3 * np.sin(2 * np.pi * 437 * places / RATE)
    assert np.abs(tape.loudspeaker[start : start + 40_000] - wanted).max() < 0.01
    assert RATE == sum(block.count for block in tape.rendered)


async def test_turned_down_halted_and_dead() -> None:
    async with room() as it:
        playback = it.engine.playback
        assert isinstance(playback, Playback)
        playback.write(1, tone(5.0))
        await anyio.sleep(1.0)
        playback.set_gain(0.05)
        await anyio.sleep(1.0)
        playback.halt(1)
        await anyio.sleep(1.0)
        tape = it.recording

    assert 0.02 < tape.ducked_s(1.0) < LATEST_S + 0.01
    assert 1.02 < tape.silent_s(1.0) < 1.0 + LATEST_S + FADE_S
    assert 0.0 == tape.ducked_s(1.5)
    assert 1.5 < tape.ducked_s(0.5, by_db=40.0) < 1.5 + LATEST_S + 0.01
    assert 0 == tape.dead_samples
    assert 2.0 == tape.mark("halt").at_s


async def test_a_pause_is_a_hole_and_counts_as_turned_down() -> None:
    async with room() as it:
        playback = it.engine.playback
        playback.write(1, tone(2.0))
        await anyio.sleep(1.0)
        playback.pause(1)
        await anyio.sleep(0.5)
        playback.resume()
        await anyio.sleep(2.0)
        tape = it.recording

    (hole,) = tape.holes()
    assert 0.02 < tape.ducked_s(1.0) < LATEST_S + 0.005
    assert 0.5 == pytest.approx(len(hole) / RATE, abs=0.02)
    assert 1.0 == pytest.approx(tape.time_s(hole.start), abs=0.04)


async def test_nothing_is_read_off_where_nothing_was_played() -> None:
    async with room() as it:
        await anyio.sleep(0.5)
        tape = it.recording

    assert (math.inf, -math.inf, 0) == (tape.ducked_s(0.1), tape.silent_s(0.1), tape.dead_samples)
    assert not tape.loudspeaker.any()
    assert round(0.5 * RATE) == len(tape.microphone)
    with pytest.raises(ValueError, match="no mark 'reply' number 1"):
        tape.mark("reply")


async def test_a_tape_holds_the_end_of_a_long_talk() -> None:
    scene = Scene(noise_dbfs=None, keep_s=2.0)
    async with Room(scene, detectors=cheap_detectors, echo_path=NoEchoPath) as it:
        await anyio.sleep(3.0)
        it.engine.playback.write(1, tone(1.0))
        await anyio.sleep(2.0)
        tape = it.recording

    assert (3 * RATE, 2 * RATE, 2 * RATE) == (tape.start, len(tape.loudspeaker), len(tape.microphone))
    assert tape.loudspeaker[tape.index(3.1) : tape.index(4.0)].any()
    assert not tape.loudspeaker[: tape.index(3.0)].any()


async def test_a_loudspeaker_that_clips_is_known_to_nobody_but_the_tape() -> None:
    reference: list[float] = []

    def tap(item: Item | None, _now: float) -> None:
        reference.extend([float(np.abs(item.frame.samples).max())] if isinstance(item, Played) else [])

    scene = Scene(noise_dbfs=None, loudspeaker=Loudspeaker(clip_dbfs=-20.0))
    async with Room(scene, detectors=cheap_detectors, echo_path=NoEchoPath, tap=tap) as it:
        it.engine.playback.write(1, tone(0.5))
        await anyio.sleep(1.0)
        tape = it.recording

    assert 0.1 == pytest.approx(float(np.abs(tape.loudspeaker).max()), abs=1e-6)
    assert 0.3 == pytest.approx(max(reference), abs=1e-3)


async def test_a_loudspeaker_that_stalls_goes_on_from_where_it_was() -> None:
    scene = Scene(noise_dbfs=None, troubles=[Stalled("loudspeaker", 0.43, 0.3)])
    async with Room(scene, detectors=cheap_detectors, echo_path=NoEchoPath) as it:
        it.engine.playback.write(1, tone(1.0))
        await anyio.sleep(2.0)
        tape, health = it.recording, it.engine.health()

    (hole,) = tape.holes()
    assert 1 == health.underflows
    assert 0.3 == pytest.approx(len(hole) / RATE, abs=0.011)
    without = np.concatenate((tape.loudspeaker[: hole.start], tape.loudspeaker[hole.end :]))
    heard = np.flatnonzero(without)
    assert np.allclose(tone(1.0)[1:-1], without[heard[0] :][: RATE - 2], atol=1e-3)

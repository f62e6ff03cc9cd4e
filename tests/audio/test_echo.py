"""The echo path on recorded speech in a simulated room: what is removed, what is left, what is expected."""

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import soundfile

from discussion_helper.audio.bands import Bands, Powers
from discussion_helper.audio.echo import EchoCanceller, EchoPath
from discussion_helper.audio.echo_delay import NEAR
from discussion_helper.audio.echo_level import EchoLevel
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.audio.playback import Position
from discussion_helper.testing.room.synthesisers import speech_like

SPEECH = Path(__file__).parents[2] / "audio" / "speech"
RATE = 16_000
LAG = 128


@cache
def agent() -> Samples:
    return recorded("mfa_acoustic_corpus.wav", -20.0)[: 12 * RATE]


@cache
def user() -> Samples:
    return recorded("jfk.wav", -26.0)[: 4 * RATE]


def recorded(name: str, level_db: float) -> Samples:
    samples, rate = soundfile.read(SPEECH / name, dtype="float32")
    assert rate == RATE
    return np.asarray(samples * 10 ** ((level_db - decibels(samples)) / 20), np.float32)


def decibels(samples: Samples) -> float:
    return float(10 * np.log10(np.mean(np.square(samples, dtype=np.float64)) + 1e-12))


def noise(count: int, level_db: float = -65.0) -> Samples:
    return np.asarray(np.random.default_rng(9).standard_normal(count) * 10 ** (level_db / 20), np.float32)


def echo(far: Samples, gain_db: float, delay_s: float) -> Samples:
    """What a room of 0.2 s reverberation makes of it at the microphone."""
    taps = np.random.default_rng(3).standard_normal(3_200) * 10 ** (-3 * np.arange(3_200) / (0.2 * RATE)) * 0.08
    taps[0] = 1.0
    wet = np.convolve(far, taps / np.sqrt(np.square(taps).sum()))
    late = np.concatenate((np.zeros(round(delay_s * RATE)), wet))[: len(far)]
    return np.asarray(late * 10 ** (gain_db / 20), np.float32)


def blocks(samples: Samples) -> list[Samples]:
    return np.split(samples[: len(samples) // 160 * 160], len(samples) // 160)


def cancelled(canceller: EchoCanceller, near: Samples, far: Samples) -> Samples:
    return np.concatenate([canceller.process(n, f) for n, f in zip(blocks(near), blocks(far), strict=True)])


@pytest.mark.parametrize("delay_s", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("gain_db", [0.0, -10.0])
def test_the_echo_is_removed_from_the_first_seconds_on(gain_db: float, delay_s: float) -> None:
    near = echo(agent(), gain_db, delay_s) + noise(len(agent()))

    out = cancelled(EchoCanceller(), near, agent())[LAG:]

    first, later = slice(RATE, 3 * RATE), slice(6 * RATE, None)
    assert decibels(out[first]) < decibels(near[first]) - 15.0
    assert decibels(out[later]) < decibels(near[later]) - 22.0


@pytest.mark.parametrize("gain_db", [-10.0, -20.0])
def test_who_talks_over_the_echo_is_still_there(gain_db: float) -> None:
    start = 6 * RATE
    near = echo(agent(), gain_db, 0.05) + noise(len(agent()))
    near[start : start + len(user())] += user()

    out = cancelled(EchoCanceller(), near, agent())[start + LAG : start + LAG + len(user())]

    kept = float(out @ user() / (user() @ user()))
    assert 20 * np.log10(kept) > -7.0


def test_while_nothing_is_played_the_microphone_passes_unchanged_only_later() -> None:
    near = user()

    out = cancelled(EchoCanceller(), near, np.zeros_like(near))

    np.testing.assert_array_equal(out[LAG:], near[: len(out) - LAG])
    assert round(EchoCanceller.delay_s * RATE) == LAG


def test_sleeping_forgets_nothing_and_waking_repeats_nothing() -> None:
    canceller = EchoCanceller()
    half = 6 * RATE
    pause = np.zeros(5 * RATE, np.float32)
    far = np.concatenate((agent()[:half], pause, agent()[half:]))
    near = echo(far, -10.0, 0.03) + noise(len(far))
    talk = half + 2 * RATE
    near[talk : talk + RATE] += user()[:RATE]

    out = cancelled(canceller, near, far)[LAG:]

    np.testing.assert_array_equal(out[talk : talk + RATE], near[talk : talk + RATE])
    woken = slice(half + len(pause), half + len(pause) + RATE)
    assert decibels(out[woken]) < decibels(near[woken]) - 18.0


def test_a_reset_begins_in_another_room() -> None:
    canceller = EchoCanceller()
    near = echo(agent(), -10.0, 0.02) + noise(len(agent()))
    first = cancelled(canceller, near, agent())

    canceller.reset()

    np.testing.assert_allclose(cancelled(canceller, near, agent()), first, atol=1e-4)


@pytest.mark.parametrize("lengths", [(160, 159), (80, 80), (0, 160)])
def test_blocks_of_another_length_are_refused(lengths: tuple[int, int]) -> None:
    near, far = (np.zeros(length, np.float32) for length in lengths)

    with pytest.raises(ValueError, match="160 samples"):
        EchoCanceller().process(near, far)


class WatchedLevel(EchoLevel):
    """Keeps how far each block was, as a whole, above what was expected, in dB."""

    def __init__(self) -> None:
        super().__init__()
        self.over: list[float] = []

    def step(self, near: Powers, far: Powers, *, only_echo: bool) -> Powers:
        expected = super().step(near, far, only_echo=only_echo)
        self.over.append(10.0 * math.log10(max(float(near.sum()), 1e-12) / float(expected.sum())))
        return expected


def over_expected(path: EchoPath, near: Samples, far: Samples) -> tuple[Samples, Samples]:
    """Run the whole path on a loudspeaker at 16 kHz; the output, and how far each block was above what was expected."""
    out, over = [], []
    for number, (heard, sent) in enumerate(zip(blocks(near), blocks(far), strict=True)):
        for ahead in [0, 1, 2, 3] if number == 0 else [number + 3]:  # rendered 30 ms before the DAC
            due = far[160 * ahead : 160 * ahead + 160]
            if len(due) == 160:
                path.feed(Played(Frame(due.copy(), RATE, 160 * ahead), 50.0 + ahead / 100, Position(1, 0, RATE)))
        assert len(sent) == 160
        out.append(path.clean(heard, 50.0 + number / 100))
        over.append(path.near_db - path.expected_db)
    return np.concatenate(out), np.asarray(over, np.float32)


@pytest.mark.parametrize(("gain_db", "delay_s"), [(0.0, 0.02), (-10.0, 0.02), (-10.0, 0.2), (-20.0, 0.05)])
def test_the_echo_is_never_much_louder_than_expected(gain_db: float, delay_s: float) -> None:
    """As a whole it is neither expected too loud nor too soft.

    The two of four bands that are the most above it are more so, on average: were the four normal and on their own, by
    0.66 of how much each scatters (4 to 7 dB here); it is 1.2 to 1.8 dB.
    """
    near = echo(agent(), gain_db, delay_s) + noise(len(agent()))
    path = EchoPath()
    path._level = level = WatchedLevel()

    out, over = over_expected(path, near, agent())

    audible = np.array([decibels(block) > -55.0 for block in blocks(near)])
    whole = np.array(level.over)[400:][audible[400:]]
    assert np.percentile(over[audible], 99) < 6.0
    assert -4.0 < np.median(whole) < 0.5
    assert 0.0 < np.median(over[400:][audible[400:]]) - np.median(whole) < 2.0
    assert decibels(out[6 * RATE :]) < decibels(near[6 * RATE :]) - 15.0


class Asking(EchoPath):
    """Is asked ten times a second whose voice that is, and looks for no echo by itself."""

    def __init__(self) -> None:
        super().__init__()
        self._delay.is_due = lambda *_: False  # type: ignore[method-assign]

    def clean(self, near: Samples, at_s: float, start: int | None = None) -> Samples:
        out = super().clean(near, at_s, start)
        if self._next % (RATE // 10) == 0:
            self.is_own_voice()
        return out


@pytest.mark.parametrize("delay_s", [0.5, 0.8])
def test_a_late_echo_that_is_known_for_the_agents_voice_is_followed(delay_s: float) -> None:
    path = Asking()
    over_expected(path, (echo(agent(), -20.0, delay_s) + noise(len(agent())))[: 4 * RATE], agent()[: 4 * RATE])

    assert path._reference.delay == pytest.approx((delay_s - NEAR) * RATE, abs=0.02 * RATE)


@pytest.mark.parametrize("delay_s", [0.6, 1.0])
def test_an_echo_over_bluetooth_is_found_and_removed(delay_s: float) -> None:
    near = echo(agent(), -10.0, delay_s) + noise(len(agent()))

    out, over = over_expected(EchoPath(), near, agent())

    later = slice(5 * RATE, None)
    assert decibels(out[later]) < decibels(near[later]) - 15.0
    assert np.percentile(over[500:], 99) < 6.0


def test_who_talks_is_louder_than_the_echo_expected() -> None:
    start = 6 * RATE
    near = echo(agent(), -15.0, 0.05) + noise(len(agent()))
    near[start : start + len(user())] += user()

    _, over = over_expected(EchoPath(), near, agent())

    voiced = np.array([decibels(block) > -35.0 for block in blocks(user())])
    talk = over[start // 160 :][: len(voiced)][voiced]
    assert np.mean(talk > 6.0) > 0.4
    onset = np.convolve(talk[:40] > 6.0, np.ones(3, int), "valid")
    assert (onset == 3).any(), "three blocks in a row within 400 ms"


def step(level: EchoLevel, near: float, far: float, *, only_echo: bool) -> float:
    """Of a single band."""
    return float(level.step(np.array([near]), np.array([far]), only_echo=only_echo)[0])


def expected_while_speaking(level: EchoLevel, echo_power: float, *, seconds: int, user_power: float = 0.0) -> float:
    """Words of 200 ms with pauses as long, played at -20 dBFS; what is expected in the last of them, in dBFS."""
    expected = 0.0
    for number in range(100 * seconds):
        spoken = number % 40 >= 20
        near = 1e-6 + spoken * echo_power + user_power
        expected = step(level, near, 0.01 * spoken, only_echo=spoken and not user_power)
    return 10 * float(np.log10(expected))


def test_talking_over_it_hardly_raises_what_is_expected() -> None:
    level = EchoLevel(1)
    before = expected_while_speaking(level, 0.001, seconds=10)

    expected_while_speaking(level, 0.001, seconds=1, user_power=0.01)
    after = expected_while_speaking(level, 0.001, seconds=1)

    assert before == pytest.approx(-30.0, abs=2.0)
    assert after < before + 3.0


def test_a_loudspeaker_turned_up_or_down_is_learnt() -> None:
    level = EchoLevel(1)

    assert expected_while_speaking(level, 0.001, seconds=10) == pytest.approx(-30.0, abs=2.0)
    assert expected_while_speaking(level, 0.02, seconds=10) == pytest.approx(-17.0, abs=2.0)
    assert expected_while_speaking(level, 0.0005, seconds=20) == pytest.approx(-33.0, abs=2.0)


def test_with_headphones_nothing_is_expected_after_the_first_second() -> None:
    level = EchoLevel(1)
    heard = [step(level, 1e-6, 0.01 * (number % 40 < 30), only_echo=False) for number in range(100)]

    assert 10 * np.log10(max(heard[90:])) < -45.0


@pytest.mark.parametrize("noise_dbfs", [-90.0, -74.0, -55.0])
@pytest.mark.parametrize("slope", [0.0, 0.9], ids=["white", "dull"])
def test_the_noise_of_a_microphone_is_no_echo_however_it_flickers(noise_dbfs: float, slope: float) -> None:
    """Of thirty people with headphones, who talk 1.3 s into the first reply, each is far above what is expected."""
    played = speech_like(1.3, 16_000, seed=3).reshape(-1, 160)
    expected = []
    for seed in range(30):
        white = np.random.default_rng(seed).normal(0.0, 10 ** (noise_dbfs / 20), played.size + 1)
        noise = (white[1:] + slope * white[:-1]).astype(np.float32).reshape(-1, 160)
        level, near, far = EchoLevel(), Bands(), Bands()
        for heard, said in zip(noise, played, strict=True):
            foreseen = level.step(near.push(heard), far.push(said), only_echo=False)
        expected.append(10 * np.log10(foreseen.sum()))

    assert max(expected) < max(-45.0, noise_dbfs + 6.0)


@pytest.mark.parametrize(("late", "least_db"), [(2, -60.0), (25, -55.0)])
def test_a_soft_echo_is_expected_where_a_reply_begins_softly(late: int, least_db: float) -> None:
    """Replies of 3 s with 1 s between them, the echo 15 dB above the noise; of their first 200 ms it is below it."""
    level = EchoLevel(1)
    played = [0.0 if at % 400 >= 300 else 2e-4 if at % 400 < 20 else 0.01 for at in range(2_000)]
    heard = [3e-7 + (1e-3 * played[at - late] if at >= late else 0.0) for at in range(2_000)]

    expected = [step(level, near, far, only_echo=False) for near, far in zip(heard, played, strict=True)]

    assert 10 * np.log10(expected[1_600 + late + 20]) > least_db


def test_an_echo_that_was_removed_before_is_not_forgotten_for_the_half_second_in_which_it_is_too_soft() -> None:
    """40 blocks late, and the first 200 ms of the reply below the noise."""
    level = EchoLevel(1)
    played = [0.0 if at % 400 >= 300 else 2e-4 if at % 400 < 20 else 0.01 for at in range(2_000)]
    heard = [3e-7 + (1e-3 * played[at - 40] if at >= 40 else 0.0) for at in range(2_000)]

    expected = [step(level, near, far, only_echo=near > 1e-6) for near, far in zip(heard, played, strict=True)]

    assert 10 * np.log10(expected[1_600 + 40 + 20]) > -54.0


def test_who_puts_on_headphones_is_heard_after_two_seconds() -> None:
    level = EchoLevel(1)
    expected_while_speaking(level, 0.001, seconds=10)
    heard = [step(level, 1e-6, 0.01 * (number % 40 < 30), only_echo=False) for number in range(220)]

    assert 10 * np.log10(max(heard[200:])) < -45.0


def test_samples_that_are_no_numbers_are_silence() -> None:
    path = EchoPath()
    path.clean(np.full(160, np.nan, np.float32), 1.0)

    out = [path.clean(np.full(160, 0.1, np.float32), 1.0 + number / 100) for number in range(1, 4)]

    assert np.isfinite(np.concatenate(out)).all()
    assert path.near_db == pytest.approx(-20.0, abs=0.1)

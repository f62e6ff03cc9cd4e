"""What a room does to sound: echo, clocks, levels, noise; each exact to the sample."""

import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import SettingError
from discussion_helper.testing.room import Echo, Loudspeaker, Scene
from discussion_helper.testing.room.acoustics import Acoustics
from discussion_helper.testing.room.echo import Convolver, response
from discussion_helper.testing.room.interpolator import Interpolator
from discussion_helper.testing.room.noise import Noise
from discussion_helper.testing.room.track import Track

RATE = 48_000


def noise(count: int, seed: int = 3) -> Samples:
    return np.asarray(np.random.default_rng(seed).standard_normal(count) * 0.1, np.float32)


def heard(scene: Scene, played: Samples, *, said: tuple[int, Samples] | None = None) -> Samples:
    """What is at the microphone of a room."""
    track = Track()
    track.write(0, played)
    room = Acoustics(scene, track)
    if said is not None:
        room.say(*said)
    return room.read(0, len(played)).copy()


def test_the_echo_of_a_cable_is_the_loudspeaker_later_and_softer_to_the_sample() -> None:
    played = noise(RATE)
    scene = Scene(echo=Echo(gain_db=-12.0, delay_s=0.0733), wetness=0.0, noise_dbfs=None)

    out = heard(scene, played)

    late = round(0.0733 * RATE)
    assert np.array_equal(np.zeros(late, np.float32), out[:late])
    assert np.allclose(played[:-late] * 10 ** (-12 / 20), out[late:], atol=1e-7)


def test_reverberation_keeps_the_level_and_is_the_convolution_with_the_response() -> None:
    played = np.concatenate((noise(RATE), np.zeros(RATE, np.float32)))
    scene = Scene(echo=Echo(gain_db=-10.0, delay_s=0.0), wetness=0.3, noise_dbfs=None, seed=5)

    out = heard(scene, played)

    taps = response(RATE, reverberation_s=0.25, wetness=0.3, seed=5)
    size = 1 << (len(played) + len(taps)).bit_length()
    whole = np.fft.irfft(np.fft.rfft(played, size) * np.fft.rfft(taps, size), size)[: len(played)]
    assert np.allclose(whole * 10 ** (-10 / 20), out, atol=1e-5)
    steady = slice(RATE // 2, RATE)
    assert -10.0 == pytest.approx(20 * np.log10(np.std(out[steady]) / np.std(played[steady])), abs=0.5)


def test_an_echo_changes_when_it_is_to_and_not_a_sample_earlier() -> None:
    played = np.full(RATE, 0.5, np.float32)
    scene = Scene(echo=(Echo(0.0, None), Echo(0.3001, -6.0, 0.1), Echo(0.7, 0.0, 0.1)), wetness=0.0, noise_dbfs=None)

    out = heard(scene, played)

    first, then = round(0.3001 * RATE), round(0.7 * RATE)
    assert not out[:first].any()
    assert np.allclose(0.5 * 10 ** (-6 / 20), out[first:then])
    assert np.allclose(0.5, out[then:])


def test_a_silent_room_costs_no_convolution_until_it_sounds_again() -> None:
    taps = noise(1_000)
    convolver = Convolver(taps, 100)
    click = np.zeros(100, np.float32)
    click[7] = 1.0

    assert convolver.process(np.zeros(100, np.float32)) is None
    first = convolver.process(click)
    rest = [convolver.process(np.zeros(100, np.float32)) for _ in range(20)]

    assert first is not None
    whole = np.concatenate([first, *[block for block in rest if block is not None]])
    assert np.allclose(taps, whole[7:1_007], atol=1e-6)
    assert rest[-1] is None


def test_a_line_is_added_where_it_is_and_the_microphone_clips() -> None:
    said = np.full(1_000, 0.7, np.float32)
    scene = Scene(echo=Echo(gain_db=0.0, delay_s=0.0), wetness=0.0, noise_dbfs=None)

    out = heard(scene, np.full(RATE // 10, 0.5, np.float32), said=(1_234, said))

    assert np.allclose(1.0, out[1_234:2_234])
    assert np.allclose(0.5, out[:1_234])
    assert np.allclose(0.5, out[2_234:])


@pytest.mark.parametrize("colour", ["white", "pink", "brown"])
def test_noise_has_its_level_and_falls_with_its_colour(colour: str) -> None:
    samples = Noise(RATE, -50.0, colour, 1)  # type: ignore[arg-type]
    out = np.concatenate([samples.read(480) for _ in range(800)]).astype(np.float64)

    assert -50.0 == pytest.approx(10 * np.log10(np.mean(np.square(out))), abs=0.2)
    power = np.square(np.abs(np.fft.rfft(out)))
    hertz = np.fft.rfftfreq(len(out), 1 / RATE)
    low, high = (power[(hertz > f) & (hertz < 1.2 * f)].mean() for f in (100.0, 6_400.0))
    assert {"white": 0.0, "pink": 18.1, "brown": 36.1}[colour] == pytest.approx(10 * np.log10(low / high), abs=3.0)


@pytest.mark.parametrize("step", [1.0, 1.0 + 100e-6, 48_000 / 44_100, 3.0])
def test_a_tone_on_another_clock_is_the_same_tone(step: float) -> None:
    track, hertz = Track(), 1_000.0
    track.write(0, np.sin(2 * np.pi * hertz * np.arange(3 * RATE) / RATE).astype(np.float32))
    reader = Interpolator(step)

    out = reader.read(track, 500.25, 10_000)

    wanted = np.sin(2 * np.pi * hertz * (500.25 + step * np.arange(10_000)) / RATE)
    assert np.abs(out - wanted).max() < 1e-3


def test_a_slower_clock_lets_no_alias_through() -> None:
    track = Track()
    track.write(0, np.sin(2 * np.pi * 15_000.0 * np.arange(RATE) / RATE).astype(np.float32))

    assert np.abs(Interpolator(3.0).read(track, 500.0, 10_000)).max() < 1e-3


def test_a_track_forgets_what_is_older_than_it_keeps() -> None:
    track = Track(1_000)
    for start in range(0, 200_000, 100):
        track.write(start, np.full(100, start, np.float32))

    assert np.array_equal(np.repeat(np.arange(199_000, 200_000, 100), 100), track.read(199_000, 1_000))
    assert not track.read(0, 100).any()
    track.cut(199_950)
    assert np.array_equal([199_900.0] * 50 + [0.0] * 50, track.read(199_900, 100))


def test_scenes_refuse_devices_that_cannot_be() -> None:
    with pytest.raises(SettingError, match=r"latency_s: 0.0 is out of range"):
        Loudspeaker(latency_s=0.0)
    with pytest.raises(SettingError, match=r"rate: 10 is out of range"):
        Loudspeaker(rate=10)


@pytest.mark.parametrize("echoes", [1, 2])
def test_there_is_no_echo_before_the_first_one(echoes: int) -> None:
    played = np.full(RATE, 0.5, np.float32)
    echo = (Echo(0.5003, -6.0, 0.1), Echo(0.8, 0.0, 0.1))[:echoes]

    out = heard(Scene(echo=echo, wetness=0.0, noise_dbfs=None), played)

    first = round(0.5003 * RATE)
    assert not out[:first].any()
    assert np.allclose(0.5 * 10 ** (-6 / 20), out[first : round(0.8 * RATE)])
    assert np.allclose(0.5 * (1.0 if echoes == 2 else 10 ** (-6 / 20)), out[round(0.8 * RATE) :])

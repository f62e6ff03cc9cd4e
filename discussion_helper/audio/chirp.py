"""The chirp: a short sound that measures a room, and what a microphone's recording of it says."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.resample import resample

__all__ = [
    "CHIRP_S",
    "LATEST_S",
    "LEAST_SHARE",
    "LEVEL_DBFS",
    "NOISE_SPAN_S",
    "RATE",
    "EchoFound",
    "chirp",
    "find_echo",
    "level_dbfs",
]

RATE = 16_000
"""Hertz of the analysis: what the echo canceller and the recogniser hear."""
LEVEL_DBFS = -20.0
"""Root mean square while it sounds: as loud as the agent's voice."""
LATEST_S = 1.0
"""The longest way from the loudspeaker to the microphone that is looked for."""
LEAST_SHARE = 0.03
"""Of the sweeps in what is heard, for an echo. Measured in 108 simulated rooms (echo 0 to -40 dB, 5 to 600 ms late,
noise at -80 and -50 dBFS, rates 16, 44.1 and 48 kHz, clocks 200 ppm apart, reverberation 0 and 0.25 s) 0.042 and more,
0.034 at -39 dB in noise at -50 dBFS and reverberation of 0.1 s; in 479 stretches of recorded speech and noise without
an echo 0.027 at most, in 200 of white noise 0.007."""
_SPREAD_S = 0.003
"""Delays of the sweeps that differ by more are those of three accidents."""

_SWEEP_S = 0.2
_NOISE_S = 0.6
_GAP_S = 0.05
_LOW_HZ, _HIGH_HZ = 200.0, 7_000.0
_EDGE_S = 0.01
_STARTS_S = (0.0, _SWEEP_S + _GAP_S, 2 * (_SWEEP_S + _GAP_S) + _NOISE_S + _GAP_S)
"""Of the three sweeps; the noise is between the second one and the third."""
_NOISE_START_S = 2 * (_SWEEP_S + _GAP_S)
CHIRP_S = _STARTS_S[-1] + _SWEEP_S
NOISE_SPAN_S = (_NOISE_START_S + _NOISE_S / 2, _NOISE_START_S + _NOISE_S)
"""Where in the chirp the canceller is judged: on noise, which it learns from as it does from speech. On sweeps alone
it took away 0 dB of some rooms' echo and 30 of others'."""
_SLACK = 8
"""Samples by which a sweep may come early or late: 370 ppm of drift over the whole chirp."""
_STRAY = 80
"""Samples, 5 ms, within which each sweep's own delay is looked for."""
_ROOM = 720
"""Samples, 45 ms: so much of the room's answer counts as echo. It has to be shorter than a gap."""

_Power = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EchoFound:
    """How the chirp came back.

    `delay_s`: from its first sample to that sample in the recording; `spread_s`: the longest delay of a sweep less the
    shortest. `gain_db`: power of the echo, with 45 ms of the room's answer, over that of the chirp. `share`: of the
    sweeps in what was heard meanwhile, 0.0 to 1.0.
    """

    delay_s: float
    spread_s: float
    gain_db: float
    share: float

    @property
    def heard(self) -> bool:
        """It is an echo, and no accident of the noise."""
        return self.share >= LEAST_SHARE and self.spread_s <= _SPREAD_S


def chirp(rate: int) -> Samples:
    """1.35 s at `rate` hertz: two sweeps from 200 to 7000 Hz, noise, and another sweep. Always the same."""
    sound = np.zeros(round(CHIRP_S * RATE))
    for start_s in _STARTS_S:
        sound[_span(start_s, _SWEEP_S)] = _sweep()
    noise = np.random.default_rng(1).normal(size=round(_NOISE_S * RATE) + 1)
    sound[_span(_NOISE_START_S, _NOISE_S)] = _level(noise[1:] + 0.9 * noise[:-1])
    return resample(sound.astype(np.float32), RATE, rate)


def find_echo(heard: Samples, start: int, *, earliest_s: float = 0.0, latest_s: float = LATEST_S) -> EchoFound:
    """Look for the chirp in `heard`, mono at 16 kHz, which began to play at its sample `start` (may be negative).

    The delay is looked for from `earliest_s` to `latest_s`; what comes before `start` is taken for the noise. Raises
    ValueError if the recording ends before the chirp can have been heard whole.
    """
    first, last = start + round(earliest_s * RATE), start + round(latest_s * RATE)
    if first < 0 or last + round(CHIRP_S * RATE) + _ROOM > len(heard):
        raise ValueError(f"The recording of {len(heard)} samples does not hold the chirp from {first} to {last}.")
    power, share = _matched(heard.astype(np.float64))
    offsets = [round(start_s * RATE) for start_s in _STARTS_S]
    # The median of the three: neither a bang that looks like one sweep nor one that was lost changes the place.
    together = np.median([_widest(share[first + offset : last + offset]) for offset in offsets], axis=0)
    place = first + int(np.argmax(together))
    places = [_peak(power, place + offset) for offset in offsets]
    delays = [peak - offset - start for peak, offset in zip(places, offsets, strict=True)]
    noise = power[: max(0, start - round(_SWEEP_S * RATE))]
    return EchoFound(
        delay_s=float(np.median(delays)) / RATE,
        spread_s=(max(delays) - min(delays)) / RATE,
        gain_db=_gain_db(power, places, float(np.mean(noise)) if len(noise) else 0.0),
        share=float(together.max()),
    )


def level_dbfs(samples: Samples) -> float:
    """Root mean square in dBFS; -120 for silence. Of blocks of 10 ms the median counts: a click is no noise."""
    blocks = samples[: len(samples) // 160 * 160].astype(np.float64).reshape(-1, 160)
    return _decibels(float(np.median(np.mean(blocks**2, axis=1)))) if len(blocks) else -120.0


def _span(start_s: float, length_s: float) -> slice:
    start = round(start_s * RATE)
    return slice(start, start + round(length_s * RATE))


def _sweep() -> _Power:
    """A logarithmic sweep with soft ends."""
    seconds = np.arange(round(_SWEEP_S * RATE)) / RATE
    octaves = np.log(_HIGH_HZ / _LOW_HZ)
    phase = 2.0 * np.pi * _LOW_HZ * _SWEEP_S / octaves * np.expm1(octaves * seconds / _SWEEP_S)
    edge = np.minimum(seconds, seconds[::-1]) / _EDGE_S
    return _level(np.sin(phase) * np.sin(0.5 * np.pi * np.minimum(edge, 1.0)) ** 2)


def _level(sound: _Power) -> _Power:
    level: _Power = sound / np.sqrt(np.mean(sound**2)) * 10.0 ** (LEVEL_DBFS / 20.0)
    return level


def _matched(heard: _Power) -> tuple[_Power, _Power]:
    """At each place of the recording: the power of the sweep there, 1.0 where it is as loud as it was played, and its
    share in everything that is heard as long as a sweep lasts.

    Both halves of the analytic sweep are looked for, so that the phase does not matter.
    """
    sweep = _sweep()
    own = float(np.sum(sweep**2))
    size = 1 << (len(heard) + len(sweep)).bit_length()
    spectrum = np.fft.fft(sweep, size)
    spectrum[size // 2 + 1 :] = 0.0  # no negative frequencies: the inverse of what is left is the envelope
    found = np.fft.ifft(np.fft.fft(heard, size) * np.conj(spectrum))[: len(heard)]
    power: _Power = np.abs(2.0 * found / own) ** 2
    energy = np.concatenate([[0.0], np.cumsum(np.pad(heard**2, (0, len(sweep))))])
    span = energy[len(sweep) : len(sweep) + len(heard)] - energy[: len(heard)]
    return power, power * own / np.maximum(span, 1e-9)


def _widest(power: _Power) -> _Power:
    """At each place the greatest power that is at most `_SLACK` samples away."""
    padded = np.pad(power, _SLACK)
    widest: _Power = np.lib.stride_tricks.sliding_window_view(padded, 2 * _SLACK + 1).max(axis=1)
    return widest


def _peak(power: _Power, place: int) -> int:
    low = max(0, place - _STRAY)
    return low + int(np.argmax(power[low : place + _STRAY + 1]))


def _gain_db(power: _Power, places: list[int], noise: float) -> float:
    """All that came within `_ROOM` of the sweeps, less the noise in it; the direct way alone if that is lost in it."""
    own = _matched(np.pad(_sweep(), (_SLACK, _ROOM)))[0][: _SLACK + _ROOM].sum()
    answers = [power[max(0, place - _SLACK) : place + _ROOM] for place in places]
    whole = np.mean([answer.sum() - noise * len(answer) for answer in answers]) / own
    direct = np.mean([power[place] for place in places])
    return _decibels(float(max(whole, direct)))


def _decibels(power: float) -> float:
    return float(10.0 * np.log10(max(power, 1e-12)))

"""Sounds that are no speech: silence, noise, a fan, breath, keys and music, for as long as is wanted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discussion_helper.audio.analysis import at_level
from discussion_helper.audio.clips import Clip
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples

__all__ = ["BREATHS", "BREATH_CLIP", "LEVELS", "PIECE_S", "RATE", "Piece", "no_speech", "sound_sources"]

RATE = 16_000
PIECE_S = 6.0
BREATH_CLIP = "mfa_breaths.flac"
BREATHS = ((1.0, 1.8), (2.2, 3.4), (5.75, 6.5), (10.15, 10.8))
"""Seconds of that recording in which its speaker breathes in or out, and says nothing."""
LEVELS: Mapping[str, tuple[float, float]] = {
    "silence": (-90.0, -60.0),
    "noise": (-50.0, -25.0),
    "fan": (-50.0, -25.0),
    "breath": (-45.0, -22.0),
    "music": (-40.0, -20.0),
    "recorded noise": (-45.0, -20.0),
    "recorded breath": (-45.0, -20.0),
    "recorded music": (-40.0, -18.0),
}
"""dBFS between which each kind is drawn: from hardly there to as loud as somebody who speaks near the microphone."""
_FADE_S = 0.02
_NOTES = (0, 2, 4, 5, 7, 9, 11, 12)

_Source = Callable[[np.random.Generator], Samples]


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """`samples` at 16 kHz, what they are, and how loud, in dBFS."""

    kind: str
    name: str
    level_dbfs: float
    samples: Samples


def no_speech(sources: Mapping[str, Sequence[tuple[str, _Source]]], *, seconds: float, seed: int) -> Iterator[Piece]:
    """Pieces of 6 s, the kinds in turn, each source at a level of its own; the same for the same seed."""
    random = np.random.default_rng(seed)
    kinds = [kind for kind, some in sources.items() if some]
    for number in range(max(1, round(seconds / PIECE_S))):
        kind = kinds[number % len(kinds)]
        name, source = sources[kind][int(random.integers(len(sources[kind])))]
        level = float(random.uniform(*LEVELS[kind]))
        yield Piece(kind, name, level, _fitted(source(random), level, random))


def sound_sources(clips: Sequence[Clip]) -> dict[str, list[tuple[str, _Source]]]:
    """By kind: those that are made here, and what `clips` hold of noise, music and breath. Blocks while it loads."""
    found: dict[str, list[tuple[str, _Source]]] = {
        "silence": [("hiss", lambda random: _coloured(random, 0.0))],
        "noise": [(name, _of_slope(slope)) for name, slope in (("white", 0.0), ("pink", -0.5), ("brown", -1.0))],
        "fan": [("fan", _fan)],
        "breath": [("breath", _breath)],
        "music": [("melody", _melody), ("chords", _chords)],
    }
    for clip in clips:
        if clip.kind in ("noise", "music"):
            found.setdefault(f"recorded {clip.kind}", []).append((clip.path.name, _recorded(clip.path)))
        elif clip.path.name == BREATH_CLIP:
            found.setdefault("recorded breath", []).append((clip.path.name, _recorded(clip.path, BREATHS)))
    return found


def _fitted(samples: Samples, level_dbfs: float, random: np.random.Generator) -> Samples:
    """6 s of it at that level: cut out of what is longer, and what is shorter comes again and again, with pauses."""
    length = round(PIECE_S * RATE)
    if len(samples) >= length:
        at = int(random.integers(len(samples) - length + 1))
        return _levelled(_faded(samples[at : at + length]), level_dbfs)
    once, out, at = _levelled(_faded(samples), level_dbfs), np.zeros(length, np.float32), 0
    while at < length:
        piece = once[: length - at]
        out[at : at + len(piece)] = piece
        at += len(once) + int(random.uniform(0.1, 1.5) * RATE)
    return out


def _levelled(samples: Samples, level_dbfs: float) -> Samples:
    rms = float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))
    return at_level(samples, 20.0 * float(np.log10(rms)), level_dbfs) if rms else samples


def _faded(samples: Samples) -> Samples:
    ramp = np.linspace(0.0, 1.0, min(round(_FADE_S * RATE), len(samples) // 2), dtype=np.float32)
    faded = samples.copy()
    if len(ramp):
        faded[: len(ramp)] *= ramp
        faded[-len(ramp) :] *= ramp[::-1]
    return faded


def _recorded(path: Path, spans: Sequence[tuple[float, float]] = ()) -> _Source:
    whole = load(path, RATE).samples
    parts = [whole[round(start * RATE) : round(end * RATE)] for start, end in spans] or [whole]
    return lambda random: parts[int(random.integers(len(parts)))]


def _of_slope(slope: float) -> _Source:
    return lambda random: _coloured(random, slope)


def _coloured(random: np.random.Generator, slope: float, *, seconds: float = PIECE_S) -> Samples:
    count = round(seconds * RATE)
    spectrum = np.fft.rfft(random.standard_normal(count))
    hertz = np.fft.rfftfreq(count, 1.0 / RATE)
    return np.asarray(np.fft.irfft(spectrum * (hertz >= 20.0) * np.maximum(hertz, 20.0) ** slope, count), np.float32)


def _fan(random: np.random.Generator) -> Samples:
    """Brown noise with the hum of a motor and its blades."""
    noise = _coloured(random, -1.0)
    noise /= np.float32(np.std(noise))
    at_s = np.arange(len(noise)) / RATE
    base = random.uniform(45.0, 120.0)
    hum = sum(np.sin(2 * np.pi * base * n * at_s + random.uniform(0, 6.3)) / n for n in range(1, 8))
    return np.asarray(noise + random.uniform(0.2, 1.5) * hum, np.float32)


def _breath(random: np.random.Generator) -> Samples:
    """Noise between 300 Hz and 4 kHz that swells and fades, louder where a throat resonates."""
    seconds = random.uniform(0.5, 1.8)
    count = round(seconds * RATE)
    hertz = np.fft.rfftfreq(count, 1.0 / RATE)
    shape = np.exp(-np.square((hertz - random.uniform(600, 1500)) / 500)) + 0.2 * ((hertz > 300) & (hertz < 4000))
    noise = np.fft.irfft(np.fft.rfft(random.standard_normal(count)) * shape, count)
    return np.asarray(noise * np.sin(np.linspace(0.0, np.pi, count)) ** 1.5, np.float32)


def _tone(hertz: float, seconds: float, overtones: int) -> Samples:
    at_s = np.arange(round(seconds * RATE)) / RATE
    vibrato = 0.01 * np.sin(2 * np.pi * 5.5 * at_s)
    wave = sum(np.sin(2 * np.pi * hertz * n * at_s + n * vibrato * 20) / n for n in range(1, overtones + 1))
    return np.asarray(wave * np.minimum(1.0, at_s / 0.03) * np.exp(-1.5 * at_s), np.float32)


def _melody(random: np.random.Generator) -> Samples:
    base, length = random.uniform(150.0, 400.0), random.uniform(0.15, 0.6)
    steps = random.choice(_NOTES, round(PIECE_S / length) + 1)
    return np.concatenate([_tone(base * 2 ** (step / 12), length, 6) for step in steps])


def _chords(random: np.random.Generator) -> Samples:
    base = random.uniform(90.0, 220.0)
    bars = [sum(_tone(base * 2 ** ((root + step) / 12), 1.5, 8) for step in (0, 4, 7)) for root in (0, 5, 7, 0, 9)]
    return np.concatenate([np.asarray(bar, np.float32) for bar in bars])

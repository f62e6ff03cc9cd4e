"""Edges: what of a synthesised stretch is sound, the pauses around it, and its level."""

import re

import numpy as np
from numpy.typing import NDArray

from discussion_helper.audio.frames import Samples

__all__ = ["LEAD_S", "begun", "ended", "even", "gain_of", "pause_after", "pieces", "shape"]

LEAD_S = 0.01
"""Kept before the first sound: enough for a soft attack."""

_SILENT = 10 ** (-57 / 20)
"""RMS over 5 ms, full scale 1.0. Measured: Piper's silence -66 to -97 dB, the end of an "f" or "s" -44 to -55."""

_PEAK = 0.9

_WINDOW_S = 0.005

_PAUSES_S = {".": 0.18, "!": 0.18, "?": 0.18, "。": 0.18, ":": 0.14, ";": 0.12, ",": 0.10}
"""Silence after a stretch, by the mark that ends it: short, since playback adds its own, and a listener takes more
than 200 ms within a reply for its end."""

_BARE_PAUSE_S = 0.04
_FADE_S = 0.005

_BREAK = re.compile(r"[.!?;:,。！？、，；：।؟](?=\s)|[。！？、，；：]|\s")


def pause_after(text: str) -> float:
    """Seconds of silence that follow `text`, by its last mark."""
    return _PAUSES_S.get(text.rstrip()[-1:], _BARE_PAUSE_S)


def shape(samples: Samples, rate: int, *, pause_s: float) -> tuple[Samples, int]:
    """`samples` from just before the first sound, with `pause_s` of silence after the last, and how many lie before.

    If all is silent, nothing is left.
    """
    start = begun(samples, rate)
    if start is None:
        return samples[:0], len(samples)
    return ended(samples[start:], rate, pause_s=pause_s), start


def begun(samples: Samples, rate: int) -> int | None:
    """The sample just before the first sound; None if all is silent."""
    sounding, window = _sounding(samples, rate)
    return max(0, int(sounding[0]) * window - round(LEAD_S * rate)) if sounding.size else None


def ended(samples: Samples, rate: int, *, pause_s: float) -> Samples:
    """`samples` up to just behind the last sound, and `pause_s` of silence after it."""
    sounding, window = _sounding(samples, rate)
    fade = round(_FADE_S * rate)
    kept = samples[: (sounding[-1] + 1) * window + fade if sounding.size else 0].copy()
    ramp = min(fade, len(kept))
    kept[len(kept) - ramp :] *= np.linspace(1, 0, ramp, dtype=np.float32)
    return np.concatenate([kept, np.zeros(round(pause_s * rate), np.float32)])


def _sounding(samples: Samples, rate: int) -> tuple[NDArray[np.intp], int]:
    """Which windows hold a sound, and how long they are."""
    window = max(1, round(_WINDOW_S * rate))
    padded = np.pad(samples, (0, -len(samples) % window)).reshape(-1, window)
    return np.flatnonzero(np.mean(np.square(padded), axis=1) > _SILENT**2), window


def even(samples: Samples, *, level: float) -> Samples:
    """`samples` brought to an RMS of `level` where they sound, full scale 1.0, without a peak above 0.9."""
    return samples * np.float32(gain_of(samples, level=level))


def gain_of(samples: Samples, *, level: float) -> float:
    """What `even` multiplies them with; 1.0 if all is silent."""
    loud = samples[np.abs(samples) > _SILENT]
    if not loud.size:
        return 1.0
    return min(level / float(np.sqrt(np.mean(np.square(loud)))), _PEAK / float(np.abs(loud).max()))


def pieces(text: str, *, longest: int) -> list[str]:
    """`text` in stretches of at most `longest` characters, parted at the last mark, else the last space, that fits."""
    cut: list[str] = []
    while len(text) > longest:
        breaks = [match.end() for match in _BREAK.finditer(text, longest // 4, longest)]
        marks = [end for end in breaks if not text[end - 1].isspace()]
        end = (marks or breaks or [longest])[-1]
        cut.append(text[:end].strip())
        text = text[end:].lstrip()
    return [piece for piece in (*cut, text) if piece]

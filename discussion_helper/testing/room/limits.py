"""The limits of a room: what its values may be; what is not so raises SettingError with the name of its field."""

import math
from collections.abc import Sequence

import numpy as np

from discussion_helper.audio.analysis import Voiced, voiced
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.bounds import check_number, check_one_of, check_whole
from discussion_helper.errors import SettingError

__all__ = [
    "LONGEST_S",
    "LOUDEST",
    "check_audible",
    "check_each",
    "check_lasting",
    "check_rate",
    "check_samples",
    "check_seconds",
    "check_seed",
    "check_type",
    "check_which",
]

LONGEST_S = 1e6
"""No talk in a room lasts so long."""
LOUDEST = 10.0
"""More than 20 dB beyond full scale are samples of 16 bits that nobody divided."""
_RATES = 8_000, 384_000


def check_rate(name: str, value: object) -> None:
    """Hertz."""
    check_whole(name, value, *_RATES, unit="hertz, a whole number")


def check_seconds(name: str, value: object, *, most: float = LONGEST_S) -> None:
    """From 0 on."""
    check_number(name, value, 0.0, most, unit="seconds")


def check_lasting(name: str, value: object) -> None:
    """Seconds, or for ever."""
    check_number(name, value, 0.0, math.inf, unit="seconds")


def check_seed(value: object) -> None:
    """Of what is drawn by lot."""
    check_whole("seed", value, 0, 2**62)


def check_which(value: object) -> None:
    """One of the two devices."""
    check_one_of("which", value, ("microphone", "loudspeaker"))


def check_type(name: str, value: object, kind: type, *, fix: str) -> None:
    """One of ours."""
    if not isinstance(value, kind):
        raise SettingError(f"{name}: {value!r:.80} is no {kind.__name__}.", fix=fix)


def check_each(name: str, values: object, kinds: type | tuple[type, ...], *, fix: str) -> None:
    """A list of ours."""
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise SettingError(f"{name}: {values!r:.80} is no list.", fix=fix)
    for value in values:
        if not isinstance(value, kinds):
            raise SettingError(f"{name}: {value!r:.80} does not belong there.", fix=fix)


def check_samples(name: str, value: object) -> Samples:
    """Mono samples of full scale 1.0, or a Frame of them: the samples."""
    samples = value.samples if isinstance(value, Frame) else value
    if not isinstance(samples, np.ndarray) or samples.ndim != 1 or samples.dtype.kind != "f" or not len(samples):
        what = f"{name}: {type(value).__name__} is no row of samples."
        if isinstance(samples, np.ndarray):
            what = f"{name}: an array of {samples.dtype} and shape {samples.shape} is no row of samples."
        raise SettingError(what, fix="Use a Frame, or a numpy array of float32 with one dimension.")
    if not np.isfinite(samples).all():
        raise SettingError(f"{name}: it holds what is no number.", fix="Use finite samples.")
    if np.abs(samples).max() > LOUDEST:
        raise SettingError(f"{name}: it is far beyond full scale.", fix="Use samples from -1.0 to 1.0.")
    return np.asarray(samples, np.float32)


def check_audible(name: str, samples: Samples, rate: int) -> Voiced:
    """A sound that is not silent: where its voice is."""
    try:
        return voiced(samples, rate)
    except ValueError:
        raise SettingError(f"{name}: it is silent, or too short.", fix="Use 0.01 s or more of a sound.") from None

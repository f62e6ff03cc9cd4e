"""Audio files, loaded whole."""

import os
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.errors import AudioFileError

__all__ = ["TURN_LIMIT_S", "load"]

TURN_LIMIT_S = 120.0
"""Nobody speaks longer than that in one turn; it is four windows of the recogniser, and 23 MB at 48 kHz."""
_RATES = range(4_000, 384_001)
"""Hertz; a header that claims anything else is broken, and resampling from it could fill the memory."""
_BLOCK_VALUES = 1 << 20
"""Values of all channels read at once, so that a file of 1024 channels takes no more memory than a plain one."""
_UNKNOWN = (1 << 63) - 1
"""What libsndfile counts for a length that is not in the header."""
_HELD = re.compile(r"^ *(?:data|SSND|Data Size) *: (\d+) \(should be (\d+)\)", re.MULTILINE)
"""What libsndfile tells of WAV, AIFF and AU: the bytes of sound that the header promises, and those there are."""
_NO_PROMISE = 0x7FFF0000
"""From here on a header's number of bytes means that the length was not known when it was written, as by a pipe."""
_MISCOUNT = 64
"""Bytes: some programs count the header, of 44 bytes or a few more, as sound."""
_CONVERT = "Convert it to WAV, FLAC or Ogg."


def load(path: str | os.PathLike[str], rate: int | None = None, *, limit_s: float = TURN_LIMIT_S) -> Frame:
    """Read a WAV, FLAC, Ogg or MP3 file: channels averaged, clipped to full scale, resampled if `rate` is given.

    A file longer than `limit_s` seconds is refused by its header, before any of it is read. Raises AudioFileError,
    which names the file and the fix, for all that is no regular audio file with at least one sample and finite ones
    only.
    """
    import soundfile

    name = f'"{Path(path)}"'
    _check_regular(path, name)
    try:
        with soundfile.SoundFile(path) as file:
            _check_header(file, name, limit_s)
            samples, own = _averaged(file), int(file.samplerate)
    except soundfile.LibsndfileError as error:
        raise AudioFileError(f"{name} cannot be read as audio: {error.error_string}", fix=_CONVERT) from error
    except (soundfile.SoundFileError, OSError, TypeError, ValueError) as error:  # TypeError: raw samples, no header
        raise AudioFileError(f"{name} cannot be read as audio: {error}.", fix=_CONVERT) from error
    _check_samples(samples, name)
    if rate is not None and rate != own:
        samples = _resampled(samples, own, rate)
    return Frame(np.clip(samples, -1.0, 1.0), rate or own)


def _check_regular(path: str | os.PathLike[str], name: str) -> None:
    try:
        status = os.stat(path)
        readable = os.access(path, os.R_OK)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise AudioFileError(f"{name} cannot be opened: {reason}.", fix="Check the path.") from error
    if not stat.S_ISREG(status.st_mode):  # reading a pipe could wait for ever
        raise AudioFileError(f"{name} is not a file.", fix="Give the path of an audio file.")
    if not readable:
        raise AudioFileError(f"{name} may not be read.", fix="Change its permissions.")
    if not status.st_size:
        raise AudioFileError(f"{name} is empty.", fix="Record it again.")


def _check_header(file: Any, name: str, limit_s: float) -> None:
    if file.samplerate not in _RATES:
        raise AudioFileError(f"{name} claims a sample rate of {file.samplerate} Hz.", fix=_CONVERT)
    if file.frames == _UNKNOWN:
        raise AudioFileError(f"{name} does not say how long it is.", fix=_CONVERT)
    if file.frames > limit_s * file.samplerate:
        length = f"{file.frames / file.samplerate:.0f} s"
        raise AudioFileError(f"{name} lasts {length}; the limit is {limit_s:g} s.", fix="Cut it into shorter files.")
    for promised, held in ((int(promised), int(held)) for promised, held in _HELD.findall(file.extra_info)):
        if held + _MISCOUNT < promised < _NO_PROMISE and file.frames:
            share = f"{100 * held // promised} %"
            raise AudioFileError(f"{name} holds {share} of the sound it promises.", fix="Copy or record it again.")


def _averaged(file: Any) -> Samples:
    """All of it, mono. Never more than the header says is read, also if there is more."""
    blocks: list[Samples] = [np.zeros(0, np.float32)]
    while len(block := file.read(_BLOCK_VALUES // file.channels, dtype="float32", always_2d=True)):
        blocks.append(block.mean(axis=1, dtype=np.float32))
    return np.concatenate(blocks)


def _check_samples(samples: Samples, name: str) -> None:
    if not len(samples):
        raise AudioFileError(f"{name} holds no sound, or only the beginning of a file.", fix="Record it again.")
    if not np.isfinite(samples).all():
        raise AudioFileError(f"{name} holds samples that are not numbers (NaN or infinite).", fix="Export it again.")


def _resampled(samples: Samples, own: int, rate: int) -> Samples:
    import soxr

    # A single sample at a high rate can come out as none at a lower one.
    resampled: Samples = soxr.resample(samples, own, rate).astype(np.float32)
    return resampled if len(resampled) else np.zeros(1, np.float32)

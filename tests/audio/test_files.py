"""Loading audio files: what comes out, and what is told of files that are of no use."""

import io
import os
import re
import stat
from pathlib import Path

import numpy as np
import pytest
import soundfile

from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.errors import AudioFileError


def tone(seconds: float, rate: int, hertz: float = 440.0) -> Samples:
    return (np.sin(np.arange(round(seconds * rate)) * 2 * np.pi * hertz / rate) * 0.5).astype(np.float32)


@pytest.mark.parametrize(("suffix", "error"), [("wav", 4e-5), ("flac", 4e-5), ("ogg", 0.1)])
def test_formats(tmp_path: Path, suffix: str, error: float) -> None:
    path = tmp_path / f"tone.{suffix}"
    soundfile.write(path, tone(0.5, 16_000), 16_000)

    frame = load(path)

    assert (frame.rate, frame.start, frame.samples.dtype) == (16_000, 0, np.dtype(np.float32))
    assert np.abs(frame.samples - tone(0.5, 16_000)).max() < error


def test_channels_are_averaged(tmp_path: Path) -> None:
    path = tmp_path / "stereo.wav"
    soundfile.write(path, np.tile([0.5, -0.25], (100, 1)), 48_000)

    assert np.allclose(load(path).samples, 0.125, atol=1e-4)


@pytest.mark.parametrize("rate", [16_000, 48_000])
def test_it_is_resampled_with_a_filter(tmp_path: Path, rate: int) -> None:
    path = tmp_path / "tone.flac"
    soundfile.write(path, tone(1.0, 44_100) + tone(1.0, 44_100, 15_000.0), 44_100)

    frame = load(path, rate)

    spectrum = np.abs(np.fft.rfft(frame.samples * np.hanning(rate))) / rate * 4  # 1 Hz a step
    assert len(frame.samples) == rate
    assert spectrum[440] == pytest.approx(0.5, rel=0.02)
    folded = 16_000 - 15_000  # where dropping samples would put it
    assert spectrum[folded] < 0.001
    assert (spectrum[15_000] > 0.4) if rate == 48_000 else True


def test_beyond_full_scale_is_clipped(tmp_path: Path) -> None:
    path = tmp_path / "loud.wav"
    soundfile.write(path, np.array([3.0, -7.0, 0.5]), 48_000, subtype="FLOAT")

    assert load(path).samples.tolist() == [1.0, -1.0, 0.5]


def test_a_text_is_a_path_too(tmp_path: Path) -> None:
    path = tmp_path / "späße 🎤.wav"
    soundfile.write(path, tone(0.1, 8_000), 8_000)

    assert len(load(str(path)).samples) == 800


def wav(samples: Samples, rate: int = 48_000, subtype: str = "PCM_16", kind: str = "WAV") -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format=kind, subtype=subtype)
    return file.getvalue()


def flac(*, tells_length: bool = True) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, np.random.default_rng(0).normal(0, 0.1, 48_000), 48_000, format="FLAC")
    data = bytearray(file.getvalue())
    if not tells_length:  # 36 bits of the first block
        data[21] &= 0xF0
        data[22:26] = bytes(4)
    return bytes(data)


GOOD = wav(tone(0.5, 48_000))
LARGE = wav(tone(0.5, 48_000), subtype="PCM_24")
AIFF = wav(tone(0.5, 48_000), kind="AIFF")
BROKEN: dict[str, tuple[str, bytes, str]] = {
    "empty": ("a.wav", b"", "is empty"),
    "text": ("notes.txt", b"hello\n" * 99, "cannot be read as audio"),
    "text that says it is a WAV": ("a.wav", b"hello\n" * 99, "cannot be read as audio"),
    "raw samples": ("a.raw", bytes(9999), "cannot be read as audio"),
    "half a header": ("a.wav", GOOD[:20], "cannot be read as audio"),
    "a header alone": ("a.wav", GOOD[:44], "holds no sound"),
    "zeroed header": ("a.wav", bytes(44) + GOOD[44:], "cannot be read as audio"),
    "half a WAV file": ("a.wav", GOOD[: len(GOOD) // 2], "holds 49 % of the sound it promises"),
    "a WAV file without its last samples": ("a.wav", GOOD[:-400], "holds 99 % of the sound it promises"),
    "half a 24-bit WAV file": ("a.wav", LARGE[: len(LARGE) // 2], "of the sound it promises"),
    "half an AIFF file": ("a.aiff", AIFF[: len(AIFF) // 2], "of the sound it promises"),
    "half a FLAC file": ("a.flac", flac()[:40_000], "cannot be read as audio"),
    "FLAC without its length": ("a.flac", flac(tells_length=False), "does not say how long"),
    "NaN": ("a.wav", wav(np.array([0.1, np.nan], np.float32), subtype="FLOAT"), "not numbers"),
    "infinite": ("a.wav", wav(np.array([0.1, np.inf], np.float32), subtype="FLOAT"), "not numbers"),
    "a rate of 1 Hz": ("a.wav", wav(np.zeros(9, np.float32), 1), "sample rate of 1 Hz"),
    "a rate of 2 GHz": ("a.wav", wav(np.zeros(9, np.float32), 2_000_000_000), "sample rate of 2000000000 Hz"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_file_of_no_use_is_one_line_with_its_name_and_the_fix(tmp_path: Path, case: str) -> None:
    name, data, what = BROKEN[case]
    path = tmp_path / name
    path.write_bytes(data)

    with pytest.raises(AudioFileError) as caught:
        load(path, 16_000)

    text = str(caught.value)
    assert what in text
    assert str(path) in text
    assert caught.value.fix
    assert "\n" not in text


@pytest.mark.parametrize("size", [0xFFFF_FFFF, 0x7FFF_FFFF, 0x7FFF_F000])
def test_a_header_written_before_the_length_was_known_promises_nothing(tmp_path: Path, size: int) -> None:
    data = bytearray(GOOD)
    data[4:8] = data[40:44] = size.to_bytes(4, "little")
    path = tmp_path / "piped.wav"
    path.write_bytes(data)

    assert len(load(path).samples) == 24_000


def test_a_wrong_length_of_the_whole_file_alone_is_no_cut(tmp_path: Path) -> None:
    data = bytearray(GOOD)
    data[4:8] = (len(GOOD) + 1000).to_bytes(4, "little")
    path = tmp_path / "odd.wav"
    path.write_bytes(data)

    assert len(load(path).samples) == 24_000


def test_a_header_that_counts_itself_is_no_cut(tmp_path: Path) -> None:
    data = bytearray(GOOD)
    data[40:44] = len(GOOD).to_bytes(4, "little")
    path = tmp_path / "odd.wav"
    path.write_bytes(data)

    assert len(load(path).samples) == 24_000


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(AudioFileError, match=r"cannot be opened: No such file or directory\. Check the path\."):
        load(tmp_path / "nothing.wav")


def test_a_name_with_a_zero_byte() -> None:
    with pytest.raises(AudioFileError, match="Check the path"):
        load("a\0b.wav")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(AudioFileError, match="is not a file"):
        load(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.wav")

    with pytest.raises(AudioFileError, match="is not a file"):
        load(tmp_path / "pipe.wav")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(GOOD)
    path.chmod(stat.S_IWUSR)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the superuser may read everything

    with pytest.raises(AudioFileError, match=r"may not be read\. Change its permissions"):
        load(path)


def test_eight_hours_are_refused_by_the_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "night.wav"
    header = bytearray(wav(np.zeros(16, np.float32), 8_000)[:44])
    length = 8 * 3600 * 8_000 * 2
    header[4:8], header[40:44] = (length + 36).to_bytes(4, "little"), length.to_bytes(4, "little")
    with path.open("wb") as file:
        file.write(header)
        file.truncate(length + 44)  # a hole: it takes no room on the disk
    monkeypatch.setattr(soundfile.SoundFile, "read", lambda *_, **__: pytest.fail("it was read"))

    with pytest.raises(AudioFileError, match=re.escape("lasts 28800 s; the limit is 120 s. Cut it into")):
        load(path)


def test_the_limit_can_be_chosen_and_is_included(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, tone(2.0, 8_000), 8_000)

    assert load(path, limit_s=2.0).duration_s == 2.0
    with pytest.raises(AudioFileError, match=r"the limit is 1\.5 s"):
        load(path, limit_s=1.5)


def test_a_single_sample_survives_resampling(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, np.array([0.5]), 48_000)

    assert len(load(path, 8_000).samples) == 1

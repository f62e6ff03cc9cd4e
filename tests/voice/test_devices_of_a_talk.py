"""The devices of a talk, on a fake PortAudio and on files."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import soundfile

from discussion_helper.errors import AudioFileError
from discussion_helper.voice.devices import RATE, file_devices, sound_devices


class FakeStream:
    def __init__(self, library: "FakeLibrary", options: dict[str, Any]) -> None:
        library.opened.append(options)
        self.samplerate, self.channels = float(options["samplerate"]), options["channels"]
        self.latency, self.time = options["latency"], 1.0

    def start(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None: ...


class FakeLibrary:
    """One microphone and one loudspeaker."""

    class PortAudioError(Exception):
        """PortAudio's."""

    def __init__(self) -> None:
        self.opened: list[dict[str, Any]] = []
        self.looks = 0
        self.default = SimpleNamespace(device={"input": 0, "output": 0})

    def query_hostapis(self) -> list[dict[str, Any]]:
        return [{"name": "ALSA", "default_input_device": 0, "default_output_device": 0}]

    def query_devices(self, index: int | None = None) -> Any:
        device = {"name": "box", "hostapi": 0, "max_input_channels": 1, "max_output_channels": 1}
        device |= {"default_samplerate": 48_000.0, "default_low_input_latency": 0.0, "default_low_output_latency": 0.0}
        return [device] if index is None else device

    def InputStream(self, **options: Any) -> FakeStream:  # noqa: N802 - its real name
        return FakeStream(self, options)

    OutputStream = InputStream

    def _terminate(self) -> None:
        self.looks += 1

    def _initialize(self) -> None: ...


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    library = FakeLibrary()
    monkeypatch.setitem(sys.modules, "sounddevice", library)
    return library


def test_the_latency_that_is_wished_for_reaches_both_devices(library: FakeLibrary) -> None:
    devices = sound_devices(None, None, latency_s=0.06)
    for device in (devices.open_capture(), devices.open_playback()):
        device.close()

    assert [0.06, 0.06] == [options["latency"] for options in library.opened]


def test_opened_again_the_devices_are_looked_for_anew_and_the_reply_is_kept(library: FakeLibrary) -> None:
    devices = sound_devices(None, None)
    microphone, loudspeaker = devices.open_capture(), devices.open_playback()
    assert 0 == library.looks
    microphone.close()
    loudspeaker.close()
    again = devices.open_playback()
    assert 1 == library.looks
    devices.open_capture().close()
    assert 1 == library.looks  # the loudspeaker is open and would die of it
    again.close()

    assert again.playback is loudspeaker.playback


def test_files_are_devices_that_lose_nothing(tmp_path: Any) -> None:
    soundfile.write(tmp_path / "in.wav", np.full(RATE // 10, 0.1), RATE)
    devices = file_devices([tmp_path / "in.wav"], tmp_path / "out.wav", None)
    loudspeaker, microphone = devices.open_playback(), devices.open_capture()
    microphone.close()
    loudspeaker.close()

    assert ("files", str(tmp_path / "out.wav")) == (microphone.name, loudspeaker.name)
    assert (0, 0) == (microphone.overflows, loudspeaker.underflows)


@pytest.mark.parametrize("samples", [1, RATE // 10 - 1])
def test_a_recording_too_short_for_a_word_is_told_at_once(tmp_path: Any, samples: int) -> None:
    soundfile.write(tmp_path / "in.wav", np.full(samples, 0.1), RATE)

    with pytest.raises(AudioFileError, match=r"in\.wav.* lasts .* ms, too short to hold a word\. Record it again\."):
        file_devices([tmp_path / "in.wav"], tmp_path / "out.wav", None)

    assert not (tmp_path / "out.wav").exists()


def test_a_recording_is_not_written_over(tmp_path: Any) -> None:
    soundfile.write(tmp_path / "in.wav", np.full(RATE, 0.1), RATE)
    (tmp_path / "out.wav").hardlink_to(tmp_path / "in.wav")

    with pytest.raises(AudioFileError, match=r"out\.wav.* is one of the recordings"):
        file_devices([tmp_path / "in.wav"], tmp_path / "out.wav", None)

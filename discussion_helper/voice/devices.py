"""The devices of a talk: this machine's, or files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from discussion_helper.audio.devices import find_device
from discussion_helper.audio.file_devices import FileCapture, FileDevices, FilePlayback
from discussion_helper.audio.files import load
from discussion_helper.audio.inbox import Inbox
from discussion_helper.audio.playback import Playback
from discussion_helper.audio.portaudio import PortAudioCapture, PortAudioPlayback
from discussion_helper.voice.engine import Sink, Source

__all__ = ["RATE", "Devices", "file_devices", "sound_devices"]

RATE = 48_000
"""Hertz of files as devices."""


@dataclass(frozen=True, slots=True)
class Devices:
    """A microphone and a loudspeaker that can be opened, what they are called, and the inbox they feed.

    The openers block, so they belong on a worker thread; they raise DeviceError or AudioFileError.
    """

    microphone: str
    loudspeaker: str
    inbox: Inbox
    open_capture: Callable[[], Source]
    open_playback: Callable[[], Sink]
    files: FileCapture | None = None
    """The microphone when it is files."""


def sound_devices(microphone: str | None, loudspeaker: str | None) -> Devices:
    """Devices of this machine by a part of their names; None = the default. Raises DeviceError."""
    inbox = Inbox()
    source, sink = find_device(microphone, "input"), find_device(loudspeaker, "output")
    return Devices(
        source.label,
        sink.label,
        inbox,
        open_capture=lambda: PortAudioCapture(source, inbox).__enter__(),
        open_playback=lambda: PortAudioPlayback(sink, Playback, inbox).__enter__(),
    )


def file_devices(inputs: Sequence[Path], output: Path | None, loudspeaker: str | None) -> Devices:
    """Recordings as the microphone, and a WAV file or a loudspeaker of this machine.

    The recordings are loaded and checked here. Raises AudioFileError, DeviceError.
    """
    inbox = Inbox()
    capture = FileCapture([load(path, RATE) for path in inputs], inbox, rate=RATE)
    if output is None:
        sink = find_device(loudspeaker, "output")
        microphone = _FileSource(capture, FileDevices(capture))
        return Devices(
            "files",
            sink.label,
            inbox,
            open_capture=microphone.open,
            open_playback=lambda: PortAudioPlayback(sink, Playback, inbox).__enter__(),
            files=capture,
        )
    # One thread for both, so that they have one clock; it starts with the loudspeaker, which is opened first.
    playback = FilePlayback(output, Playback(RATE), inbox)
    loudspeaker_file = _FileSink(playback, FileDevices(capture, playback))
    microphone = _FileSource(capture)
    return Devices("files", str(output), inbox, microphone.open, loudspeaker_file.open, capture)


@dataclass(slots=True)
class _FileSource:
    """Recordings as a microphone; with a clock of its own where nothing else drives it."""

    capture: FileCapture
    clock: FileDevices | None = None
    name: str = "files"
    rate: int = RATE

    def open(self) -> Source:
        if self.clock is not None:
            self.clock.__enter__()
        return self

    def close(self) -> None:
        if self.clock is not None:
            self.clock.close()


@dataclass(slots=True)
class _FileSink:
    """A WAV file as a loudspeaker."""

    device: FilePlayback
    clock: FileDevices
    rate: int = RATE
    name: str = field(init=False)
    playback: Playback = field(init=False)

    def __post_init__(self) -> None:
        self.name, self.playback = self.device.name, self.device.playback

    def open(self) -> Sink:
        self.clock.__enter__()
        return self

    def close(self) -> None:
        self.clock.close()

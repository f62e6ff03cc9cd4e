"""The devices of a talk: this machine's, or files."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from discussion_helper.audio.devices import Kind, find_device, muted_fix
from discussion_helper.audio.file_devices import FileCapture, FileDevices, FilePlayback
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Inbox
from discussion_helper.audio.playback import Playback
from discussion_helper.audio.portaudio import LATENCY_S
from discussion_helper.errors import AudioFileError
from discussion_helper.voice.audio_thread import AudioThread
from discussion_helper.voice.audio_work import AudioWork
from discussion_helper.voice.hearing import MUTED_S
from discussion_helper.voice.ports import Driver, Sink, Source
from discussion_helper.voice.remote_link import RemoteLink
from discussion_helper.voice.sound_openers import Choice, Following, SoundSink, SoundSource

__all__ = ["RATE", "Devices", "file_devices", "remote_devices", "sound_devices"]

RATE = 48_000
"""Hertz of files as devices."""
_SHORTEST_S = 0.1
"""Of a recording that may hold a word: "a" takes as long. What is shorter is not heard as a turn, and waited for."""

_REMOTE_MUTED_S = 10.0
"""A browser that takes noise out gives exact zeros between two sentences."""
_REMOTE_MUTED_FIX = "Check the mute switch of the headset, and the microphone that is chosen where you talk."


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
    follow: Callable[[Callable[[], object]], Awaitable[None]] | None = None
    """Calls what it is given, until cancelled, whenever the devices should be opened anew; None: nothing to follow."""
    drive: Callable[[Inbox, AudioWork], Driver] = AudioThread
    """What drives the audio work."""
    is_read: Callable[[], bool] = lambda: False
    """Nobody listens now, and what is said is read."""
    muted_s: float = MUTED_S
    """Exact zeros for so long come from no microphone that hears."""
    muted_fix: Callable[[], str] = muted_fix
    """What helps then."""


def sound_devices(microphone: str | None, loudspeaker: str | None, *, latency_s: float = LATENCY_S) -> Devices:
    """Devices of this machine by a part of their names; None = the default, which is followed. Raises DeviceError.

    `latency_s` is wished for of each; 0.02 is enough on a machine that is not overloaded.
    """
    inbox, lock = Inbox(), Lock()
    ears = SoundSource(_choice(microphone, "input"), inbox, latency_s, lock)
    mouth = SoundSink(_choice(loudspeaker, "output"), inbox, latency_s, lock)
    following = Following(ears.choice, mouth.choice)
    return Devices(
        ears.choice.device.label,
        mouth.choice.device.label,
        inbox,
        open_capture=ears.open,
        open_playback=mouth.open,
        follow=following.run if following.sees else None,
    )


def _choice(text: str | None, kind: Kind) -> Choice:
    return Choice(kind, find_device(text, kind), named=bool(text))


def file_devices(
    inputs: Sequence[Path], output: Path | None, loudspeaker: str | None, *, latency_s: float = LATENCY_S
) -> Devices:
    """Recordings as the microphone, and a WAV file or a loudspeaker of this machine.

    The recordings are loaded and checked here. Raises AudioFileError, DeviceError.
    """
    inbox = Inbox()
    capture = FileCapture([_recording(path, output) for path in inputs], inbox, rate=RATE)
    if output is None:
        speaker = SoundSink(_choice(loudspeaker, "output"), inbox, latency_s)
        source = _FileSource(capture, FileDevices(capture))
        return Devices("files", speaker.choice.device.label, inbox, source.open, speaker.open, capture)
    # One thread for both, so that they have one clock; it starts with the loudspeaker, which is opened first.
    playback = FilePlayback(output, Playback(RATE), inbox)
    clock = FileDevices(capture, playback)
    return Devices("files", str(output), inbox, _FileSource(capture).open, _FileSink(playback, clock).open, capture)


def remote_devices(link: RemoteLink) -> Devices:
    """Those of the client that has the link; without one everything is read."""
    return Devices(
        "remote",
        "remote",
        link.inbox,
        open_capture=link.open_source,
        open_playback=link.open_sink,
        drive=link.drive,
        is_read=lambda: link.is_left,
        muted_s=_REMOTE_MUTED_S,
        muted_fix=lambda: _REMOTE_MUTED_FIX,
    )


def _recording(path: Path, output: Path | None) -> Frame:
    """What is said into the microphone. Raises AudioFileError."""
    frame = load(path, RATE)
    if frame.duration_s < _SHORTEST_S:
        what = f'"{path}" lasts {1000 * frame.duration_s:.3g} ms, too short to hold a word.'
        raise AudioFileError(what, fix="Record it again.")
    if output is not None and output.exists() and output.samefile(path):
        raise AudioFileError(f'"{output}" is one of the recordings.', fix="Name another file for the answers.")
    return frame


@dataclass(slots=True)
class _FileSource:
    """Recordings as a microphone; with a clock of its own where nothing else drives it."""

    capture: FileCapture
    clock: FileDevices | None = None
    name: str = "files"
    rate: int = RATE

    @property
    def overflows(self) -> int:
        return self.clock.late if self.clock is not None else 0

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

    @property
    def underflows(self) -> int:
        return self.clock.late

    def open(self) -> Sink:
        self.clock.__enter__()
        return self

    def close(self) -> None:
        self.clock.close()

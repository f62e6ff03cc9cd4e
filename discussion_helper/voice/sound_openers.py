"""This machine's microphone and loudspeaker in a talk: opened, and opened again wherever they are then."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

from discussion_helper.audio.device_watch import watch_devices
from discussion_helper.audio.devices import Device, Kind, find_device, found_again, refresh_if_unused
from discussion_helper.audio.inbox import Inbox
from discussion_helper.audio.playback import Playback
from discussion_helper.audio.portaudio import PortAudioCapture, PortAudioPlayback
from discussion_helper.errors import DeviceError
from discussion_helper.voice.ports import Sink, Source

__all__ = ["PRIME_S", "Choice", "Following", "SoundSink", "SoundSource"]

T = TypeVar("T")

PRIME_S = 0.25
"""A loudspeaker gets silence first. Open, it is never without anything: so it is not suspended, nor has to wake up."""
_STILL_APIS = ("ALSA", "OSS", "JACK Audio Connection Kit", "ASIO", "Windows WDM-KS")
"""Host APIs where the default device is a name, behind which the sound server changes what is meant, or is fixed."""


@dataclass(slots=True)
class Choice:
    """Which device of a kind a talk uses: one that was `named`, wherever it is plugged, or the default of the moment.

    `device` is what was opened last, or is to be opened first.
    """

    kind: Kind
    device: Device
    named: bool
    was_opened: bool = False
    seen: Device | None = field(init=False)

    def __post_init__(self) -> None:
        self.seen = self.device

    @property
    def moves(self) -> bool:
        """Something can be seen of it by looking at the devices."""
        return self.device.host_api not in _STILL_APIS

    def opened_by(self, opener: Callable[[Device], T]) -> T:
        """What `opener` gives for the first of the candidates that it takes. Raises DeviceError."""
        if self.was_opened:
            refresh_if_unused()
        failure: DeviceError | None = None
        for device in self._candidates():
            try:
                opened = opener(device)
            except DeviceError as error:
                failure = failure or error
                continue
            self.device, self.was_opened = device, True
            return opened
        raise failure or DeviceError(f'"{self.device.label}" is not there.')

    def _candidates(self) -> Iterator[Device]:
        """A named device alone. Else the default, and what was used before where that cannot be opened."""
        if not self.was_opened:
            yield self.device
        elif self.named:
            yield found_again(self.device)
        else:
            default = find_device(None, self.kind)
            yield default
            if default.label != self.device.label:
                yield found_again(self.device)

    def is_elsewhere(self, devices: Sequence[Device]) -> bool:
        """It should be opened anew: another device is the default, or it came back, or has another rate."""
        there = [device for device in devices if device.channels(self.kind)]
        same = next((device for device in there if device.label == self.device.label), None)
        seen, self.seen = self.seen, same
        default = next((device for device in there if device.is_default(self.kind)), None)
        if not self.named and default is not None and default.label != self.device.label:
            return True
        return same is not None and (seen is None or same.rate != seen.rate)


@dataclass(slots=True)
class SoundSource:
    """A microphone of this machine. `lock`: PortAudio must not look for devices while another is being opened."""

    choice: Choice
    inbox: Inbox
    latency_s: float
    lock: Lock = field(default_factory=Lock)

    def open(self) -> Source:
        """Raises DeviceError."""
        with self.lock:
            return self.choice.opened_by(self._open)

    def _open(self, device: Device) -> Source:
        return PortAudioCapture(device, self.inbox, latency_s=self.latency_s).__enter__()


@dataclass(slots=True)
class SoundSink:
    """A loudspeaker of this machine; opened again, it goes on with what it had left to play."""

    choice: Choice
    inbox: Inbox
    latency_s: float
    lock: Lock = field(default_factory=Lock)
    playback: Playback | None = None

    def open(self) -> Sink:
        """Raises DeviceError."""
        with self.lock:
            return self.choice.opened_by(self._open)

    def _open(self, device: Device) -> Sink:
        playback = self.playback or Playback
        opened = PortAudioPlayback(device, playback, self.inbox, latency_s=self.latency_s, prime_s=PRIME_S).__enter__()
        self.playback = opened.playback
        return opened


class Following:
    """Looks after where the devices of a talk are."""

    def __init__(self, *choices: Choice) -> None:
        self._choices = choices

    @property
    def sees(self) -> bool:
        """There is something to look after. On Linux the sound server moves the streams by itself."""
        return any(choice.moves for choice in self._choices)

    async def run(self, tell: Callable[[], object]) -> None:
        """Call `tell`, until this is cancelled, whenever a device should be opened anew."""

        def look(devices: Sequence[Device]) -> None:
            elsewhere = [choice.is_elsewhere(devices) for choice in self._choices]  # all of them look
            if any(elsewhere):
                tell()

        await watch_devices(look)

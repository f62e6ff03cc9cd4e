"""The audio devices of this machine, by name."""

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from discussion_helper.audio.free_files import too_few_files
from discussion_helper.audio.portaudio_library import portaudio, refresh, refresh_if_unused
from discussion_helper.audio.system_fix import system_fix
from discussion_helper.errors import DeviceError

__all__ = [
    "Device",
    "Kind",
    "find_device",
    "found_again",
    "index_of",
    "list_devices",
    "muted_fix",
    "portaudio",
    "refresh",
    "refresh_if_unused",
]

Kind = Literal["input", "output"]

_NOUN: dict[Kind, str] = {"input": "microphone", "output": "loudspeaker"}
_NONE_FIX = {
    "darwin": "Connect one and choose it in System Settings > Sound.",
    "win32": "Connect one and enable it in Settings > System > Sound.",
    "": "Connect one.",
}
_SERVER_FIX = "Connect one; if the sound server has it, on Debian: apt-get install libasound2-plugins."
"""PortAudio sees what PulseAudio and PipeWire have only through that plug-in of ALSA's."""
_MUTED_FIX = {
    "darwin": "Allow it in System Settings > Privacy & Security > Microphone, for your terminal, and unmute it.",
    "win32": "Allow it in Settings > Privacy & security > Microphone, for desktop apps, and unmute it.",
    "": "Unmute it (pavucontrol, or: pactl set-source-mute @DEFAULT_SOURCE@ 0) and look for a switch on it.",
}
_PREFERRED_API = "Windows WASAPI"
"""Its default devices win. Without it PortAudio on Windows takes MME, whose own low latency is about 90 ms."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device as one host API shows it. Its identity is `label`: PortAudio's numbers change with every plug.

    `inputs` and `outputs` count channels; `rate` is the rate in hertz that PortAudio calls the device's own.
    """

    name: str
    host_api: str
    inputs: int
    outputs: int
    rate: int
    default_input: bool = False
    default_output: bool = False

    @property
    def label(self) -> str:
        """Name and host API, such as "pulse [ALSA]"."""
        return f"{self.name} [{self.host_api}]"

    def channels(self, kind: Kind) -> int:
        """Channels of that kind."""
        return self.inputs if kind == "input" else self.outputs

    def is_default(self, kind: Kind) -> bool:
        """It is the default of that kind."""
        return self.default_input if kind == "input" else self.default_output


def list_devices() -> list[Device]:
    """All devices in PortAudio's order, as they were when it last looked. Raises DeviceError.

    Devices that share name and host API get a number from the second one on: "Headset (2)".
    """
    library = portaudio()
    apis = [str(api["name"]) for api in library.query_hostapis()]
    found = [_device(info, apis) for info in library.query_devices()]
    inputs, outputs = _default(library, "input"), _default(library, "output")
    return [
        replace(device, default_input=number == inputs, default_output=number == outputs)
        for number, device in enumerate(_numbered(found))
    ]


def find_device(text: str | None, kind: Kind) -> Device:
    """The device that `text` names: its label, its name, or any part of the label that fits one device alone.

    Case does not matter. What fits one device of the host API of the default device alone is enough as well, for on
    some systems every device appears in several. None or "" is the default device. Raises DeviceError, which lists
    the choices.
    """
    devices = [device for device in list_devices() if device.channels(kind)]
    if not devices:
        raise too_few_files(f"No {_NOUN[kind]} was found") or _none(kind)
    default = next((device for device in devices if device.is_default(kind)), devices[0])
    if not text:
        return default
    found = _matches(text.casefold(), devices)
    near = [device for device in found if device.host_api == default.host_api]
    if len(found) == 1 or len(near) == 1:
        return (near or found)[0]
    what = f"{len(found)} devices fit" if found else f"No {_NOUN[kind]} fits"
    choices = ", ".join(f'"{device.label}"' for device in found or devices)
    raise DeviceError(f'{what} "{text}".', fix=f"Choose one of {choices}.")


def _none(kind: Kind) -> DeviceError:
    return DeviceError(
        f"This machine has no {_NOUN[kind]}.", fix=_SERVER_FIX if _sound_server() else system_fix(_NONE_FIX)
    )


def index_of(device: Device) -> int:
    """PortAudio's number of the device right now. Raises DeviceError if it is not there."""
    for number, other in enumerate(list_devices()):
        if other.label == device.label:
            return number
    raise _gone(device)


def found_again(device: Device) -> Device:
    """The same device as it is now, whatever its number and its rate. Raises DeviceError if it is not there.

    ALSA puts the number of the card into the name, which changes with every plug: without it, one alone must fit.
    """
    devices = list_devices()
    same = [other for other in devices if other.label == device.label]
    renamed = [other for other in devices if _plain(other) == _plain(device)]
    if same or len(renamed) == 1:
        return (same or renamed)[0]
    raise _gone(device)


def _plain(device: Device) -> tuple[str, str]:
    return re.sub(r" \(hw:\d+,\d+\)", "", device.name), device.host_api


def _gone(device: Device) -> DeviceError:
    return DeviceError(f'The device "{device.label}" is not there any more.', fix="Connect it, or choose another one.")


def muted_fix() -> str:
    """What to do on this system about a microphone that delivers nothing but zeros."""
    return system_fix(_MUTED_FIX)


def _sound_server() -> bool:
    """Whether PulseAudio or PipeWire runs for this user, or is reached elsewhere."""
    if sys.platform != "linux":
        return False
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    sockets = (runtime / "pulse" / "native", runtime / "pipewire-0", Path("/run/pulse/native"))
    return "PULSE_SERVER" in os.environ or any(os.path.exists(socket) for socket in sockets)


def _device(info: dict[str, Any], apis: Sequence[str]) -> Device:
    return Device(
        name=" ".join(str(info["name"]).split()),  # some drivers put line breaks into it
        host_api=apis[info["hostapi"]],
        inputs=info["max_input_channels"],
        outputs=info["max_output_channels"],
        rate=round(info["default_samplerate"]),
    )


def _numbered(devices: Sequence[Device]) -> list[Device]:
    seen: dict[str, int] = {}
    numbered = []
    for device in devices:
        count = seen[device.label] = seen.get(device.label, 0) + 1
        numbered.append(device if count == 1 else replace(device, name=f"{device.name} ({count})"))
    return numbered


def _default(library: Any, kind: Kind) -> int:
    """PortAudio's number of the default device; -1 if there is none."""
    key = f"default_{kind}_device"
    own = [api[key] for api in library.query_hostapis() if api["name"] == _PREFERRED_API and api[key] >= 0]
    number = own[0] if own else library.default.device[kind]
    return int(number)


def _matches(text: str, devices: Sequence[Device]) -> list[Device]:
    """Those whose label is `text`, or else whose name is, or else whose label has it as a part."""
    for fits in (
        lambda device: device.label.casefold() == text,
        lambda device: device.name.casefold() == text,
        lambda device: text in device.label.casefold(),
    ):
        if found := [device for device in devices if fits(device)]:
            return found
    return []

"""Refusals: why a device cannot be opened, in one line, with what to do about it on this system."""

from collections.abc import Sequence

from discussion_helper.audio.system_fix import system_fix
from discussion_helper.errors import DeviceError

__all__ = ["BUSY", "HOST_ERROR", "INVALID_DEVICE", "NO_CHANNELS", "NO_RATE", "refusal"]

BUSY, INVALID_DEVICE, NO_CHANNELS, NO_RATE, HOST_ERROR = -9985, -9996, -9998, -9997, -9999
"""PortAudio's error codes."""
_VAGUE = (BUSY, INVALID_DEVICE, NO_CHANNELS, NO_RATE, HOST_ERROR)
"""Systems give any of these for the same causes: "Invalid sample rate", for one, where there is no permission."""
_FIX = {
    "linux": (
        "Close the program that uses it (fuser -v /dev/snd/* names it),"
        " join the group audio, or choose another device with --device."
    ),
    "darwin": (
        "Close the program that uses it, allow your terminal in System Settings > Privacy & Security > Microphone,"
        " set its rate in Audio MIDI Setup, or choose another device with --device."
    ),
    "win32": (
        "Close the program that uses it, allow desktop apps in Settings > Privacy & security > Microphone, set its"
        " format in Settings > System > Sound, or choose another device with --device."
    ),
    "": "Close the program that uses it, allow its use, or choose another device with --device.",
}


def refusal(name: str, kind: str, why: str, code: int, rates: Sequence[int]) -> DeviceError:
    """The error for the device `name`, which refused with PortAudio's text `why` and `code` after all of `rates`."""
    what = f'"{name}" cannot be opened for {kind}: {why.rstrip(".")}'
    if code not in _VAGUE:
        return DeviceError(f"{what}.", fix="Choose another device.")
    tried = ", ".join(map(str, rates))
    causes = (
        f"Another program has it to itself, or this one may not use it, or it is unplugged, or takes none of {tried} Hz"
    )
    return DeviceError(f"{what}. {causes}.", fix=system_fix(_FIX))

"""`discussion-helper devices`: the microphones and loudspeakers of this machine."""

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from discussion_helper.audio.devices import Device, Kind, find_device, list_devices, muted_fix
from discussion_helper.audio.inbox import Captured, DeviceLost, Inbox
from discussion_helper.audio.playback import Playback
from discussion_helper.audio.portaudio import PortAudioCapture, PortAudioPlayback
from discussion_helper.commands.json_text import json_text
from discussion_helper.errors import DeviceError

__all__ = ["add_parser", "run"]

_PROBE_S = 1.0
_KINDS: tuple[Kind, Kind] = ("input", "output")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = subparsers.add_parser("devices", help="list the microphones and loudspeakers")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--probe", action="store_true", help="open the default ones for a second and tell how they do")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the devices; 1 if a probe found a problem, else 0. Raises DeviceError if PortAudio cannot be used."""
    devices = list_devices()
    probes = [_probe(kind) for kind in _KINDS] if arguments.probe else []
    if arguments.json:
        print(json_text(_as_dict(devices, probes), indent=2), flush=True)
    else:
        print("\n".join([*_table(devices), *map(str, probes)]), flush=True)
    return int(any(probe.problem for probe in probes))


@dataclass(frozen=True, slots=True)
class _Probe:
    """How a device did. `peak_dbfs` is the loudest sample's level, None where there is none, `losses` the blocks that
    came too late; `problem` is "" or what is wrong, and the fix."""

    kind: Kind
    device: str = ""
    rate: int = 0
    peak_dbfs: float | None = None
    losses: int = 0
    problem: str = ""

    def __str__(self) -> str:
        noun = "overflows" if self.kind == "input" else "underflows"
        facts = [f"{self.rate} Hz", f"{self.losses} {noun}"] if self.rate else []
        if self.peak_dbfs is not None:
            facts.append(f"peak {self.peak_dbfs:.0f} dBFS")
        if self.problem:
            facts.append(self.problem)
        return f"{self.kind}: {', '.join(filter(None, [self.device, *facts]))}"


def _probe(kind: Kind) -> _Probe:
    inbox = Inbox()
    try:
        device = find_device(None, kind)
        if kind == "input":
            with PortAudioCapture(device, inbox) as capture:
                peak, lost = _watch(inbox)
            level = 20.0 * math.log10(peak) if peak else None
            return _Probe(kind, device.label, capture.rate, level, capture.overflows, lost or _muted(peak))
        with PortAudioPlayback(device, Playback, inbox) as playback:
            _, lost = _watch(inbox)
        return _Probe(kind, device.label, playback.rate, None, playback.underflows, lost)
    except DeviceError as error:
        return _Probe(kind, problem=str(error))


def _watch(inbox: Inbox) -> tuple[float | None, str]:
    """What comes out of the inbox in a second: the magnitude of the loudest sample, and why the device went away."""
    end = time.monotonic() + _PROBE_S
    peak = None
    while (left := end - time.monotonic()) > 0:
        item = inbox.get(timeout=left)
        if isinstance(item, DeviceLost):
            return peak, f"{item.reason}."
        if isinstance(item, Captured):
            peak = max(peak or 0.0, float(np.abs(item.frame.samples).max()))
    return peak, ""


def _muted(peak: float | None) -> str:
    if peak is None:
        return "It delivers nothing. Connect it anew, or choose another device."
    return "" if peak else f"Exact zeros: it is muted, or there is no permission. {muted_fix()}"


def _as_dict(devices: Sequence[Device], probes: Sequence[_Probe]) -> dict[str, object]:
    listed = [{"label": device.label, **asdict(device)} for device in devices]
    return {"devices": listed, **({"probes": [asdict(probe) for probe in probes]} if probes else {})}


def _table(devices: Sequence[Device]) -> list[str]:
    """One section for each kind; a star marks the default."""
    lines = []
    for kind in _KINDS:
        some = [device for device in devices if device.channels(kind)]
        width = max((len(device.label) for device in some), default=0)
        lines.append(f"{kind}s" if some else f"{kind}s: none")
        for device in some:
            star = "*" if device.is_default(kind) else " "
            count = device.channels(kind)
            channels = "1 channel" if count == 1 else f"{count} channels"
            lines.append(f"{star} {device.label:<{width}}  {device.rate:>6} Hz  {channels}")
    return lines

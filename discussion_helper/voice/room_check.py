"""The room check: a chirp through the loudspeaker and the microphone, and what it tells about both and the room."""

import time
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from discussion_helper.audio.chirp import CHIRP_S, LATEST_S, LEVEL_DBFS, RATE, EchoFound, chirp, find_echo, level_dbfs
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Captured, Closed, DeviceLost, Inbox, Played
from discussion_helper.audio.resample import resample
from discussion_helper.voice.devices import Devices
from discussion_helper.voice.ports import Sink
from discussion_helper.voice.suppression import Take, suppression_db

__all__ = ["CHECK_S", "Room", "check_room"]

_SETTLE_S = 0.2
"""Of the microphone that is not looked at: many begin with a click, or with zeros."""
_QUIET_S = 0.8
"""Listening before the chirp: the noise."""
_EARLY_S = 0.1
"""By which time stamps may be wrong, so that the echo seems to come before the chirp."""
_AFTER_S = CHIRP_S + LATEST_S + 0.1
_LATE_S = 3.0
"""Without a block, or by which all of them come later than they last, before the microphone counts as dead."""
_POLL_S = 0.25
"""Ctrl-C is noticed that soon where waiting cannot be interrupted."""
CHECK_S = _SETTLE_S + _QUIET_S + _AFTER_S
"""How long it takes, beside opening the devices and half a second of computing."""
_CLIPPED = 0.985
_FEWEST_CLIPPED = 8


@dataclass(frozen=True, slots=True)
class Room:
    """What was measured. None: it could not be, because nothing was heard, or nothing of the chirp.

    `round_trip_s`: from the block that was handed to the loudspeaker to the same sound in a block of the microphone;
    `spread_s`: by which that differed within the chirp. `stamped_s`: the same way by the devices' time stamps, which
    should be the way through the air alone. `echo_db`: the echo's power over that of what was played, both in full
    scale; `suppression_db`: what the echo canceller takes of it, `residue_db` what is left over the noise.
    `lost_blocks`: that came too late or were dropped. `lost`: why a device went away, "" if none did.
    """

    microphone: str
    loudspeaker: str
    microphone_rate: int
    loudspeaker_rate: int
    noise_dbfs: float | None = None
    round_trip_s: float | None = None
    spread_s: float | None = None
    stamped_s: float | None = None
    echo_db: float | None = None
    suppression_db: float | None = None
    residue_db: float | None = None
    zeros: bool = False
    clipped: int = 0
    lost_blocks: int = 0
    lost: str = ""

    @property
    def echo_dbfs(self) -> float | None:
        """The level of the agent's voice in the microphone."""
        return None if self.echo_db is None else self.echo_db + LEVEL_DBFS

    @property
    def clips(self) -> bool:
        """The microphone was overdriven, and not by a single sample."""
        return self.clipped >= _FEWEST_CLIPPED


def check_room(devices: Devices, *, late_s: float = _LATE_S) -> Room:
    """Open both devices, listen, play the chirp, listen, and close them. Blocks for 4 s; it never hangs.

    `late_s`: patience with a microphone that delivers nothing. Raises DeviceError if a device cannot be opened; what
    goes wrong afterwards is in what is returned.
    """
    with ExitStack() as stack:
        sink = devices.open_playback()
        stack.callback(sink.close)
        source = devices.open_capture()
        stack.callback(source.close)
        take = _recorded(devices.inbox, sink, source.rate, late_s)
        lost_blocks = devices.inbox.dropped + source.overflows + sink.underflows
    named = Room(devices.microphone, devices.loudspeaker, source.rate, sink.rate, lost_blocks=lost_blocks)
    return _measured(named, take)


def _recorded(inbox: Inbox, sink: Sink, rate: int, late_s: float) -> Take:
    """Everything from both devices, until the microphone has delivered enough, is lost, or delivers nothing."""
    take, played = Take(rate, sink.rate, _SETTLE_S), False
    last = time.monotonic()
    end = last + CHECK_S + late_s
    while take.heard_s < CHECK_S and not take.lost and (left := min(end, last + late_s) - time.monotonic()) > 0:
        item = inbox.get(timeout=min(left, _POLL_S))
        if isinstance(item, Captured | Played):
            take.add(item, inbox.put_at_s)
            last = time.monotonic()
        elif isinstance(item, DeviceLost):
            take.lost = item.reason
        elif isinstance(item, Closed):
            take.lost = "The audio was closed"
        if not played and take.heard_s >= _SETTLE_S + _QUIET_S:
            played = True
            sink.playback.write(0, chirp(sink.rate))
    return take


def _measured(room: Room, take: Take) -> Room:
    if take.lost or not take.captured:
        return replace(room, lost=take.lost or f'"{room.microphone}" delivers no sound')
    if take.heard_s < CHECK_S:
        return replace(room, lost=f'"{room.microphone}" stopped after {take.heard_s:.1f} s')
    raw, heard = take.samples, resample(take.samples, take.rate, RATE)
    room = replace(room, lost_blocks=room.lost_blocks + take.gaps)
    if not raw.any():
        return replace(room, zeros=True)
    quiet = heard[: round((_QUIET_S - _EARLY_S) * RATE)]
    room = replace(room, noise_dbfs=level_dbfs(quiet), clipped=int(np.count_nonzero(np.abs(raw) >= _CLIPPED)))
    if not take.played:
        return replace(room, lost=f'"{room.loudspeaker}" plays nothing')
    found, start = _found(heard, take)
    return room if found is None or not found.heard else _with_echo(room, take, found, start)


def _found(heard: Samples, take: Take) -> tuple[EchoFound | None, int]:
    """The echo, and the sample of `heard` at which the chirp was at the loudspeaker's converter, by the stamps."""
    start = round((take.played[0].at_s - take.captured[0].at_s) * RATE)
    early = min(_EARLY_S, start / RATE)
    latest = min(LATEST_S, (len(heard) - start) / RATE - CHIRP_S - 0.06)
    if start < 0 or latest <= 0.0:
        return None, start
    return find_echo(heard, start, earliest_s=-early, latest_s=latest), start


def _with_echo(room: Room, take: Take, found: EchoFound, start: int) -> Room:
    noise = 10.0 ** ((-120.0 if room.noise_dbfs is None else room.noise_dbfs) / 10.0)
    taken, left = suppression_db(take, start + round(found.delay_s * RATE), noise)
    return replace(
        room,
        round_trip_s=take.handover_s(start / RATE + found.delay_s),
        spread_s=found.spread_s,
        stamped_s=found.delay_s,
        echo_db=found.gain_db,
        suppression_db=taken,
        residue_db=left,
    )

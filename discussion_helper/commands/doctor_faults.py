"""Faults: what the doctor's measures say is wrong, worst first, each with its fix and the setting it justifies."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from discussion_helper.audio.devices import muted_fix
from discussion_helper.commands.doctor_speed import Speed
from discussion_helper.doctor import Finding
from discussion_helper.settings import Settings
from discussion_helper.voice.room_check import Room

__all__ = [
    "LEAST_RESIDUE_DB",
    "LEAST_SUPPRESSION_DB",
    "LONGEST_ROUND_TRIP_S",
    "LOUD_ECHO_DB",
    "LOUD_NOISE_DBFS",
    "MOST_LOST",
    "TELEPHONE_HZ",
    "Fault",
    "faults_of",
]

LEAST_SUPPRESSION_DB = 15.0
"""Of a loud echo: with less the agent is heard as somebody who talks."""
LEAST_RESIDUE_DB = 6.0
"""Above the noise: less cannot be told from it, and in a loud room no canceller can be seen to take 15 dB."""
LOUD_ECHO_DB = -25.0
"""The agent's voice is then at -45 dBFS in the microphone, 20 dB below somebody who talks to it."""
LOUD_NOISE_DBFS = -40.0
"""Somebody who talks is at -30 to -20 dBFS: the detectors take what is so near to that for voice."""
LONGEST_ROUND_TRIP_S = 0.25
"""Devices on a wire stay under 0.1 s; this long an answer goes on after it was interrupted."""
MOST_LOST = 2
"""Blocks of 10 ms, in the check's 3.5 s."""
TELEPHONE_HZ = 16_000
"""A wireless headset whose microphone is open has this rate, or half of it, for both directions."""
_BUSY = ("Other programs have the processor: end them and measure again.", None)
"""What can be done, and that such a measure justifies no setting."""


@dataclass(frozen=True, slots=True)
class Fault:
    """`key` names its kind, `what` tells it and `fix` what to do. `stops`: no talk can be held with it.

    `setting`: the key and the value for the settings file which make the best of it.
    """

    key: str
    what: str
    fix: str
    stops: bool = False
    setting: tuple[str, str | bool] | None = None


def faults_of(
    findings: Sequence[Finding], room: Room | None, speeds: Iterable[Speed], settings: Settings
) -> list[Fault]:
    """All faults. Those that stop a talk are first; otherwise in the order of parts, devices, room and speed."""
    found = [*_of_parts(findings, settings)]
    if room is not None:
        found += _of_devices(room)
        found += [] if any(fault.stops for fault in found) else _of_room(room, settings)
    found += [fault for speed in speeds for fault in _of_speed(speed, settings)]
    return sorted(found, key=lambda fault: not fault.stops)


def _of_parts(findings: Iterable[Finding], settings: Settings) -> Iterator[Fault]:
    unnamed = {"microphone": not settings.microphone, "loudspeaker": not settings.loudspeaker}
    for finding in findings:
        if not finding.ok:  # without devices recordings can speak
            yield Fault(finding.part, finding.found, finding.fix, stops=not unnamed.get(finding.part, False))


def _of_devices(room: Room) -> Iterator[Fault]:
    if room.lost:
        what, fix = f"{room.lost.rstrip('.')}.", "Connect it anew, or choose another one with --device NAME."
        yield Fault("device lost", what, fix, stops=True)
    if room.zeros:
        what = f'The microphone "{room.microphone}" delivers exact zeros: it is muted, or there is no permission.'
        yield Fault("muted", what, muted_fix(), stops=True)


def _of_room(room: Room, settings: Settings) -> Iterator[Fault]:
    if room.clips:
        what = f"The microphone is overdriven: {room.clipped} samples of the chirp were cut off."
        yield Fault("clipping", what, "Turn its level down in the system's sound settings, or the loudspeaker.")
    if room.noise_dbfs is not None and room.noise_dbfs > LOUD_NOISE_DBFS:
        what = f"It is loud here: noise at {room.noise_dbfs:.0f} dBFS is taken for voice."
        fix = "Turn off what makes it, or turn the microphone's level down and speak nearer to it."
        yield Fault("noise", what, fix)
    if room.lost_blocks > MOST_LOST:
        what = f"{room.lost_blocks} blocks of sound were lost: the machine is too busy."
        yield Fault("lost blocks", what, "End programs that use the processor.")
    if min(room.microphone_rate, room.loudspeaker_rate) <= TELEPHONE_HZ:
        what = f"The sound is a telephone's: microphone {room.microphone_rate} Hz, loudspeaker {room.loudspeaker_rate}."
        fix = "Take another microphone than the wireless headset's, with --microphone NAME."
        yield Fault("telephone", what, fix)
    yield from _of_echo(room, settings)


def _of_echo(room: Room, settings: Settings) -> Iterator[Fault]:
    if room.echo_db is None or room.round_trip_s is None:
        what = "No echo was heard: you wear headphones, the system removes it, or the loudspeaker is off."
        fix = "If you heard the chirp, all is well; otherwise turn it up, or name another one: --loudspeaker NAME."
        yield Fault("no echo", what, fix)
        return
    if room.round_trip_s > LONGEST_ROUND_TRIP_S:
        what = f"The devices are slow: what is played is heard after {1e3 * room.round_trip_s:.0f} ms."
        yield Fault("latency", what, "Use devices on a wire, or the built-in ones: wireless ones are late.")
    if _hears_itself(room) and settings.policy.allow_barge_in:
        what = (
            f"The agent hears itself: of an echo at {room.echo_db:.0f} dB only {room.suppression_db:.0f} are removed."
        )
        fix = "Wear headphones, turn the loudspeaker down, or do without interrupting: --no-barge-in."
        yield Fault("echo", what, fix, setting=("barge_in", False))


def _hears_itself(room: Room) -> bool:
    if room.echo_db is None or room.suppression_db is None or room.residue_db is None:
        return False
    stays = room.suppression_db < LEAST_SUPPRESSION_DB and room.residue_db > LEAST_RESIDUE_DB
    return stays and room.echo_db > LOUD_ECHO_DB


def _of_speed(speed: Speed, settings: Settings) -> Iterator[Fault]:
    if speed.failed:
        yield Fault(speed.part, speed.failed, "", stops=True)
    elif speed.too_slow:
        measure = f"{speed.factor:.2f} s for a second of speech" if speed.factor else f"more than {speed.took_s:.0f} s"
        what = f"The {speed.part} is too slow for this machine: it took {measure}."
        fix, setting = _BUSY if speed.disturbed else _faster(speed.part, settings)
        yield Fault(f"slow {speed.part}", what, fix, setting=setting)


def _faster(part: str, settings: Settings) -> tuple[str, tuple[str, str | bool] | None]:
    """What to do about it, and the setting that is certainly faster, if there is one."""
    if part == "recogniser":
        if settings.stt != "tiny.en" and settings.language == "en":
            return "Use the smaller model: --stt tiny.en (discussion-helper models pull tiny.en).", ("stt", "tiny.en")
        return "End programs that use the processor: there is no smaller model.", None
    if part == "voice":
        return (
            'End programs that use the processor, or use a Piper voice of the quality "low": --voice FILE.onnx.',
            None,
        )
    if settings.llm.strip() != "embedded":
        return "Use the smaller model: --llm embedded, or one on another machine: --llm MODEL@URL.", ("llm", "embedded")
    return "End programs that use the processor, or use a model on another machine: --llm MODEL@URL.", None

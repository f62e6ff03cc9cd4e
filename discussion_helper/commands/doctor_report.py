"""What the doctor found, as text and as JSON."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from discussion_helper.commands.doctor_faults import LOUD_NOISE_DBFS, Fault
from discussion_helper.commands.doctor_speed import Speed
from discussion_helper.config_file import Value
from discussion_helper.doctor import Finding
from discussion_helper.voice.room_check import Room

__all__ = ["Report"]

_COLUMN = 17


@dataclass(frozen=True, slots=True)
class Report:
    """`can_talk` and `how` are the verdict on the parts; `room` is None if nothing was played.

    `settings`: what is recommended for the file, or was chosen with options; `written`: the file holds it, as was
    `asked`. `lacks_file`: the user names one that is not there.
    """

    findings: Sequence[Finding]
    faults: Sequence[Fault]
    speeds: Sequence[Speed]
    room: Room | None
    can_talk: bool
    how: str
    file: Path
    settings: Mapping[str, Value] = field(default_factory=dict)
    written: bool = False
    asked: bool = False
    lacks_file: bool = False

    @property
    def talks(self) -> bool:
        """A talk can be held."""
        return not any(fault.stops for fault in self.faults)

    @property
    def first(self) -> str:
        """The line that says it all: the worst fault, or that there is none."""
        if not self.faults:
            return f"Everything works: {self._measured()}"
        more = len(self.faults) - 1
        others = f" ({more} more below)" if more else ""
        return f"{'Can talk, but' if self.talks else 'Cannot talk'}: {self.faults[0].what}{others}"

    @property
    def last(self) -> str:
        """The line that says how a talk can be held, or what is in its way."""
        if self.talks == self.can_talk:
            return self.how
        keys = ", ".join(fault.key for fault in self.faults if fault.stops)
        return f"You cannot talk here before this is put right: {keys}."

    def _measured(self) -> str:
        if self.room is None or self.room.echo_db is None or self.room.round_trip_s is None:
            return "all parts are there; the room was not measured."
        taken = f"{self.room.suppression_db or 0.0:.0f} dB of the echo removed"
        return f"round trip {1e3 * self.room.round_trip_s:.0f} ms, {taken}."

    def as_dict(self) -> dict[str, object]:
        """All measures, for JSON."""
        room = None if self.room is None else {**asdict(self.room), "echo_dbfs": self.room.echo_dbfs}
        speeds = [
            {**asdict(speed), "factor": speed.factor, "limit": speed.limit, "too_slow": speed.too_slow}
            for speed in self.speeds
        ]
        return {
            "verdict": self.first,
            "can_talk": self.talks,
            "faults": [asdict(fault) for fault in self.faults],
            "parts": [asdict(finding) for finding in self.findings],
            "room": room,
            "speed": speeds,
            "settings": {"file": str(self.file), "recommended": dict(self.settings), "written": self.written},
        }

    def text(self, width: int | None = None) -> str:
        """For people; lines are wrapped at `width` columns, None = not at all."""
        lines = [self.first]
        for number, fault in enumerate(self.faults):
            lines += [f"  {fault.what}"] if number else []
            lines += [f"  -> {fault.fix}"] if fault.fix else []
        for title, rows in (("Parts", self._part_rows()), ("Room", self._room_rows()), ("Speed", self._speed_rows())):
            found = list(rows)
            lines += ["", title, *found] if found else []
        lines += ["", "Settings", *self._setting_rows(), "", self.last]
        return "\n".join(_wrapped(line, width) for line in lines)

    def _part_rows(self) -> Iterator[str]:
        for finding in self.findings:
            yield f"{'ok' if finding.ok else 'NO'}  {finding.part:<{_COLUMN - 2}}{finding.found}"

    def _room_rows(self) -> Iterator[str]:
        room = self.room
        if room is None:
            return
        yield _row("microphone", f"{room.microphone}, {room.microphone_rate} Hz")
        yield _row("loudspeaker", f"{room.loudspeaker}, {room.loudspeaker_rate} Hz")
        if room.noise_dbfs is not None:
            yield _row("noise floor", f"{room.noise_dbfs:.0f} dBFS (up to {LOUD_NOISE_DBFS:.0f} is fine)")
        if room.round_trip_s is not None and room.spread_s is not None and room.stamped_s is not None:
            times = f"{1e3 * room.round_trip_s:.1f} ms, spread {1e3 * room.spread_s:.1f} ms"
            yield _row("round trip", f"{times}; {1e3 * room.stamped_s:.1f} ms by the devices' clocks")
        if room.echo_db is not None:
            yield _row("echo", f"{room.echo_db:.1f} dB: the agent is at {room.echo_dbfs:.0f} dBFS in the microphone")
        if room.suppression_db is not None and room.residue_db is not None:
            left = f"{room.residue_db:.0f} dB above the noise is left" if room.residue_db > 1.0 else "none is left"
            yield _row("echo removed", f"{room.suppression_db:.0f} dB; {left}")
        yield _row("lost, clipped", f"{room.lost_blocks} blocks, {room.clipped} samples")

    def _speed_rows(self) -> Iterator[str]:
        for speed in self.speeds:
            if speed.factor is None:
                gave_up = f"not done after {speed.took_s:.0f} s"
                yield _row(speed.part, f"{speed.model}: {gave_up if speed.gave_up else speed.failed}")
                continue
            times = f"{speed.took_s:.2f} s for {speed.lasts_s:.1f} s of speech"
            first = f", the first words after {speed.first_s:.2f} s" if speed.first_s else ""
            yield _row(speed.part, f"{speed.factor:.2f} with {speed.model}: {times}{first}")
        if self.speeds:
            yield f"    Up to {self.speeds[0].limit} is fine."

    def _setting_rows(self) -> Iterator[str]:
        if not self.settings:
            yield f"    {'Nothing has to be changed.' if self.talks else 'What fits is known once that is put right.'}"
        for key, value in self.settings.items():
            yield _row(key, str(value).lower() if isinstance(value, bool) else str(value))
        yield from (f"    {line}" for line in self._file_lines())

    def _file_lines(self) -> Iterator[str]:
        """What was, or would be, done with the file."""
        if self.written:
            yield f"Written to {self.file}, where talk and serve read them."
            return
        if self.asked:
            yield f"Nothing was written. What is to be goes into {self.file}, where talk and serve read it."
        elif self.settings:
            yield f"doctor --write puts them into {self.file}, where talk and serve read them."
        if self.lacks_file:
            yield f"DISCUSSION_HELPER_CONFIG: there is no file {self.file}, and talk and serve do not begin without."


def _row(name: str, value: str) -> str:
    return f"    {name:<{_COLUMN - 2}}{value}"


def _wrapped(line: str, width: int | None) -> str:
    if width is None or len(line) <= width:
        return line
    row = line.startswith(("    ", "ok  ", "NO  "))
    indent = " " * (_COLUMN + 2) if row else "     " if line.startswith("  ->") else "  "
    wrapper = textwrap.TextWrapper(width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrapper.wrap(line))

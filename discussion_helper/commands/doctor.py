"""`discussion-helper doctor`: can each part run here, how the room and the models do, and which settings fit."""

import argparse
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from discussion_helper.commands.json_text import json_text
from discussion_helper.commands.option import Given, chosen_parts, with_file
from discussion_helper.errors import DeviceError
from discussion_helper.settings import Settings
from discussion_helper.types import Policy

if TYPE_CHECKING:
    from discussion_helper.commands.doctor_report import Report
    from discussion_helper.commands.doctor_speed import Speed
    from discussion_helper.config_file import Value
    from discussion_helper.doctor import Finding
    from discussion_helper.voice.room_check import Room

__all__ = ["add_parser", "run"]

_ABOUT = """
Looks at every part, plays a chirp of 1.4 s as loud as the agent speaks, listens to the room, and times the models: 12 s
on two cores. The first line names the worst fault, or says that everything works.
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    usual, about = Settings(), "measure parts, room and models, and say what to put right"
    parser = subparsers.add_parser("doctor", help=about, description=_ABOUT)
    for name, metavar, text in (
        ("language", "CODE", "language"),
        ("stt", "NAME", "recogniser's model"),
        ("voice", "NAME", "voice's model"),
        ("llm", "SPEC", "what answers"),
    ):
        default = getattr(usual, name)
        text = f"{text} (default: %(default)s)"
        parser.add_argument(f"--{name}", action=Given, default=default, metavar=metavar, help=text)
    parser.add_argument("--device", metavar="NAME", help="part of the name of microphone and loudspeaker")
    parser.add_argument("--microphone", action=Given, metavar="NAME", help="microphone alone")
    parser.add_argument("--loudspeaker", action=Given, metavar="NAME", help="loudspeaker alone")
    parser.add_argument("--no-sound", action="store_true", help="play nothing, and leave the room alone")
    parser.add_argument("--no-speed", action="store_true", help="load no model")
    text = "put what was recommended, and what was chosen here, into the settings file"
    parser.add_argument("--write", action="store_true", help=text)
    parser.add_argument("--json", action="store_true", help="print one JSON document with all measures")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Examine, measure and tell; 1 if no talk can be held, 0 also where recordings have to speak and be written."""
    filled = with_file(arguments, may_be_missing=True)  # it is what makes one
    report = _report(arguments, filled, _settings(filled))
    if arguments.write and report.settings and report.talks:
        from discussion_helper.config_file import write_config

        write_config(report.settings, report.file)
        report = replace(report, written=True)
    if arguments.json:
        print(json_text(report.as_dict(), indent=2), flush=True)
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        print(report.text(width), flush=True)
    return int(not report.talks)


def _settings(arguments: argparse.Namespace) -> Settings:
    from discussion_helper.config_file import read_config

    return replace(
        chosen_parts(arguments),
        policy=Policy(allow_barge_in=bool(read_config(may_be_missing=True).get("barge_in", True))),
    )


def _report(arguments: argparse.Namespace, filled: argparse.Namespace, settings: Settings) -> "Report":
    from discussion_helper.command_line import with_option
    from discussion_helper.commands.doctor_faults import faults_of
    from discussion_helper.commands.doctor_report import Report
    from discussion_helper.config_file import config_path, is_named
    from discussion_helper.doctor import examine, verdict

    found = examine(settings)
    can_talk, how = verdict(found, settings)
    found = [one if one.ok else replace(one, found=with_option(one.found, filled)) for one in found]
    room, broken = (None, []) if arguments.no_sound else _room(settings, found)
    found = [*found, *broken]
    speeds = [] if arguments.no_speed else _speeds(settings, found)
    faults = faults_of(found, room, speeds, settings)
    recommended: dict[str, Value] = {fault.setting[0]: fault.setting[1] for fault in faults if fault.setting}
    chosen = _chosen(arguments, settings, room)
    file = config_path()
    return Report(
        *(found, faults, speeds, room, can_talk, how, file),
        settings={**chosen, **recommended},
        asked=arguments.write,
        lacks_file=is_named() and not file.exists(),
    )


def _room(settings: Settings, found: Sequence["Finding"]) -> "tuple[Room | None, list[Finding]]":
    """What was measured, and a finding about a device that cannot be opened."""
    from discussion_helper.doctor import Finding
    from discussion_helper.voice.devices import sound_devices
    from discussion_helper.voice.room_check import check_room

    if not _works(found, "microphone", "loudspeaker", "echo canceller"):
        return None, []
    text = "Please be quiet for 4 seconds: a chirp comes, as loud as speech (or --no-sound)."
    print(text, file=sys.stderr, flush=True)
    try:
        return check_room(sound_devices(settings.microphone, settings.loudspeaker)), []
    except DeviceError as error:
        return None, [Finding("sound", False, error.what, error.fix)]


def _speeds(settings: Settings, found: Sequence["Finding"]) -> "list[Speed]":
    from discussion_helper.commands.doctor_speed import measure_speeds

    speaks, answers = _works(found, "recogniser", "voice"), _works(found, "language model")
    return measure_speeds(settings, speaks=speaks, answers=answers) if speaks or answers else []


def _works(found: Sequence["Finding"], *parts: str) -> bool:
    return all(finding.ok for finding in found if finding.part in parts)


def _chosen(arguments: argparse.Namespace, settings: Settings, room: "Room | None") -> "dict[str, Value]":
    """What was given here and may be kept: devices by their whole names, which no other one has."""
    given: set[str] = getattr(arguments, "given", set())
    chosen: dict[str, Value] = {
        key: getattr(settings, key) for key in ("language", "stt", "voice", "llm") if key in given
    }
    for key in ("microphone", "loudspeaker"):
        if key in given or arguments.device:
            chosen[key] = getattr(room or settings, key)
    return chosen

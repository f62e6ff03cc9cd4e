"""What talk the arguments ask for."""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

from discussion_helper.commands.option import chosen_parts
from discussion_helper.errors import DeviceError, SettingError
from discussion_helper.settings import Settings

__all__ = ["Plan", "plan_of", "settings_of"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What talk to hold, and what to tell about it at its start."""

    settings: Settings
    remarks: tuple[str, ...] = ()


def plan_of(arguments: argparse.Namespace) -> Plan:
    """What the arguments ask for, with recordings in the place of devices that are missing.

    Blocks. Raises DiscussionError.
    """
    from discussion_helper.commands.talk_demo import demo_clips, missing_microphone

    if arguments.input or arguments.device or arguments.microphone:
        inputs, missing = tuple(arguments.input), None
        settings_of(arguments, inputs, arguments.output)  # what contradicts itself is told before any device is
    elif missing := missing_microphone():
        inputs = demo_clips(arguments.language)
    else:
        inputs = ()
        settings_of(arguments, (), arguments.output)
        _check_loudspeaker(arguments)
    output, where = _output(arguments) if inputs else (arguments.output, "")
    instead = f"{missing.what.rstrip('.')}: recorded people speak instead." if missing else ""
    return Plan(settings_of(arguments, inputs, output), tuple(filter(None, (instead, where))))


def _check_loudspeaker(arguments: argparse.Namespace) -> None:
    """For a talk with this machine's microphone. Raises DeviceError."""
    from discussion_helper.commands.talk_demo import missing_loudspeaker

    if not arguments.loudspeaker and (missing := missing_loudspeaker(None)):
        fix = f"{missing.fix.rstrip('.')}, or talk with recordings: --input FILE --output FILE."
        raise DeviceError(missing.what, fix=fix)


def _output(arguments: argparse.Namespace) -> tuple[Path | None, str]:
    """The file that the answers to recordings are written to, if any, and a line about it. Raises SettingError."""
    from discussion_helper.commands.talk_demo import free_path, missing_loudspeaker

    if arguments.output:
        return arguments.output, f"The answers are recorded in {arguments.output}."
    if (missing := missing_loudspeaker(arguments.loudspeaker)) is None:
        return None, ""
    if arguments.loudspeaker:
        fix = f"{missing.fix.rstrip('.')}, or --output FILE."
        raise SettingError(f"loudspeaker: {missing.what}", fix=fix)
    output = free_path(Path("talk.wav"))
    return output, f"{missing.what.rstrip('.')}: the answers are recorded in {output}."


def settings_of(arguments: argparse.Namespace, inputs: tuple[Path, ...], output: Path | None) -> Settings:
    """The settings. Raises SettingError, which names the option's field."""
    if inputs and (arguments.device or arguments.microphone):
        raise SettingError("--input speaks instead of a microphone.", fix="Leave out --device and --microphone.")
    if output and not inputs:
        what = "--output records the answers to recordings, and this talk has a microphone."
        raise SettingError(what, fix="Leave it out, or name recordings with --input FILE.")
    if output and arguments.loudspeaker:
        raise SettingError("--output is written instead of playing.", fix="Leave out --loudspeaker.")
    if inputs and arguments.turn_policy == "push_to_talk":
        raise SettingError(
            "--push-to-talk: recordings press no key.", fix="Add --open-microphone, or use a microphone."
        )
    parts = chosen_parts(arguments)
    return replace(
        parts,
        system=arguments.system,
        tools=arguments.tools,
        filler=arguments.filler,
        inputs=inputs,
        output=output,
        policy=replace(
            parts.policy,
            allow_barge_in=not arguments.no_barge_in,
            max_reply_sentences=arguments.max_sentences,
            silence_timeout_s=arguments.silence_timeout,
            turn_policy=arguments.turn_policy,
            wake_word=arguments.wake_word,
        ),
    )

"""`discussion-helper talk`: a conversation with this machine, by voice."""

import argparse
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from discussion_helper.commands.option import Given, with_file
from discussion_helper.commands.store_file import store_option
from discussion_helper.commands.talk_record import add_recording, record_to
from discussion_helper.commands.talk_thread import add_keeping, kept_thread
from discussion_helper.errors import DeviceError, SettingError
from discussion_helper.settings import Settings
from discussion_helper.types import Policy

if TYPE_CHECKING:
    from discussion_helper.app import Talk
    from discussion_helper.commands.talk_owner import FaceOf, Opener, Plan

__all__ = ["add_parser", "hold_talk", "plan_of", "run", "settings_of", "suggestion"]

_DEFAULTS = Settings()
_KEYS = """
Keys: Esc or Ctrl-X interrupts the answer while it is spoken, Ctrl-T closes the microphone and opens it again, Page Up
and Page Down scroll, Enter says what was typed, Ctrl-Z stops the program and closes the microphone until the shell's
`fg`, Ctrl-Q quits, Ctrl-C quits with exit code 130. Without a terminal on stdin and stdout there is one line on stderr
for each event, and the lines of stdin are typed turns.
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    about = "talk with this machine"
    parser = subparsers.add_parser("talk", help=about, description=f"{about.capitalize()}.", epilog=_KEYS)
    parts = parser.add_argument_group("what listens, answers and speaks")
    parts.add_argument(
        "--language", action=Given, metavar="CODE", default=_DEFAULTS.language, help="language (default: %(default)s)"
    )
    text = "voice model, or a Piper FILE.onnx (default: %(default)s)"
    parts.add_argument("--voice", action=Given, metavar="NAME", default=_DEFAULTS.voice, help=text)
    parts.add_argument(
        "--stt", action=Given, metavar="NAME", default=_DEFAULTS.stt, help="recogniser model (default: %(default)s)"
    )
    parts.add_argument(
        "--llm",
        action=Given,
        metavar="SPEC",
        default=_DEFAULTS.llm,
        help="embedded, FILE.gguf, or MODEL@URL (default: %(default)s)",
    )
    parts.add_argument(
        "--system", action=Given, metavar="TEXT", default=_DEFAULTS.system, help="what the model is told beforehand"
    )
    _add_devices(parser)
    _add_policy(parser)
    add_keeping(parser)
    add_recording(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout when the talk is over")
    parser.set_defaults(run=run, takes_signals=True)


def _add_devices(parser: argparse.ArgumentParser) -> None:
    devices = parser.add_argument_group("devices", "A part of a name is enough: see `discussion-helper devices`.")
    devices.add_argument("--device", metavar="NAME", help="microphone and loudspeaker")
    devices.add_argument("--microphone", action=Given, metavar="NAME", help="microphone alone")
    devices.add_argument("--loudspeaker", action=Given, metavar="NAME", help="loudspeaker alone")
    text = "recordings that speak instead of a microphone, one turn a file"
    devices.add_argument("--input", metavar="FILE", type=Path, nargs="+", action="extend", default=[], help=text)
    text = "WAV file instead of the loudspeaker, for talks with recordings"
    devices.add_argument("--output", metavar="FILE", type=Path, help=text)


def _add_policy(parser: argparse.ArgumentParser) -> None:
    policy = parser.add_argument_group("manners")
    text = "answers cannot be interrupted by talking, or can, whatever the settings file says"
    policy.add_argument("--no-barge-in", "--barge-in", action=Given, nargs=0, default=False, help=text)
    policy.add_argument(
        "--max-sentences", action=Given, metavar="N", type=int, default=0, help="longest answer; 0 = no limit"
    )
    text = "end after so many seconds of silence; 0 = never"
    policy.add_argument("--silence-timeout", action=Given, metavar="S", type=float, default=0.0, help=text)


def run(arguments: argparse.Namespace) -> int:
    """Hold the talk; its exit code. Raises DiscussionError."""
    return hold_talk(arguments, partial(_open, arguments))


def hold_talk(arguments: argparse.Namespace, opener: "Opener") -> int:
    """Hold the talk that `opener` opens; its exit code. Raises DiscussionError."""
    import anyio

    from discussion_helper.commands.ending import ExitSoon
    from discussion_helper.commands.talk_json import Document, stdout_kept
    from discussion_helper.commands.talk_owner import TalkOwner

    face_of = _face_of(arguments)
    with stdout_kept() if arguments.json else nullcontext() as stream:
        document = Document(stream)
        exit_soon = ExitSoon(document.print, silent=document.silent)
        owner = TalkOwner(opener, face_of, document, exit_soon, suggest=suggestion)
        with exit_soon.at_once():
            return anyio.run(owner.hold, lambda: plan_of(with_file(arguments)))


@asynccontextmanager
async def _open(arguments: argparse.Namespace, settings: Settings) -> "AsyncIterator[Talk]":
    import anyio

    from discussion_helper.commands.screen import complain

    # Audio and models take a while to import; meanwhile Ctrl-C is taken.
    await anyio.to_thread.run_sync(__import__, "discussion_helper.app")
    from discussion_helper.app import open_talk

    async with (
        kept_thread(arguments) as thread,
        open_talk(settings, thread=thread, record=record_to(arguments)) as talk,
    ):
        try:
            yield talk
        finally:
            if thread is not None and len(thread.thread.state):
                store = store_option(arguments.store)
                complain(f"Go on with: discussion-helper talk --thread={thread.thread.id}{store}")


# -- what talk


def plan_of(arguments: argparse.Namespace) -> "Plan":
    """What the arguments ask for, with recordings in the place of devices that are missing.

    Blocks. Raises DiscussionError.
    """
    from discussion_helper.commands.talk_demo import demo_clips, missing_microphone
    from discussion_helper.commands.talk_owner import Plan

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
    return Settings(
        language=arguments.language,
        stt=arguments.stt,
        voice=arguments.voice,
        llm=arguments.llm,
        system=arguments.system,
        microphone=arguments.microphone or arguments.device,
        loudspeaker=arguments.loudspeaker or arguments.device,
        inputs=inputs,
        output=output,
        policy=Policy(
            allow_barge_in=not arguments.no_barge_in,
            max_reply_sentences=arguments.max_sentences,
            silence_timeout_s=arguments.silence_timeout,
        ),
    )


async def suggestion(settings: Settings) -> str:
    """A line about a language model server that runs on this machine, for those who use the default model."""
    import anyio

    if settings.llm != _DEFAULTS.llm:
        return ""
    # An HTTP client takes a while to import; meanwhile the talk goes on.
    await anyio.to_thread.run_sync(__import__, "discussion_helper.responder.discovery")
    from discussion_helper.responder.discovery import find_local_servers

    for server in await find_local_servers():
        return f"{server.name} with {server.models[0]} answers at {server.base_url}: use --llm {server.choices[0]}"
    return ""


# -- how it is shown


def _face_of(arguments: argparse.Namespace) -> "FaceOf":
    screen = sys.stderr if arguments.json else sys.stdout
    if all(_is_terminal(stream) for stream in (sys.stdin, sys.stdout, screen)):
        return _terminal_face(screen)
    return _plain_face()


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def _plain_face() -> "FaceOf":
    from discussion_helper.commands.talk_plain import PlainFace

    return lambda wishes, _: PlainFace(wishes, typed=_typed())


def _typed() -> int | None:
    """What typed turns are read from: stdin, unless it is a terminal, which a job in the background must not read."""
    try:
        return None if sys.stdin.isatty() else sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # there is no stdin
        return None


def _terminal_face(screen: TextIO) -> "FaceOf":
    from discussion_helper.commands.screen import terminal_screen
    from discussion_helper.commands.talk_view import TerminalFace

    return lambda wishes, end: TerminalFace(wishes, end, lambda: terminal_screen(screen))

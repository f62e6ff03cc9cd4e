"""`discussion-helper talk`: a conversation with this machine, by voice."""

import argparse
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, TextIO

from discussion_helper.commands import stdout
from discussion_helper.commands.option import with_file
from discussion_helper.commands.store_file import store_option
from discussion_helper.commands.suggestion import suggestion
from discussion_helper.commands.talk_options import add_options
from discussion_helper.commands.talk_plan import plan_of
from discussion_helper.commands.talk_record import add_recording, record_to
from discussion_helper.commands.talk_thread import add_keeping, kept_thread
from discussion_helper.commands.terminal import is_terminal
from discussion_helper.errors import SettingError
from discussion_helper.settings import Settings

if TYPE_CHECKING:
    from discussion_helper.app import Talk
    from discussion_helper.commands.talk_face import FaceOf
    from discussion_helper.commands.talk_owner import Opener
    from discussion_helper.commands.talk_plan import Plan

__all__ = ["add_parser", "hold_talk", "run"]

_KEYS = """
With --push-to-talk Space is held while you talk, or pressed once before and once after; so is Enter, while nothing is
typed, and Ctrl-Space at any time. Keys: Esc or Ctrl-X interrupts the answer while it is spoken, Ctrl-T closes the
microphone and opens it again, Page Up and Page Down scroll, Enter says what was typed, Ctrl-Z stops the program and
closes the microphone until the shell's `fg`, Ctrl-Q quits, Ctrl-C quits with exit code 130. Without a terminal on stdin
and stdout there is one line on stderr for each event, and the lines of stdin are typed turns.
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    about = "talk with this machine"
    parser = subparsers.add_parser("talk", help=about, description=f"{about.capitalize()}.", epilog=_KEYS)
    add_options(parser)
    add_keeping(parser)
    add_recording(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout when the talk is over")
    parser.set_defaults(run=run, takes_signals=True, prints=False)  # without --json


def run(arguments: argparse.Namespace) -> int:
    """Hold the talk; its exit code. Raises DiscussionError."""
    from discussion_helper.commands.interpreter import PromptInterpreter

    with PromptInterpreter() as interpreter:  # the process is the talk's alone
        return hold_talk(arguments, interpreter.watching(partial(_open, arguments)))


def hold_talk(arguments: argparse.Namespace, opener: "Opener") -> int:
    """Hold the talk that `opener` opens; its exit code. Raises DiscussionError."""
    import anyio

    from discussion_helper.commands.ending import ExitSoon
    from discussion_helper.commands.talk_json import Document
    from discussion_helper.commands.talk_leaving import Leaving
    from discussion_helper.commands.talk_owner import TalkOwner

    face_of = _face_of(arguments)
    with stdout.kept() if arguments.json else nullcontext() as stream:
        document = Document(stream)
        leaving = Leaving(document)
        exit_soon = ExitSoon(leaving.say, silent=document.silent)
        owner = TalkOwner(opener, face_of, leaving, exit_soon, suggest=suggestion)
        with exit_soon.at_once():
            return anyio.run(owner.hold, lambda: _checked(plan_of(with_file(arguments))))


def _checked(plan: "Plan") -> "Plan":
    """Raises SettingError for push to talk where no keys are read."""
    if plan.settings.policy.turn_policy == "push_to_talk" and not all(map(is_terminal, (sys.stdin, sys.stdout))):
        what = "--push-to-talk needs the keyboard of a terminal."
        raise SettingError(what, fix="Start it in one, or add --open-microphone.")
    return plan


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


# -- how it is shown


def _face_of(arguments: argparse.Namespace) -> "FaceOf":
    screen = sys.stderr if arguments.json else sys.stdout
    if all(is_terminal(stream) for stream in (sys.stdin, sys.stdout, screen)):
        return _terminal_face(screen)
    return _plain_face()


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

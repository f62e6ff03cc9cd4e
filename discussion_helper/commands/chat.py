"""`discussion-helper chat`: a conversation with this machine, in writing."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from discussion_helper.commands import stdout
from discussion_helper.commands.terminal import is_terminal
from discussion_helper.errors import SettingError
from discussion_helper.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from prompt_toolkit.history import History

    from discussion_helper.commands.chat_request import ChatRequest
    from discussion_helper.commands.ending import ExitSoon

__all__ = ["add_parser", "request_of", "run"]

_DEFAULTS = Settings()
_KEYS = """
Keys: Enter sends, Alt-Enter (or Esc and then Enter, Ctrl-J, and Shift-Enter where the terminal tells it) begins a new
line, Up and Down bring back what was typed, Esc cancels the answer, and a second Esc within a second drops what
waits, Ctrl-O unfolds what was thought and which tools were called, Page Up and Page Down scroll, Ctrl-Q quits, Ctrl-C
quits with exit code 130.
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    about = "write with this machine, in the terminal or through a pipe"
    parser = subparsers.add_parser("chat", help=about, description=f"{about.capitalize()}.", epilog=_KEYS)
    text = "embedded, FILE.gguf, or MODEL@URL (default: %(default)s)"
    parser.add_argument("--llm", metavar="SPEC", default=_DEFAULTS.llm, help=text)
    text = "what the model is told beforehand; it is kept with the thread"
    parser.add_argument("--system", metavar="TEXT", default=_DEFAULTS.system, help=text)
    _add_threads(parser)
    pipe = parser.add_argument_group("without a terminal")
    pipe.add_argument("--pipe", action="store_true", help="stdin is one message, and the answer goes to stdout")
    pipe.add_argument("--details", action="store_true", help="with what was thought, and tools, as fenced blocks")
    pipe.add_argument("--quiet", action="store_true", help="without the line on stderr that tells how to go on")
    pipe.add_argument("--json", action="store_true", help="one JSON object for each event instead of text")
    parser.set_defaults(run=run, takes_signals=True)


def _add_threads(parser: argparse.ArgumentParser) -> None:
    threads = parser.add_argument_group("threads", "Everything said is kept, in a database of this user's.")
    one = threads.add_mutually_exclusive_group()
    one.add_argument("--new", action="store_true", help="begin a new thread (default)")
    one.add_argument("--last", action="store_true", help="go on with the last thread")
    one.add_argument("--thread", metavar="ID", help="go on with this thread")
    text = "another database; for a new thread it is made where there is none"
    threads.add_argument("--store", metavar="FILE", type=Path, help=text)


def run(arguments: argparse.Namespace) -> int:
    """Hold the chat; its exit code. Raises DiscussionError."""
    if not arguments.pipe:
        for option in ("details", "json", "quiet"):
            if getattr(arguments, option):
                raise SettingError(f"--{option} goes with --pipe.", fix="Add --pipe, or leave it out.")
        if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
            raise SettingError("There is no terminal to draw on.", fix="Use --pipe: stdin is the message then.")

    from discussion_helper.commands.ending import ExitSoon

    exit_soon = ExitSoon(lambda: None, silent=lambda: False)
    with exit_soon.at_once():
        return _pipe(arguments, exit_soon) if arguments.pipe else _show(arguments, exit_soon)


def request_of(arguments: argparse.Namespace) -> "ChatRequest":
    """What the arguments ask for. Raises SettingError, which names the option's field."""
    from discussion_helper.commands.chat_request import ChatRequest
    from discussion_helper.commands.store_file import checked_file, file_to_read

    checked = file_to_read if arguments.thread or arguments.last else checked_file
    store = checked("--store", arguments.store)
    if arguments.thread == "":
        raise SettingError("--thread: it is empty.", fix="Name a thread's id, or leave it out to begin one.")
    settings = Settings(llm=arguments.llm, system=arguments.system)
    return ChatRequest(settings, store, arguments.thread or "", arguments.last)


def _show(arguments: argparse.Namespace, exit_soon: "ExitSoon") -> int:
    import anyio

    from discussion_helper.commands.chat_owner import ChatOwner
    from discussion_helper.commands.screen import terminal_screen
    from discussion_helper.commands.suggestion import suggestion

    owner = ChatOwner(lambda: terminal_screen(sys.stdout), _history, exit_soon, suggest=suggestion)
    return anyio.run(owner.hold, request_of(arguments))


def _history() -> "History":
    from prompt_toolkit.history import InMemoryHistory

    from discussion_helper.commands.chat_history import TypedHistory
    from discussion_helper.text_app import data_folder

    try:
        return TypedHistory(data_folder() / "typed.txt")
    except SettingError:  # no folder; whoever has threads elsewhere can still chat
        return InMemoryHistory()


def _pipe(arguments: argparse.Namespace, exit_soon: "ExitSoon") -> int:
    from functools import partial

    import anyio

    from discussion_helper.commands.chat_pipe import message_from, pipe, to_text

    message = message_from(None if sys.stdin is None else sys.stdin.buffer)
    with stdout.kept() as stream:
        text_of = to_text(wire=arguments.json, details=arguments.details)
        quiet = arguments.quiet or arguments.json  # whose first line holds the thread's id
        work = partial(pipe, request_of(arguments), message, text_of, _writer(stream), exit_soon, quiet=quiet)
        return anyio.run(work)


def _writer(stream: TextIO) -> "Callable[[str], None]":
    def write(text: str) -> None:
        stream.write(text)
        stream.flush()

    return write

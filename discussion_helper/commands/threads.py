"""`discussion-helper threads`: the conversations that are kept."""

import argparse
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discussion_helper.commands.json_text import json_text
from discussion_helper.errors import SettingError

if TYPE_CHECKING:
    from discussion_helper.text.artifacts import Artifact
    from discussion_helper.text.state import Turn
    from discussion_helper.text.threads.sqlite import SqliteThreads

__all__ = ["add_parser"]

_EPILOG = "An ID that begins with - goes to the end of the line, behind --."

_Run = Callable[["SqliteThreads", argparse.Namespace], Awaitable[None]]


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    about = "list, show and delete the conversations that are kept"
    parser = subparsers.add_parser("threads", help=about, description=f"{about.capitalize()}.")
    actions = parser.add_subparsers(dest="action", metavar="{list,show,delete}", required=True)
    _action(actions, "list", _list, "every thread, the newest first: id, when, how many turns, first words")
    shown = _action(actions, "show", _show, "what was said in a thread").add_mutually_exclusive_group(required=True)
    shown.add_argument("id", metavar="ID", nargs="?", help="a thread's id")
    shown.add_argument("--last", action="store_true", help="the one that was changed last")
    text = "forget a thread; a session that has it open ends with its next message"
    _action(actions, "delete", _delete, text).add_argument("id", metavar="ID", help="a thread's id")


def _action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, work: _Run, text: str
) -> argparse.ArgumentParser:
    about = f"{text[0].upper()}{text[1:]}."
    parser = actions.add_parser(name, help=text, description=about, epilog="" if name == "list" else _EPILOG)
    parser.add_argument("--store", metavar="FILE", type=Path, help="another database than this user's own")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.set_defaults(run=lambda arguments: _run(work, arguments))
    return parser


def _run(work: _Run, arguments: argparse.Namespace) -> int:
    """Do it; the exit code. Raises DiscussionError."""
    import anyio

    from discussion_helper.text.threads.sqlite import SqliteThreads

    path = _path_of(arguments.store)

    async def opened() -> None:
        async with SqliteThreads(path) as store:
            await work(store, arguments)

    anyio.run(opened)
    return 0


def _path_of(path: Path | None) -> str:
    """The database; looking makes none. Raises SettingError."""
    from discussion_helper.commands.store_file import file_to_read
    from discussion_helper.text.threads.database import MEMORY
    from discussion_helper.text_app import data_folder

    path = file_to_read("--store", path)
    own = path or data_folder() / "threads.sqlite"
    return str(own) if own.is_file() else MEMORY


# -- list


async def _list(store: "SqliteThreads", arguments: argparse.Namespace) -> None:
    from discussion_helper.text.threads.document import entries_of

    entries = await entries_of(store)
    if arguments.json:
        print(json_text(entries))
    elif not entries:
        print("There is no thread yet: discussion-helper chat begins one.")
    else:
        for entry in entries:
            print(_line(entry))


def _line(entry: dict[str, Any]) -> str:
    from datetime import datetime

    from discussion_helper.commands.wrap import printable

    when = datetime.fromisoformat(entry["updated_at"]).astimezone()
    turns, said = entry.get("turn_count", "?"), entry.get("error") or entry["first"]
    noun = "turn " if turns == 1 else "turns"
    return f"{entry['id']:<22}  {when:%Y-%m-%d %H:%M}  {turns:>4} {noun}  {printable(said)}".rstrip()


# -- show and delete


async def _show(store: "SqliteThreads", arguments: argparse.Namespace) -> None:
    from discussion_helper.text.errors import ThreadNotFoundError
    from discussion_helper.text.threads.document import document_of, unanswered

    try:
        thread = await store.get(await _last(store) if arguments.last else arguments.id)
    except ThreadNotFoundError:
        raise _no_thread(arguments) from None
    if arguments.json:
        print(json_text(document_of(thread)))
        return
    turns = thread.state.turns
    for turn, mark in zip(turns, unanswered(turns), strict=True):
        for line in _lines_of(turn, answered=not mark):
            print(line)


async def _last(store: "SqliteThreads") -> str:
    """Of those in which something was said, as `chat --last` takes it. Raises SettingError."""
    for info in await store.list():
        if len((await store.get(info.id)).state):
            return info.id
    raise SettingError("--last: there is no thread yet.", fix="Begin one: discussion-helper chat")


def _lines_of(turn: "Turn", *, answered: bool) -> Iterator[str]:
    """Who said it, and the text indented by that; in brackets tools, what an image is, and what became of it."""
    from discussion_helper.commands.chat_markdown import clean_lines
    from discussion_helper.text.threads.document import NOT_ANSWERED

    label = {"user": "you", "assistant": "agent"}.get(turn.role, turn.role)
    said = [text for artifact in turn.artifacts if (text := _text_of(artifact)).strip()]
    if turn.interrupted:
        said.append("[interrupted]")
    if not answered:
        said.append(NOT_ANSWERED)
    for line in clean_lines("\n".join(said)):
        yield f"{label:<7}{line}".rstrip()
        label = ""


def _text_of(artifact: "Artifact") -> str:
    from discussion_helper.text.artifacts import Image, Text, ToolCall, ToolResult

    match artifact:
        case Text(content):
            return content
        case ToolCall(_, name, arguments):
            return f"[calls {name} {arguments}]"
        case ToolResult():
            return f"[{'fails' if artifact.is_error else 'gives'} {artifact.for_model}]"
        case Image(url):
            return f"[image {url}]"
    return ""


async def _delete(store: "SqliteThreads", arguments: argparse.Namespace) -> None:
    if not await store.delete(arguments.id):
        raise _no_thread(arguments)
    if arguments.json:
        print(json_text({"deleted": arguments.id}))
    else:
        print(f"Thread {arguments.id} is deleted.")


def _no_thread(arguments: argparse.Namespace) -> SettingError:
    from discussion_helper.commands.store_file import store_option

    fix = f"See: discussion-helper threads list{store_option(arguments.store)}"
    return SettingError(f"There is no thread {arguments.id[:80]!r}.", fix=fix)

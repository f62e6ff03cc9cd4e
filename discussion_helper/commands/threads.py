"""`discussion-helper threads`: the conversations that are kept."""

import argparse
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discussion_helper.errors import SettingError

if TYPE_CHECKING:
    from discussion_helper.text.artifacts import Artifact
    from discussion_helper.text.state import Turn
    from discussion_helper.text.threads.base import ThreadInfo
    from discussion_helper.text.threads.sqlite import SqliteThreads

__all__ = ["add_parser"]

_WORDS = 60
"""Characters of the first words."""
_EPILOG = "An ID that begins with - goes to the end of the line, behind --."

_Run = Callable[["SqliteThreads", argparse.Namespace], Awaitable[None]]


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    about = "list, show and delete the conversations that are kept"
    parser = subparsers.add_parser("threads", help=about, description=f"{about.capitalize()}.")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _action(actions, "list", _list, "every thread, the newest first: id, when, how many turns, first words")
    for name, work, text in (
        ("show", _show, "what was said in a thread"),
        ("delete", _delete, "forget a thread"),
    ):
        _action(actions, name, work, text).add_argument("id", metavar="ID", help="a thread's id")


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
    from discussion_helper.commands.store_file import checked_file
    from discussion_helper.text.threads.database import MEMORY
    from discussion_helper.text_app import data_folder

    path = checked_file("--store", path)
    if path is not None and not path.is_file():
        raise SettingError(f"--store: {path} is not there.", fix="Name the file that chat was given.")
    own = path or data_folder() / "threads.sqlite"
    return str(own) if own.is_file() else MEMORY


# -- list


async def _list(store: "SqliteThreads", arguments: argparse.Namespace) -> None:
    rows = [await _row(store, info) for info in await store.list()]
    if arguments.json:
        _print_json({"threads": rows})
    elif not rows:
        print("There is no thread yet: discussion-helper chat begins one.")
    else:
        for row in rows:
            print(_line(row))


async def _row(store: "SqliteThreads", info: "ThreadInfo") -> dict[str, Any]:
    """A thread in short; `error` where its turns cannot be read."""
    from discussion_helper.text.errors import ThreadCorruptError

    head = _head(info)
    try:
        turns = (await store.get(info.id)).state.turns
    except ThreadCorruptError as error:
        return {**head, "error": str(error)}
    first = next((turn.text for turn in turns if turn.role == "user" and turn.text.strip()), "")
    return {**head, "turns": len(turns), "first": " ".join(first.split())[:_WORDS]}


def _line(row: dict[str, Any]) -> str:
    from datetime import datetime

    from discussion_helper.commands.wrap import printable

    when = datetime.fromisoformat(row["updated_at"]).astimezone()
    turns, said = row.get("turns", "?"), row.get("error") or row["first"]
    noun = "turn " if turns == 1 else "turns"
    return f"{row['id']:<22}  {when:%Y-%m-%d %H:%M}  {turns:>4} {noun}  {printable(said)}".rstrip()


# -- show and delete


async def _show(store: "SqliteThreads", arguments: argparse.Namespace) -> None:
    from discussion_helper.text.errors import ThreadNotFoundError
    from discussion_helper.text.threads.base import info_of
    from discussion_helper.text.threads.codec import turn_data

    try:
        thread = await store.get(arguments.id)
    except ThreadNotFoundError:
        raise _no_thread(arguments.id) from None
    if arguments.json:
        turns = [turn_data(turn) for turn in thread.state.turns]
        _print_json({**_head(info_of(thread)), "metadata": thread.metadata, "turns": turns})
        return
    for turn in thread.state.turns:
        for line in _lines_of(turn):
            print(line)


def _lines_of(turn: "Turn") -> Iterator[str]:
    """Who said it, and the text indented by that; tools, and what an image is, in brackets."""
    from discussion_helper.commands.chat_markdown import clean_lines

    label = {"user": "you", "assistant": "agent"}.get(turn.role, turn.role)
    said = [text for artifact in turn.artifacts if (text := _text_of(artifact)).strip()]
    if turn.interrupted:
        said.append("[interrupted]")
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
        raise _no_thread(arguments.id)
    if arguments.json:
        _print_json({"deleted": arguments.id})
    else:
        print(f"Thread {arguments.id} is deleted.")


def _no_thread(thread_id: str) -> SettingError:
    return SettingError(f"There is no thread {thread_id[:80]!r}.", fix="See: discussion-helper threads list")


def _head(info: "ThreadInfo") -> dict[str, Any]:
    return {"id": info.id, "created_at": info.created_at.isoformat(), "updated_at": info.updated_at.isoformat()}


def _print_json(data: dict[str, Any]) -> None:
    from discussion_helper.text.threads.codec import dumped

    print(dumped(data).decode())

"""What `talk --keep`, `--thread` and `--store` ask for: a talk that is kept, turn by turn."""

import argparse
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from discussion_helper.errors import SettingError

if TYPE_CHECKING:
    from discussion_helper.parts import Thread as Keeper
    from discussion_helper.text.spoken import SpokenThread
    from discussion_helper.text.state import Turn
    from discussion_helper.text.threads.base import Thread, ThreadStore

__all__ = ["SHOWN", "add_keeping", "kept_id", "kept_thread", "past_of"]

SHOWN = 4
"""Turns of a thread that are told when a talk goes on with it."""
_LONGEST = 200
"""Columns of each."""


def add_keeping(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    about = "Off unless asked for. Kept talks are threads, like those of `chat`: see `discussion-helper threads`."
    keeping = parser.add_argument_group("keeping", about)
    keeping.add_argument("--keep", action="store_true", help="keep what is said, each turn before it is answered")
    one = keeping.add_mutually_exclusive_group()
    one.add_argument("--thread", metavar="ID", help="go on with a thread, spoken or written, and keep what is said")
    one.add_argument("--last", action="store_true", help="go on with the last thread")
    text = "keep it in another database than this user's own"
    keeping.add_argument("--store", metavar="FILE", type=Path, help=text)


@asynccontextmanager
async def kept_thread(arguments: argparse.Namespace) -> "AsyncIterator[SpokenThread | None]":
    """Where the talk's turns go, None = nowhere; a new thread in which nothing was said is forgotten.

    Raises SettingError, and what a store raises that cannot be opened.
    """
    from discussion_helper.commands.store_file import checked_file, file_to_read

    checked = file_to_read if arguments.thread or arguments.last else checked_file
    path, kept = checked("--store", arguments.store), arguments.keep or arguments.thread or arguments.last
    if arguments.thread == "":
        raise SettingError("--thread: it is empty.", fix="Name a thread's id, or begin a thread with --keep.")
    if path is not None and not kept:
        raise SettingError("--store: nothing is kept.", fix="Add --keep or --thread ID, or leave it out.")
    if not kept:
        yield None
        return
    from discussion_helper.text.spoken import SpokenThread
    from discussion_helper.text.threads.sqlite import SqliteThreads
    from discussion_helper.text_app import data_folder

    file = path or await anyio.to_thread.run_sync(data_folder) / "threads.sqlite"
    async with SqliteThreads(file) as store:
        thread = SpokenThread(store, await _thread(store, arguments))
        try:
            yield thread
        finally:
            with anyio.CancelScope(shield=True):
                if not len(thread.thread.state):
                    await store.delete(thread.thread.id)


async def _thread(store: "ThreadStore", arguments: argparse.Namespace) -> "Thread":
    from discussion_helper.commands.store_file import store_option
    from discussion_helper.text.errors import ThreadNotFoundError

    if arguments.last:
        return await _last(store)
    if not arguments.thread:
        return await store.create()
    try:
        return await store.get(arguments.thread)
    except ThreadNotFoundError:
        what = f"--thread: there is no thread {arguments.thread[:80]!r}."
        raise SettingError(what, fix=f"See: discussion-helper threads list{store_option(arguments.store)}") from None


async def _last(store: "ThreadStore") -> "Thread":
    for info in await store.list():
        if len((thread := await store.get(info.id)).state):  # others were left before anything was said
            return thread
    raise SettingError("--last: there is no thread yet.", fix="Begin one with --keep.")


# -- what is told of it


def kept_id(keeper: "Keeper | None") -> str | None:
    """The id of the thread that a talk is kept in; None while there is nothing in it, for then it is forgotten."""
    from discussion_helper.text.spoken import SpokenThread

    kept = keeper.thread if isinstance(keeper, SpokenThread) else None
    return kept.id if kept is not None and len(kept.state) else None


def past_of(keeper: "Keeper | None") -> Iterator[str]:
    """What to tell at the start: where the talk is kept, and the last turns of what it goes on with."""
    from discussion_helper.text.spoken import SpokenThread

    if not isinstance(keeper, SpokenThread):
        return
    turns = keeper.thread.state.turns
    if not turns:
        yield f"This talk is kept as thread {keeper.thread.id}."
        return
    noun = "turn" if len(turns) == 1 else "turns"
    yield f"Going on with {len(turns)} {noun} of thread {keeper.thread.id}."
    said = [line for turn in turns if (line := _line(turn))]
    yield from (["..."] if len(said) > SHOWN else [])
    yield from said[-SHOWN:]


def _line(turn: "Turn") -> str:
    """What was said, by whom; "" for nothing, and for what nobody said."""
    from discussion_helper.commands.wrap import printable, shortened

    who = {"user": "you", "assistant": "agent"}.get(turn.role, "")
    text = printable(turn.text).strip()
    return shortened(f"{who}: {text}", _LONGEST) if who and text else ""

"""What `talk --keep`, `--thread` and `--store` ask for: a talk that is kept, turn by turn."""

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from discussion_helper.errors import SettingError

if TYPE_CHECKING:
    from discussion_helper.text.spoken import SpokenThread
    from discussion_helper.text.threads.base import Thread, ThreadStore

__all__ = ["add_keeping", "kept_thread"]


def add_keeping(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    about = "Off unless asked for. Kept talks are threads, like those of `chat`: see `discussion-helper threads`."
    keeping = parser.add_argument_group("keeping", about)
    keeping.add_argument("--keep", action="store_true", help="keep what is said, each turn before it is answered")
    keeping.add_argument("--thread", metavar="ID", help="go on with a thread, spoken or written, and keep what is said")
    text = "keep it in another database than this user's own"
    keeping.add_argument("--store", metavar="FILE", type=Path, help=text)


@asynccontextmanager
async def kept_thread(arguments: argparse.Namespace) -> "AsyncIterator[SpokenThread | None]":
    """Where the talk's turns go, None = nowhere; a new thread in which nothing was said is forgotten.

    Raises SettingError, and what a store raises that cannot be opened.
    """
    from discussion_helper.commands.store_file import checked_file

    path = checked_file("--store", arguments.store)
    if path is not None and not (arguments.keep or arguments.thread):
        raise SettingError("--store: nothing is kept.", fix="Add --keep or --thread ID, or leave it out.")
    if not (arguments.keep or arguments.thread):
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

    if not arguments.thread:
        return await store.create()
    try:
        return await store.get(arguments.thread)
    except ThreadNotFoundError:
        what = f"--thread: there is no thread {arguments.thread[:80]!r}."
        raise SettingError(what, fix=f"See: discussion-helper threads list{store_option(arguments.store)}") from None

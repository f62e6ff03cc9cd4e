"""A process that stores turns in a thread and says so: `threads_child.py json|sqlite PATH THREAD [COUNT]`."""

import itertools
import sys

import anyio

from discussion_helper.text.artifacts import Text
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.durable import DurableThreads
from discussion_helper.text.threads.json_files import JsonThreads
from discussion_helper.text.threads.sqlite import SqliteThreads

__all__: list[str] = []


async def main(*arguments: str) -> None:
    """Append turns, the text of each its number; COUNT of them, or until killed."""
    kind, path, thread_id, *count = arguments
    store: DurableThreads = JsonThreads(path) if kind == "json" else SqliteThreads(path)
    async with store:
        thread = await store.get(thread_id)
        start = len(thread.state)
        for number in range(start, start + int(count[0])) if count else itertools.count(start):
            await store.append(thread, Turn("user", (Text(str(number)),)))
            print(number, flush=True)
        print("closing", flush=True)


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])

"""A process that stores turns, each of which is then said to go on: `revising_child.py json|sqlite PATH THREAD [stop]`.

With `stop` it waits, for ever, between the first turn and its revision. It says what is stored.
"""

import itertools
import sys

import anyio

from discussion_helper.text.spoken import SpokenThread
from discussion_helper.text.threads.durable import DurableThreads
from discussion_helper.text.threads.json_files import JsonThreads
from discussion_helper.text.threads.sqlite import SqliteThreads
from discussion_helper.types import SpokenUtterance, Utterance

__all__: list[str] = []


async def main(*arguments: str) -> None:
    """Append turns and their revisions, until killed."""
    kind, path, thread_id, *stop = arguments
    store: DurableThreads = JsonThreads(path) if kind == "json" else SqliteThreads(path)
    async with store:
        thread = SpokenThread(store, await store.get(thread_id))
        for number in itertools.count(len(thread.messages()) // 2):
            await thread.append(SpokenUtterance("user", f"turn {number}"))
            print("said", number, flush=True)
            if stop:
                await anyio.sleep_forever()
            whole = SpokenUtterance("user", f"turn {number}, all of it", revises=f"turn {number}")
            await thread.append(whole)
            print("revised", number, flush=True)
            await thread.append(Utterance("agent", f"answer {number}"))


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])

"""A voice session on a stored thread that says when a turn was told: `talk_child.py PATH THREAD`, until killed."""

import itertools
import sys

import anyio

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text.spoken import SpokenThread
from discussion_helper.text.threads.sqlite import SqliteThreads

__all__: list[str] = []


async def main(path: str, thread_id: str) -> None:
    """Hold a talk in which every third answer is cut off."""
    async with SqliteThreads(path) as store:
        thread = SpokenThread(store, await store.get(thread_id))
        listener = ScriptedListener([f"turn {number}" for number in range(2000)], pace_s=0.001)
        voice = SilentVoice(seconds_per_sentence=0.004)
        session = Session(listener, EchoResponder(sentences=2), voice, thread=thread)
        async with session.events("utterance") as told:
            session.start()
            for number in itertools.count(1):
                event = await anext(told)
                print(event.data["speaker"], event.data["text"], sep="\t", flush=True)
                if number % 6 == 5:
                    await session.interrupt()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])

"""Storing the turns of a session in its thread."""

import anyio

from discussion_helper.background import isolated
from discussion_helper.parts import Thread
from discussion_helper.types import Utterance

__all__ = ["STORE_LIMIT_S", "store", "store_whatever_comes"]

STORE_LIMIT_S = 5.0
"""How long storing the agent's turn may take, also when the end has been asked for."""


async def store(thread: Thread | None, turn: Utterance) -> None:
    """Store one turn, where there is a thread."""
    if thread is not None:
        await isolated(lambda: thread.append(turn), name="the thread")


async def store_whatever_comes(thread: Thread | None, turn: Utterance) -> None:
    """Store one turn though the session is ending. Raises TimeoutError after STORE_LIMIT_S."""
    if thread is None:
        return
    with anyio.move_on_after(STORE_LIMIT_S, shield=True) as scope:
        await store(thread, turn)
    if scope.cancelled_caught:
        raise TimeoutError(f"the thread did not store a turn within {STORE_LIMIT_S:g} s")

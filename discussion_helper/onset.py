"""Asking a listener whether the user is speaking."""

import anyio

from discussion_helper.background import isolated
from discussion_helper.parts import Listener

__all__ = ["PROBE_S", "speech_started", "user_is_speaking"]

PROBE_S = 0.1
"""How long a listener may take to say that the user is speaking at this moment."""


async def speech_started(listener: Listener) -> None:
    """Wait until the user begins, or is, speaking. Raises what the listener fails with."""
    await isolated(listener.speech_started, name="the listener's speech_started")


async def user_is_speaking(listener: Listener) -> bool:
    """Whether the user is speaking at this moment."""
    with anyio.move_on_after(PROBE_S):
        await speech_started(listener)
        return True
    return False

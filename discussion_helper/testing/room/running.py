"""Running something in a room, from beginning to end, in virtual time."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from discussion_helper.testing.room.room import Room
from discussion_helper.testing.room.scene import Scene
from discussion_helper.testing.virtual_clock import VirtualTimeLoop

__all__ = ["run_in_room"]

T = TypeVar("T")


def run_in_room(main: Callable[[Room], Awaitable[T]], room: Room | Scene | None = None) -> T:
    """Enter the room on a loop of its own, `await main(room)`, leave it; what `main` returned.

    From code that is not async. Raises what `main` raises.
    """
    entered = room if isinstance(room, Room) else Room(room)

    async def run() -> T:
        async with entered:
            return await main(entered)

    return anyio.run(run, backend_options={"loop_factory": VirtualTimeLoop})

"""The moment from which nothing more comes of what was heard so far."""

import threading

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Call, Captured, Inbox
from discussion_helper.voice.heard_out import heard_out

pytestmark = pytest.mark.anyio


class Taken:
    """What takes the items of an inbox, on a thread of its own, from `begin` on."""

    def __init__(self, inbox: Inbox, count: int) -> None:
        self.blocks = 0
        self._inbox, self._count = inbox, count
        self._thread = threading.Thread(target=self._run)

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._thread.join(5.0)

    def _run(self) -> None:
        for _ in range(self._count):
            item = self._inbox.get(5.0)
            if isinstance(item, Call):
                item.fn()
            else:
                self.blocks += 1


async def test_it_waits_for_all_that_was_delivered_and_then_for_the_listener() -> None:
    inbox, order = Inbox(), list[str]()
    for number in range(3):
        inbox.put(Captured(Frame(np.zeros(480, np.float32), 48_000, 480 * number), 0.0))
    taken = Taken(inbox, 4)

    async def rested() -> None:
        order.append(f"{taken.blocks} blocks")

    async def wait() -> None:
        await heard_out(inbox, rested)
        order.append("heard out")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert [] == order
        taken.begin()
    taken.end()

    assert ["3 blocks", "heard out"] == order

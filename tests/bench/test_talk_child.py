"""The child that holds the talk which is measured, on the public fakes."""

import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from discussion_helper.app import Talk
from discussion_helper.bench import talk_child
from discussion_helper.bench.health_rows import health_row
from discussion_helper.bench.talk_handle import Told
from discussion_helper.session import Session
from discussion_helper.settings import Settings
from discussion_helper.testing.fakes import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import SpokenUtterance
from discussion_helper.voice.health import Health

pytestmark = pytest.mark.anyio


@dataclass
class Parent:
    """Gives the orders and notes what is told."""

    descriptor: int
    told: list[Told] = field(default_factory=list)
    changed: anyio.Event = field(default_factory=anyio.Event)

    def tell(self, kind: str, at_s: float | None = None, /, **data: Any) -> None:
        json.dumps(data)
        self.told.append(Told(kind, anyio.current_time() if at_s is None else at_s, data))
        self.changed.set()

    def order(self, **order: str) -> None:
        os.write(self.descriptor, json.dumps(order).encode() + b"\n")

    async def hears(self, kind: str, **data: Any) -> Told:
        with anyio.fail_after(10.0):
            while not (found := [told for told in self.told if told.means(kind, **data)]):
                self.changed = anyio.Event()
                await self.changed.wait()
        return found[0]


@pytest.fixture
def parent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Parent]:
    """With a talk in which the user says one thing and then only listens."""

    @asynccontextmanager
    async def opened(_: Settings) -> AsyncIterator[Talk]:
        turn = SpokenUtterance("user", "Hello.", 0.0, 0.25, endpoint_s=0.5)
        session = Session(ScriptedListener([turn], stays_open=True), EchoResponder(), SilentVoice(0.05))
        try:
            yield Talk(session, "", "", "", None, lambda: Health(blocks=9, late_p99_s=0.0123))
        finally:
            await session.stop()

    monkeypatch.setattr(talk_child, "open_talk", opened)
    ours, its = os.pipe()
    with os.fdopen(ours) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        parent = Parent(its)
        yield parent
        if parent.descriptor >= 0:
            os.close(parent.descriptor)


async def test_it_tells_of_turns_decoding_and_warmth_and_ends_with_its_orders(parent: Parent) -> None:
    async with anyio.create_task_group() as tasks:
        began = anyio.current_time()
        tasks.start_soon(talk_child.hold, Settings(), parent.tell)
        user = await parent.hears("utterance", speaker="user")
        await parent.hears("timing")
        os.close(parent.descriptor)
        parent.descriptor = -1
    assert user.data["voiced_until_s"] - began == pytest.approx(0.25, abs=0.2)
    assert user.data["decided_s"] - user.data["voiced_until_s"] == pytest.approx(0.5)
    assert {told.data["part"] for told in parent.told if told.kind == "warm"} == {"listener", "responder", "voice"}
    kinds = [told.kind for told in parent.told if told.kind in ("decoding", "timing")]
    assert kinds == ["decoding", "decoding", "timing"]


async def test_it_speaks_interrupts_and_tells_its_lag_when_asked(parent: Parent) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(talk_child.hold, Settings(), parent.tell)
        await parent.hears("timing")
        parent.order(do="speak", text=" ".join(["word"] * 40))
        await parent.hears("utterance", speaker="agent", text=" ".join(["word"] * 40))
        parent.order(do="interrupt")
        parent.order(do="stats")
        stats = await parent.hears("stats")
        os.close(parent.descriptor)
        parent.descriptor = -1
    health = stats.data["health"]
    assert (9, 0.0123, 0) == (health["blocks"], health["late_p99_s"], health["dropped"])
    assert 12.3 == health_row("turns", health).late_p99_ms
    assert all(lag >= 0.0 for _, lag in stats.data["lags"])

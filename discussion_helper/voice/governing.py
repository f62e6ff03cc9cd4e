"""A session under its governor: what is measured of it as it goes on, and the switches of what it can do without."""

import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol, runtime_checkable

from discussion_helper.background import LET_GO_S, Background
from discussion_helper.event import Event
from discussion_helper.failures import told
from discussion_helper.governor import SHEDS, Budgets, Change, Governor
from discussion_helper.session import Session
from discussion_helper.voice.health import Lag

__all__ = ["Governing", "Readings", "Switch", "Waits", "governed", "switches_of"]

Switch = Callable[[bool], Awaitable[None]]
"""Turns something off, and on again."""

_GAP_S = 0.01
"""Of a block of the loudspeaker that came too late, which lasts 5 ms, and of the device's own way back from that."""
_log = logging.getLogger(__name__)


@runtime_checkable
class Readings(Protocol):
    """A listener that tells how long readings take, and can do without those of a turn that goes on."""

    interim: bool
    """Whether such a turn is read."""
    readings: deque[float]
    """Seconds that the newest readings took; whoever looks takes them."""


@runtime_checkable
class Waits(Protocol):
    """A voice that tells how long it had to wait for clauses that were to be ready."""

    waits: deque[float]
    """Seconds; whoever looks takes them."""


def switches_of(session: Session, *, second: Switch | None = None, larger: Switch | None = None) -> dict[str, Switch]:
    """What this session can do without. What is off already is none of it.

    `second` is the switch of the recogniser that gives a second opinion, `larger` that of the larger of two sizes.
    """
    listener, tally = session.discussion.listener, session.discussion.speculation
    switches: dict[str, Switch] = {}
    if isinstance(listener, Readings) and listener.interim:

        async def interim(on: bool) -> None:
            listener.interim = on

        switches["interim"] = interim
    if tally.on:

        async def speculation(on: bool) -> None:
            tally.on = on

        switches["speculation"] = speculation
    of_recogniser = {"second_opinion": second, "recogniser": larger}
    return switches | {what: switch for what, switch in of_recogniser.items() if switch is not None}


class Governing:
    """Looks whenever the microphone tells its level, ten times a second, and at the timing of each answer.

    What changes is told as a `shed` event.
    """

    def __init__(
        self,
        session: Session,
        lag: Callable[[], Lag],
        switches: Mapping[str, Switch],
        *,
        budgets: Budgets | None = None,
    ) -> None:
        """`lag` tells how late the audio was since it was last asked."""
        self._session = session
        self._lag = lag
        self._switches = switches
        self._governor = Governor([what for what in SHEDS if what in switches], budgets=budgets)

    async def run(self) -> None:
        """Until the session ends. How late it was while models were being loaded says nothing about the talk."""
        await self._session.ready()
        self._measured_of_audio()
        async with self._session.events("level", "timing") as events:
            async for event in events:
                for stage, late_s in self._measured(event):
                    if (change := self._governor.measure(stage, late_s, event.at_s)) is not None:
                        await self._make(change)

    def _measured(self, event: Event) -> list[tuple[str, float]]:
        if event.kind == "level":
            return self._measured_of_audio()
        if event.kind == "timing":
            typed = not event.data["endpoint_s"] and not event.data["recognise_s"]
            heard = [] if typed else [("final", float(event.data["recognise_s"]))]
            return [*heard, ("first_token", float(event.data["think_s"]))]
        return []

    def _measured_of_audio(self) -> list[tuple[str, float]]:
        lag, discussion = self._lag(), self._session.discussion
        measured = [("detectors", lag.detectors_s), ("loop", lag.loop_s), ("playback", lag.underflows * _GAP_S)]
        if isinstance(discussion.listener, Readings):
            measured += [("interim", took_s) for took_s in _taken(discussion.listener.readings)]
        if isinstance(discussion.voice, Waits):
            measured += [("synthesis", wait_s) for wait_s in _taken(discussion.voice.waits)]
        return measured

    async def _make(self, change: Change) -> None:
        """A switch that fails is told of, and the rest goes on: doing without is no reason to end a talk."""
        self._session.discussion.tell_shed(change)
        try:
            await self._switches[change.what](change.restored)
        except Exception as error:
            _log.warning("the %s could not be switched: %s", change.what, told(error))


def _taken(seconds: deque[float]) -> list[float]:
    taken = list(seconds)
    seconds.clear()
    return taken


@asynccontextmanager
async def governed(
    session: Session,
    lag: Callable[[], Lag],
    *,
    second: Switch | None = None,
    larger: Switch | None = None,
    budgets: Budgets | None = None,
) -> AsyncIterator[None]:
    """While the session runs inside the block, it does without what its machine is too late for."""
    governing = Governing(session, lag, switches_of(session, second=second, larger=larger), budgets=budgets)
    running = Background(governing.run, name="the governor").start()
    try:
        yield
    finally:
        await running.stop(within_s=LET_GO_S)

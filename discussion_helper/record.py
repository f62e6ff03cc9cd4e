"""The record of one discussion: its clock, the conversation so far, and whoever is told of every change."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from discussion_helper.clock import SessionClock
from discussion_helper.tool_use import ToolUse
from discussion_helper.types import Conversation, Floor, SpokenUtterance, TurnTiming, Utterance

__all__ = ["Observer", "Record"]

Observer = Callable[[str, dict[str, Any]], None]
"""Told of every change: kind and payload of an event. Must not wait or raise."""


class Record:
    """Written by the loop alone. The parts get it as their `Reporter`."""

    def __init__(self, observer: Observer | None = None) -> None:
        self.conversation = Conversation()
        self.clock = SessionClock()
        self._observer = observer
        self._closed = False
        self._uses: list[ToolUse] = []  # of tools, for the agent's next turn
        self._called: set[str] = set()  # those that are not over
        self._unmeasured: Mapping[str, Any] = {}
        self.on_partial: Callable[[dict[str, Any]], None] | None = None
        """Told of what the user has said so far, where the listener reports it."""
        self.on_decision: Callable[[dict[str, Any]], None] | None = None
        """Told of what a listener that decides takes a voice over the agent for."""

    def add(self, utterance: Utterance) -> Utterance:
        """A finished turn; as it is on record: the agent's has the tools that were used since its last one.

        Of the user's it is without what its listener measured, which was told: of an hour it would be a third of all.
        Of one that revises another `revises` tells where those stood whose place it takes; it is the last one itself.
        """
        if self._closed:
            return utterance
        if utterance.speaker == "agent" and self._uses:
            utterance, self._uses = replace(utterance, calls=tuple(self._uses)), []
        if isinstance(utterance, SpokenUtterance) and utterance.measured:
            utterance = replace(utterance, measured=self._unmeasured)
        data: dict[str, Any] = {"speaker": utterance.speaker, "text": utterance.text}
        data |= {"started_s": round(utterance.started_s, 3), "ended_s": round(utterance.ended_s, 3)}
        data |= {"interrupted": utterance.interrupted} | ({"said": utterance.said} if utterance.said else {})
        if isinstance(utterance, SpokenUtterance) and utterance.revises:
            data["revises"] = self.conversation.revise(utterance, utterance.revises)
        else:
            self.conversation.add(utterance)
        self.tell("utterance", data)
        return utterance

    @property
    def uses_tools(self) -> bool:
        """Some are being used, or were, that are on record with no turn yet."""
        return bool(self._uses or self._called)

    @property
    def runs_tools(self) -> bool:
        """Some are not over."""
        return bool(self._called)

    def add_uses(self) -> Utterance | None:
        """Those that are over, with a turn of the agent's of which nothing was heard; None if none is.

        Others are waited for no more.
        """
        self._called.clear()
        return self.add(Utterance("agent", "", self.now(), self.now(), interrupted=True)) if self._uses else None

    def add_timing(self, timing: TurnTiming) -> None:
        """How long an answered turn took."""
        if self._closed:
            return
        self.conversation.timings.append(timing)
        self.tell("timing", timing.as_dict())

    def set_floor(self, floor: Floor) -> None:
        """Who has the floor now; told when it is somebody else."""
        if self.conversation.floor is not floor and not self._closed:
            self.conversation.floor = floor
            self.tell("floor", {"floor": floor.value})

    def tell(self, kind: str, data: dict[str, Any]) -> None:
        """Tell the observer something, in order."""
        if self._observer is not None and not self._closed:
            self._observer(kind, data)

    def close(self) -> None:
        """Nobody has the floor, nothing is added or told any more, the clock stands still."""
        self.set_floor(Floor.IDLE)
        self._closed = True
        self.clock.stop()

    # -- as a Reporter

    def now(self) -> float:
        """Seconds since the session started."""
        return self.clock.now()

    def of(self, monotonic_s: float) -> float:
        """A time of the event loop's clock on the session's clock."""
        return self.clock.of(monotonic_s)

    def report(self, kind: str, /, **data: Any) -> None:
        """Tell of a fine event."""
        self.tell(kind, data)
        if self._closed:
            return
        if kind == "partial" and self.on_partial is not None:
            self.on_partial(data)
        if kind == "decision" and self.on_decision is not None:
            self.on_decision(data)
        if kind == "tool":
            self._follow_tool(data)

    def _follow_tool(self, data: dict[str, Any]) -> None:
        use = ToolUse.of(data)
        if data.get("state") == "called":
            self._called.add(use.id)
        elif data.get("state") == "done":
            self._called.discard(use.id)
            self._uses.append(use)

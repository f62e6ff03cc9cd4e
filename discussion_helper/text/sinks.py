"""Sinks: functions that get every stream's output, one forwarder for each stream."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Collection
from contextvars import Context, ContextVar
from dataclasses import dataclass
from functools import partial

import anyio

from discussion_helper.background import Background, isolated
from discussion_helper.event_loop import start_in
from discussion_helper.events import Subscription
from discussion_helper.text.outputs import OutputEvent
from discussion_helper.text.stream import Stream
from discussion_helper.waiters import Waiters

__all__ = ["DRAIN_LIMIT_S", "FORWARDED", "Sink", "Sinks"]

DRAIN_LIMIT_S = 5.0
"""How long the sinks may take for what is left at the end."""

FORWARDED = 10_000
"""Events held for the sinks of one stream; a slow sink delays the others of its stream, and then they miss deltas."""

Sink = Callable[[str, OutputEvent], Awaitable[object] | object]
"""Called with the stream's id and the event, one after another."""

_LET_GO_S = 0.5
"""How long a forwarder that is cut off may take to end."""
_TELLING: ContextVar[object] = ContextVar("the event that this code, a sink's, is told of", default=None)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class _Registered:
    kinds: frozenset[str]
    call: Sink

    async def tell(self, stream_id: str, event: OutputEvent) -> None:
        """One that fails is logged, and harms nobody."""
        if self.kinds and event.kind not in self.kinds:
            return
        try:
            told = self._called(stream_id, event)
            if inspect.isawaitable(told):
                await isolated(partial(_awaited, told), name="a sink")
        except Exception:
            _log.exception("a sink failed on %s of %s", event.kind, stream_id)

    def _called(self, stream_id: str, event: OutputEvent) -> object:
        try:
            return self.call(stream_id, event)
        except BaseException as error:  # nothing is awaited: no cancellation of ours can be in it
            raise error if isinstance(error, Exception) else RuntimeError(f"it raised {error!r}") from error


async def _awaited(told: Awaitable[object]) -> None:
    await told


class Sinks:
    """In the order in which they were registered. Those registered later get the later events of every stream."""

    def __init__(self) -> None:
        self._sinks: list[_Registered] = []
        self._forwarders: dict[Stream, _Forwarder] = {}

    def register(self, kinds: Collection[str], call: Sink, streams: Collection[Stream]) -> Callable[[], None]:
        """Add a sink for these kinds (none = all) and `streams` with those to come; returns its idempotent remover."""
        sink = _Registered(frozenset(kinds), call)
        self._sinks.append(sink)
        for stream in streams:
            self.follow(stream)

        def remove() -> None:
            if sink in self._sinks:
                self._sinks.remove(sink)

        return remove

    def follow(self, stream: Stream) -> None:
        """Forward a stream's output, from here on; nothing is begun while there is no sink."""
        if self._sinks and stream not in self._forwarders:
            self._forwarders[stream] = _Forwarder(stream, self._tell, lambda: self._forwarders.pop(stream, None))

    async def drain(self) -> None:
        """Wait until the sinks have had what the streams have given so far."""
        for forwarder in tuple(self._forwarders.values()):
            await forwarder.drained()

    async def aclose(self) -> None:
        """Wait until the forwarders of ended streams are through, all at the same time; the others are cut off."""
        async with anyio.create_task_group() as tasks:
            for stream, forwarder in tuple(self._forwarders.items()):
                start_in(tasks, forwarder.finish, stream)

    async def _tell(self, stream_id: str, event: OutputEvent) -> None:
        for sink in tuple(self._sinks):
            await sink.tell(stream_id, event)


class _Forwarder:
    """Ends with its stream, after what is left."""

    def __init__(
        self, stream: Stream, tell: Callable[[str, OutputEvent], Awaitable[None]], ended: Callable[[], object]
    ) -> None:
        self._stream_id = stream.id
        self._tell = tell
        self._ended = ended
        self._events: Subscription[OutputEvent] = stream.subscribe(buffer=FORWARDED, overflow="drop")
        self._told = Waiters()
        self._telling: object = None
        self._forwarding: Background[None] = Background(
            self._forward, name="a stream's forwarder", context=Context()
        ).start()

    async def _forward(self) -> None:
        try:
            async for event in self._events:
                self._telling = object()
                _TELLING.set(self._telling)
                await self._tell(self._stream_id, event)
                self._telling = None
                self._told.wake()
        finally:
            self._telling = None
            self._told.wake()
            self._ended()

    async def drained(self) -> None:
        """Wait until nothing that was given is left to tell; a sink of its own does not wait for itself."""
        while not self._is_here() and self._forwarding.running and (len(self._events) or self._telling):
            await self._told.wait()

    def _is_here(self) -> bool:
        """Whether the calling code is part of the sink that is told now."""
        return self._telling is not None and self._telling is _TELLING.get()

    async def finish(self, stream: Stream) -> None:
        """The end: what an ended stream has left is told, within a limit."""
        if self._is_here():
            return
        if stream.ended:
            await self._forwarding.ends(within_s=DRAIN_LIMIT_S)
        await self._events.aclose()
        await self._forwarding.stop(within_s=_LET_GO_S)

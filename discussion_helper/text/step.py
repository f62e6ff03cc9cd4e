"""One call of a model, and what surrounds it: transforms before, handlers after, observers all along."""

import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Protocol, cast, runtime_checkable

import anyio

from discussion_helper.clock import SessionClock
from discussion_helper.errors import SettingError
from discussion_helper.events import DropNewest, EventHub
from discussion_helper.iteration import closing
from discussion_helper.text.artifacts import Artifact, Delta, TextDelta, check_artifact, is_delta, is_ours
from discussion_helper.text.errors import SaveError, StoreBusyError, TurnCancelledError
from discussion_helper.text.inputs import EventContext
from discussion_helper.text.merging import Merger
from discussion_helper.text.outputs import (
    ArtifactEvent,
    ErrorEvent,
    LifecycleEvent,
    OutputEvent,
    Phase,
    TurnCompleteEvent,
    check_output,
    is_droppable,
    stamped,
)
from discussion_helper.text.providers.base import Option, Provider
from discussion_helper.text.state import Role, State, Turn

__all__ = [
    "BUFFER",
    "CLOSE_PROVIDER_S",
    "HISTORY",
    "RECORD_LIMIT_S",
    "Handler",
    "HandlesTurns",
    "Recorder",
    "Step",
    "Transform",
]

BUFFER = 100
"""Output events held for one watcher."""
HISTORY = 1024
"""Newest output events of every kind, kept for watchers who come back: an answer of some 1000 tokens."""
CLOSE_PROVIDER_S = 0.25
"""How long a provider's iterator may take to close."""
RECORD_LIMIT_S = 5.0
"""How long storing a turn may take, also when the turn is being cancelled."""

Transform = Callable[[State], State | Awaitable[State]]
"""Makes the view of the state that one call of the model gets; the state itself stays as it is."""
Handler = Callable[["Step", State, Artifact], Awaitable[None]]
"""Acts on one artifact of a finished turn."""
Recorder = Callable[[Turn], Awaitable[None]]
"""Makes a turn durable and adds it to the state. Raises SaveError."""

_log = logging.getLogger(__name__)


@runtime_checkable
class HandlesTurns(Protocol):
    """A handler that wants the artifacts of a finished turn together, as for running several tools at a time."""

    async def handle_turn(self, step: "Step", state: State, turn: Turn) -> None:
        """Act on all of them."""
        ...


class Step:
    """Owns what its stream's watchers get. `within` gives the same step for one event."""

    def __init__(
        self,
        *,
        transforms: Sequence[Transform] = (),
        handlers: Sequence[Handler | HandlesTurns] = (),
        on_emit: Sequence[Callable[[OutputEvent], object]] = (),
        invoke_options: Sequence[Option] = (),
    ) -> None:
        """`on_emit` are plain functions, called before the watchers get an event; one that raises is logged."""
        self._transforms = tuple(transforms)
        self._handlers = tuple(handlers)
        self._on_emit = tuple(on_emit)
        self.observed = bool(self._on_emit)
        """Somebody is called before the watchers; while nobody is, publishing to the hub is all of `give`."""
        self._options = tuple(invoke_options)
        self._claimed = False
        self._record: Recorder | None = None
        self._on_phase: Callable[[Phase], object] | None = None
        policy = DropNewest(is_droppable)
        self.hub: EventHub[OutputEvent] = EventHub(overflow=policy, capacity=BUFFER, history=HISTORY)
        """Every output event goes through it, in one order."""
        self.clock = SessionClock()
        self.context = EventContext()
        """Of the event that is being processed: everything emitted carries it."""
        self.waits = True
        """Watchers who must not miss anything are waited for."""
        self.saying: list[str] = []
        """What the model has said so far of a turn that is not complete, piece by piece."""
        self.untold: dict[int, Turn] = {}
        """Turns that may be in the state while no watcher was told of them, by their identity."""
        self.over = False
        """The event is over; whoever still holds on to this step emits nothing more."""

    def claimed(self) -> "Step":
        """This step, for a stream of its own. Raises RuntimeError the second time."""
        if self._claimed:
            raise RuntimeError("this step belongs to another stream; have the factory make a new one for each")
        self._claimed = True
        return self

    def within(
        self,
        context: EventContext,
        *,
        record: Recorder | None = None,
        on_phase: Callable[[Phase], object] | None = None,
    ) -> "Step":
        """This step for one event: it emits with `context`, turns go to `record`, and `on_phase` is told of phases."""
        step = object.__new__(type(self))
        step.__dict__.update(self.__dict__)
        step.context, step.over, step._record, step._on_phase = context, False, record, on_phase
        return step

    # -- emitting

    async def emit(self, event: OutputEvent) -> None:
        """Give an event to the observers, then to the watchers; waits only for watchers who asked to be waited for.

        A checkpoint every few events, before the event is given: one whose emitter is cancelled there was not. Raises
        SettingError for what is no event, and TurnCancelledError when the event that this step belongs to is over.
        """
        check_output(event)
        await self._emit(stamped(event, self.clock.now()) if isinstance(event, ErrorEvent) else event)

    async def _emit(self, event: OutputEvent) -> None:
        hub = self.hub
        if hub.sequence >= hub.pause_at or (hub.waited_for and self.waits):
            await self._turn_to_emit(event)
            event = stamped(event, self.clock.now())
        self.give(event)

    async def _turn_to_emit(self, event: OutputEvent) -> None:
        hub = self.hub
        if hub.sequence >= hub.pause_at:
            await hub.pause()
        if hub.waited_for and self.waits:
            await hub.room_for(event)

    def give(self, event: OutputEvent) -> None:
        """`emit` without waiting for anybody.

        Raises what an observer raises to end the program (KeyboardInterrupt, SystemExit), once the event was given.
        """
        if self.over:
            raise TurnCancelledError
        leave: BaseException | None = None
        for observe in self._on_emit:
            try:
                observe(event)
            except (KeyboardInterrupt, SystemExit) as error:
                leave = error
            except BaseException:  # nothing is awaited: no cancellation of ours can be in it
                _log.exception("an observer of %s failed", event.kind)
        self.hub.publish(event)
        if leave is not None:
            raise leave

    async def phase(self, phase: Phase) -> None:
        """Tell where the event is in its life."""
        await self._emit(self.entered(phase))

    def entered(self, phase: Phase) -> LifecycleEvent:
        """The event that tells of this phase; the stream knows of it from here on."""
        if self._on_phase is not None and not self.over:
            self._on_phase(phase)
        return LifecycleEvent(phase, self.context, self.clock.now())

    async def _show(self, artifact: Artifact) -> None:
        await self._emit(ArtifactEvent(artifact, self.context, self.clock.now()))

    # -- a turn of the model

    async def turn(self, state: State, provider: Provider) -> State:
        """Ask the model once, and add its turn to `state`, which is returned.

        An artifact of a kind that is not ours is shown, and not kept. Raises SettingError for what is none, what a
        transform, the provider or a handler raises, and SaveError.
        """
        view = await self._transformed(state)
        await self.phase("submitted")
        artifacts = await self._collected(provider.invoke(view, *self._options))
        await self.submit(state, "assistant", *artifacts)
        return state

    async def _transformed(self, state: State) -> State:
        for transform in self._transforms:
            view = transform(state)
            state = await view if inspect.isawaitable(view) else view
        return state

    async def _collected(self, coming: AsyncIterator[Artifact]) -> list[Artifact]:
        merger, kept, begun = Merger(), list[Artifact](), False
        try:
            async with closing(coming, within_s=CLOSE_PROVIDER_S) as artifacts:
                async for artifact in artifacts:
                    if not begun:
                        begun = True
                        await self.phase("streaming")
                    check_artifact(artifact)
                    if is_delta(artifact):
                        merger.add(cast(Delta, artifact))
                    else:
                        await self._keep(merger.flush(), kept)
                        kept += [artifact] if is_ours(artifact) else []
                    await self._show(artifact)
                    if isinstance(artifact, TextDelta):
                        self.saying.append(artifact.content)
                    await self.hub.pause()  # whoever follows has it now, not after the turn; a flood holds nobody up
        except Exception:
            await self._keep(merger.flush(), kept)
            raise
        await self._keep(merger.flush(), kept)
        return kept

    async def _keep(self, artifacts: list[Artifact], kept: list[Artifact]) -> None:
        for artifact in artifacts:
            kept.append(artifact)
            await self._show(artifact)

    # -- a finished turn

    async def submit(self, state: State, role: Role, *artifacts: Artifact) -> Turn:
        """Add a finished turn to `state`, tell of it, and have it handled.

        Raises SaveError, StoreBusyError, and what handlers raise.

        A user's turn that cannot be stored is not in `state` and not told, nor one that never can be; others are, and
        fail after.
        Raises TurnCancelledError when the event that this step belongs to is over.
        """
        if self.over:
            raise TurnCancelledError
        turn = Turn(role, artifacts)
        self.untold[id(turn)] = turn
        try:
            failure = await self._recorded(state, turn)
            if failure is not None and (role == "user" or _is_for_good(failure)):
                raise failure
            await self._tell(turn)
        finally:
            self.untold.pop(id(turn), None)
        if failure is not None:
            raise failure
        await self._handled(state, turn)
        return turn

    async def _tell(self, turn: Turn) -> None:
        """It is stored, and so it is told, also when the wait for watchers is cancelled."""
        event = TurnCompleteEvent(turn, self.context, self.clock.now())
        try:
            await self._turn_to_emit(event)
        finally:
            self.untold.pop(id(turn), None)
            if turn.role == "assistant" and turn.text:
                self.saying.clear()
            self.give(stamped(event, self.clock.now()))

    async def _recorded(self, state: State, turn: Turn) -> SaveError | StoreBusyError | None:
        """Shielded: a turn is stored and told, or neither."""
        if self._record is None:
            state.append(turn)
            return None
        slow = f"Storing a turn took longer than {RECORD_LIMIT_S:g} s."
        failure: SaveError | StoreBusyError = SaveError(slow, fix="See to the store.")
        with anyio.move_on_after(RECORD_LIMIT_S, shield=True):
            try:
                await self._record(turn)
                return None
            except (SaveError, StoreBusyError) as error:
                failure = error
        if turn.role != "user" and not _is_for_good(failure):
            state.append(turn)
        return failure

    async def _handled(self, state: State, turn: Turn) -> None:
        for artifact in turn.artifacts:
            for handler in self._handlers:
                if not isinstance(handler, HandlesTurns):
                    await handler(self, state, artifact)
        for handler in self._handlers:
            if isinstance(handler, HandlesTurns):
                await handler.handle_turn(self, state, turn)


def _is_for_good(failure: Exception) -> bool:
    """A turn that cannot be encoded will not be stored later either, as one for which there was no room may."""
    return isinstance(failure.__cause__, SettingError)

"""Taking back the end of a turn: the user goes on, so that it was not over."""

import anyio

from discussion_helper.background import LET_GO_S, Background, isolated
from discussion_helper.event_loop import start_in
from discussion_helper.generation import Generation
from discussion_helper.parts import Listener, Reopens
from discussion_helper.types import SpokenUtterance, Utterance

__all__ = ["UNHEARD_S", "TakingBack"]

UNHEARD_S = 7.0
"""As long as nothing is heard of the reply nobody was cut off, and who speaks adds to what is not answered yet.
The longest such time of an open framework (huggingface/speech-to-speech, `unanswered_reopen`)."""


class TakingBack:
    """Of spoken turns alone: a typed one is over when it was sent."""

    def __init__(self, listener: Listener, *, within_s: float) -> None:
        """`within_s` after a turn's end, once something was heard of the reply; 0 = never, neither before."""
        self._listener = listener
        self._within_s = within_s

    async def ready(self, generation: Generation, turn: Utterance) -> bool | None:
        """Wait for something to say about the turn; False when there is nothing, None when the user goes on with it.

        Raises what the responder or the listener failed with.
        """
        if generation.ahead or not self._may(turn):
            return await generation.ready()
        goes_on = ready = False

        async def watch() -> None:
            nonlocal goes_on
            assert isinstance(self._listener, Reopens)
            await isolated(self._listener.resumed, name="the listener's resumed")
            if self._listener.reopen(within_s=UNHEARD_S):
                goes_on = True
                tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            start_in(tasks, watch)
            ready = await generation.ready()
            tasks.cancel_scope.cancel()
        return None if goes_on else ready

    async def goes_on(self, turn: Utterance) -> bool:
        """Whether the user has gone on with this turn already, of whose reply nothing was heard; waits for nothing."""
        if not self._may(turn):
            return False
        assert isinstance(self._listener, Reopens)
        resumed = Background(self._listener.resumed, name="the listener's resumed").start()
        try:
            speaks = await resumed.ends(within_s=0.0) and resumed.error is None
        finally:
            await resumed.stop(within_s=LET_GO_S)
        return speaks and self._listener.reopen(within_s=UNHEARD_S)

    def reopen(self, turn: Utterance | None) -> bool:
        """The user has cut the reply to this turn by speaking: whether that goes on with it."""
        if turn is None or not self._may(turn):
            return False
        assert isinstance(self._listener, Reopens)
        return self._listener.reopen(within_s=self._within_s)

    def _may(self, turn: Utterance) -> bool:
        return bool(self._within_s) and isinstance(turn, SpokenUtterance) and isinstance(self._listener, Reopens)

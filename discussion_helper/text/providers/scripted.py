"""A provider that answers from a script: for tests and demonstrations."""

import math
from collections.abc import AsyncIterator, Callable, Iterable

import anyio

from discussion_helper.text.artifacts import Artifact
from discussion_helper.text.providers.base import Option
from discussion_helper.text.state import State
from discussion_helper.waiters import Waiters

__all__ = ["FOREVER", "Answer", "Cue", "ScriptedProvider"]

FOREVER = math.inf
"""A cue: wait until cancelled."""

Cue = Artifact | Exception | anyio.Event | float
"""Give an artifact, raise an error, wait for an event, or wait some seconds."""
Answer = Iterable[Cue] | Callable[[State], Iterable[Cue]]
"""The cues of one answer, or a function of the state that gives them."""


class ScriptedProvider:
    """The first call gets the first answer, and so on; the last answer is repeated.

    `states`: what it was asked with. `options`: with what options. `running` and `most`: calls that run now, and the
    most that ever did at the same time.
    """

    def __init__(self, *answers: Answer) -> None:
        self._answers = answers or ((),)
        self._changed = Waiters()
        self.states: list[State] = []
        self.options: list[tuple[Option, ...]] = []
        self.running = 0
        self.most = 0
        self.closed = False

    async def invoke(self, state: State, *options: Option) -> AsyncIterator[Artifact]:
        """Follow the script."""
        answer = self._answers[min(len(self.states), len(self._answers) - 1)]
        self.states.append(State(state.turns))
        self.options.append(options)
        self._note(+1)
        try:
            for cue in answer(state) if callable(answer) else answer:
                artifact = await _followed(cue)
                if artifact is not None:
                    yield artifact
        finally:
            self._note(-1)

    async def asked(self, times: int = 1) -> None:
        """Wait until it was called so often."""
        while len(self.states) < times:
            await self._changed.wait()

    async def aclose(self) -> None:
        """Nothing to release."""
        self.closed = True

    def _note(self, step: int) -> None:
        self.running += step
        self.most = max(self.most, self.running)
        self._changed.wake()


async def _followed(cue: Cue) -> Artifact | None:
    match cue:
        case Exception():
            raise cue
        case anyio.Event():
            await cue.wait()
        case int() | float():
            await anyio.sleep(cue)
        case artifact:
            return artifact
    return None

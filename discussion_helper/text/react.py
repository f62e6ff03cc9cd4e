"""The usual turn processor: asks the model until it has answered, tools included."""

from discussion_helper.text.errors import TurnLimitError
from discussion_helper.text.providers.base import Provider
from discussion_helper.text.state import State
from discussion_helper.text.step import Step

__all__ = ["MAX_TURNS", "react"]

MAX_TURNS = 24
"""Calls of the model for one message; a model that goes round in circles is stopped then."""


async def react(step: Step, state: State, provider: Provider, *, max_turns: int = MAX_TURNS) -> State:
    """Ask the model, and again for as long as a handler has added a tool's turn behind its own.

    Raises TurnLimitError after `max_turns` calls, and what `Step.turn` raises.
    """
    for _ in range(max_turns):
        before = len(state)
        await step.turn(state, provider)
        if not any(turn.role == "tool" for turn in state.since(before)):
            return state
    raise TurnLimitError(max_turns)

"""Views of a thread for one call of a model: what a step's `transforms` make of the state, which stays as it is."""

from discussion_helper.text.artifacts import Text
from discussion_helper.text.state import State, Turn
from discussion_helper.text.step import Transform
from discussion_helper.text.threads.document import unanswered

__all__ = ["KEPT_SYSTEM", "answered_only", "system_prompt"]

KEPT_SYSTEM = "system"
"""The key of a thread's metadata under which its system prompt is kept."""


def answered_only(state: State) -> State:
    """Without the user's turns to which nothing came, "stop" among them, except the newest one.

    A question whose answer was cancelled or failed stays in the thread. A model that got it again would answer it
    together with the next one, and what an endpoint refuses once it would refuse ever after. A question for which a
    tool was called stays, with the calls: they may have had their effect.
    """
    turns = state.turns
    newest = max((place for place, turn in enumerate(turns) if turn.role == "user"), default=-1)
    marks = unanswered(turns)
    silent = {place for place in range(newest) if marks[place] or not turns[place].wants_answer}
    left_out = {place for place in silent if not _has_reply(turns, place)}
    return State(turn for place, turn in enumerate(turns) if place not in left_out) if left_out else state


def _has_reply(turns: tuple[Turn, ...], place: int) -> bool:
    """Something of a model or a tool comes before the user's next turn."""
    following = next((turn for turn in turns[place + 1 :] if turn.role != "system"), None)
    return following is not None and following.role != "user"


def system_prompt(text: str) -> Transform:
    """Puts what the model is told beforehand in front of the turns, in a turn of the system's that no thread keeps."""
    prompt = Turn("system", (Text(text),))
    return lambda state: state.with_turns(before=[prompt])

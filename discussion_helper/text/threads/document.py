"""A thread as the JSON document that programs get of it, from a command and over HTTP alike."""

from collections.abc import Sequence
from typing import Any

from discussion_helper.text.artifacts import ToolCall
from discussion_helper.text.errors import ThreadCorruptError, ThreadNotFoundError
from discussion_helper.text.outputs import TurnCompleteEvent, as_wire
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.base import Thread, ThreadInfo, ThreadStore, info_of
from discussion_helper.text.threads.codec import info_data, moment_data
from discussion_helper.title import one_line

__all__ = ["NOT_ANSWERED", "document_of", "entries_of", "unanswered"]

NOT_ANSWERED = "[not answered]"
"""How a question is marked for people: its answer was cancelled, failed, or has not come to its end."""


async def entries_of(store: ThreadStore) -> list[dict[str, Any]]:
    """The head of every thread, the newest change first: `{id, created_at, updated_at, turn_count, first}`.

    Times are ISO 8601 in UTC. `first` are the user's first words, as a title has them. Where the turns
    cannot be read, `error` stands in the place of the last two.
    """
    entries = []
    for info in await store.list():
        try:
            entries.append(_head(info, (await store.get(info.id)).state.turns))
        except ThreadCorruptError as error:
            entries.append({**_dated(info), "error": str(error)})
        except ThreadNotFoundError:  # deleted since it was listed
            continue
    return entries


def document_of(thread: Thread) -> dict[str, Any]:
    """Its head, with `metadata` and `turns: [{role, at, interrupted?, answered?, artifacts: [{kind, ...}]}]`.

    Artifacts look as in the events of a stream. `interrupted` is true of an agent's turn that was cut off, `answered`
    false of a user's turn that has no answer; neither stands anywhere else.
    """
    turns = thread.state.turns
    told = [_turn(turn, answered=not mark) for turn, mark in zip(turns, unanswered(turns), strict=True)]
    return {**_head(info_of(thread), turns), "metadata": dict(thread.metadata), "turns": told}


def unanswered(turns: Sequence[Turn]) -> list[bool]:
    """Of each turn, whether it is a user's without an answer: none came, or no more than tools and their results.

    One that wanted none is not among them: it had the agent fall silent.
    A thread keeps no answer that was cancelled or failed, and nothing about why.
    """
    marks, last = [False] * len(turns), None
    for number, turn in reversed(list(enumerate(turns))):
        if turn.role == "user":
            marks[number], last = turn.wants_answer and (last is None or not _answers(last)), None
        elif turn.role != "system":
            last = last or turn
    return marks


def _answers(turn: Turn) -> bool:
    return turn.role == "assistant" and not any(isinstance(artifact, ToolCall) for artifact in turn.artifacts)


def _turn(turn: Turn, *, answered: bool) -> dict[str, Any]:
    wire = as_wire(TurnCompleteEvent(turn))
    assert wire is not None
    marks = ({"interrupted": True} if turn.interrupted else {}) | ({} if answered else {"answered": False})
    return {"role": turn.role, "at": moment_data(turn.at, "at"), **marks, "artifacts": wire["turn"]["artifacts"]}


def _head(info: ThreadInfo, turns: Sequence[Turn]) -> dict[str, Any]:
    first = next(filter(None, (one_line(turn.text) for turn in turns if turn.role == "user")), "")
    return {**_dated(info), "turn_count": len(turns), "first": first}


def _dated(info: ThreadInfo) -> dict[str, Any]:
    return {key: value for key, value in info_data(info).items() if key != "metadata"}

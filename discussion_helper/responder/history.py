"""The history that fits: old turns are left out when a conversation outgrows a model's context."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from discussion_helper.types import Message

__all__ = ["LEAST_WORDS", "fitting", "size_of", "weight_of", "without_fragments"]

M = TypeVar("M", bound=Mapping[str, Any])

_OVERHEAD = 16
"""Bytes a message costs beside its text: the role and the marks around it, about five tokens."""

LEAST_WORDS = 3
"""Fewer words of a cut reply are left out: a small model that sees its answer was "The" answers "The" from then on."""


def without_fragments(messages: Sequence[Message]) -> list[Message]:
    """The messages without those of the assistant that were cut after a word or two, which say nothing."""
    return [message for message in messages if not _is_fragment(message)]


def _is_fragment(message: Message) -> bool:
    text = message["content"].strip()
    return message["role"] == "assistant" and len(text.split()) < LEAST_WORDS and text[-1:].isalnum()


def size_of(text: str) -> int:
    """Bytes a message of this text counts for."""
    return len(text.encode("utf-8", "replace")) + _OVERHEAD


def weight_of(message: Mapping[str, Any]) -> int:
    """Bytes a message counts for, with the calls of tools in it."""
    calls = message.get("tool_calls") or ()
    return size_of(message["content"] or "") + sum(size_of(json.dumps(call)) for call in calls)


def fitting(messages: Sequence[M], room: int) -> list[M]:
    """The newest of `messages` that fit into `room` bytes; the oldest go first, the newest always stays.

    They go in steps of a quarter of the room, so that not every turn of a long conversation changes the beginning,
    which the model has in its cache. Of a newest message that is itself too long, the end is kept. When the newest
    are calls of tools and what came of them, the message that they are about stays with them, all of it whatever
    the room; a result never stays without its call.
    """
    excess = sum(map(weight_of, messages)) - room
    if excess <= 0:
        return list(messages)
    step = max(room // 4, 1)
    to_go = -(-excess // step) * step
    first, last = 0, _asked_at(messages)
    while first < last and (to_go > 0 or messages[first]["role"] == "tool"):
        to_go -= weight_of(messages[first])
        first += 1
    kept = list(messages[first:])
    if len(kept) == 1 and size_of(kept[0]["content"]) > room:
        return [cast(M, {"role": kept[0]["role"], "content": _end_of(kept[0]["content"], room - _OVERHEAD)})]
    return kept


def _asked_at(messages: Sequence[Mapping[str, Any]]) -> int:
    """Where the newest message stands that is about no tool."""
    at = len(messages) - 1
    while at > 0 and (messages[at]["role"] == "tool" or "tool_calls" in messages[at]):
        at -= 1
    return at


def _end_of(text: str, size: int) -> str:
    return text.encode("utf-8", "replace")[-max(size, 1) :].decode("utf-8", "ignore")

"""The history as a model gets it: what it knows of cut replies, and what is left out of a long one."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from discussion_helper.responder.prompt import cut_note
from discussion_helper.types import Message

__all__ = [
    "GREETING",
    "LEAST_WORDS",
    "fitting",
    "opened",
    "size_of",
    "was_cut",
    "weight_of",
    "with_notes",
    "without_fragments",
]

M = TypeVar("M", bound=Mapping[str, Any])

_OVERHEAD = 16
"""Bytes a message costs beside its text: the role and the marks around it, about five tokens."""

LEAST_WORDS = 3
"""Fewer words of a cut reply are left out: a small model that sees its answer was "The" answers "The" from then on."""

GREETING = "Hello."
"""What the user is taken to have said where the agent spoke first."""


def without_fragments(messages: Sequence[Message]) -> list[Message]:
    """The messages without those that the user cut before the third word, which say nothing, and without any note."""
    return [_plain(message) for message in _joined(messages) if not _is_fragment(message)]


def was_cut(messages: Sequence[Message]) -> bool:
    """The user cut the newest reply off, and it did not go on."""
    return next((m.get("interrupted", False) for m in reversed(messages) if m.get("role") == "assistant"), False)


def with_notes(messages: Sequence[Message]) -> list[Message]:
    """The messages, with a note before what the user said after a cut: where it was, and after the last what is left.

    Older rests are left out, since the user has spoken of something else since then.
    """
    joined = _joined(messages)
    newest = max((at for at, message in enumerate(joined) if message.get("role") == "assistant"), default=-1)
    told: list[Message] = []
    note = ""
    for at, message in enumerate(joined):
        if message.get("interrupted"):
            note = cut_note(message["content"], message.get("unheard", "") if at == newest else "")
            told += [_plain(message)] if message["content"].strip() or message.get("calls") else []
        elif note and message.get("role") == "user":
            told.append({"role": "user", "content": f"{note}\n{message['content']}"})
            note = ""
        else:
            told.append(_plain(message))
    return told


def opened(told: list[Message], messages: Sequence[Message]) -> list[Message]:
    """What is `told` of the `messages`, with a turn of the user's before one of the agent's that would come first.

    Many models' templates refuse such a conversation. Where tools were called for a turn that went on, so that it
    stands behind them, it stands before them too.
    """
    if not told or told[0].get("role") != "assistant":
        return told
    asked = (message["content"] for message in messages if message.get("role") == "user")
    return [{"role": "user", "content": next(asked, GREETING) if told[0].get("calls") else GREETING}, *told]


def _joined(messages: Sequence[Message]) -> list[Message]:
    """A reply that was cut, and went on before the user said more, is one."""
    joined: list[Message] = []
    for message in messages:
        before = joined[-1] if joined else None
        if before is not None and before.get("interrupted") and message.get("role") == "assistant":
            content = f"{before['content']} {message['content']}".strip()
            joined[-1] = {**message, "content": content}
            if calls := [*before.get("calls", ()), *message.get("calls", ())]:
                joined[-1]["calls"] = calls
        else:
            joined.append(message)
    return joined


def _plain(message: Message) -> Message:
    """Without the keys about a cut, which no server knows."""
    if "interrupted" not in message and "unheard" not in message:
        return message
    plain: Message = {"role": message["role"], "content": message["content"]}
    if calls := message.get("calls"):
        plain["calls"] = calls
    return plain


def _is_fragment(message: Message) -> bool:
    return (
        not message.get("calls") and message.get("interrupted", False) and len(message["content"].split()) < LEAST_WORDS
    )


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
    which the model has in its cache; what is left begins with a turn of the user's, as templates want it. Of a newest
    message that is itself too long, the end is kept. When the newest are calls of tools and what came of them, the
    message that they are about stays with them, all of it whatever the room; a result never stays without its call.
    """
    excess = sum(map(weight_of, messages)) - room
    if excess <= 0:
        return list(messages)
    step = max(room // 4, 1)
    to_go = -(-excess // step) * step
    first, last = 0, _asked_at(messages)
    while first < last and (to_go > 0 or messages[first]["role"] != "user"):
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

"""The messages of a request with the calls of tools in them: what was called before an answer stands before it."""

from collections.abc import Mapping, Sequence
from typing import Any

from discussion_helper.responder.base import ChatMessage, with_system
from discussion_helper.tool_use import ToolUse
from discussion_helper.tools.calls import ToolCall
from discussion_helper.tools.wire import CUT_OFF, WireIds, wire_call, wire_result
from discussion_helper.types import Message

__all__ = ["ids_of_calls", "with_calls"]


def with_calls(messages: Sequence[Message]) -> list[ChatMessage]:
    """The turns as `with_system` makes them, without a system's, and before an answer what was called for it.

    Raises ValueError for a turn that is none.
    """
    ids = WireIds(ids_of_calls(messages))
    request: list[ChatMessage] = []
    plain: list[Message] = []
    for message in messages:
        if uses := _uses(message):
            request += [*with_system("", plain), *_wire(uses, ids)]
            plain = []
        if message.get("content") != "" or not message.get("calls"):
            plain.append(message)
    return [*request, *with_system("", plain)]


def ids_of_calls(messages: Sequence[Message]) -> set[str]:
    """Of the calls of tools so far."""
    return {use.id for message in messages for use in _uses(message)}


def _uses(message: Mapping[str, Any]) -> list[ToolUse]:
    return [ToolUse.of(use) for use in message.get("calls", ())]


def _wire(uses: Sequence[ToolUse], ids: WireIds) -> list[ChatMessage]:
    named = [(ids.of(use.id), use) for use in uses]
    calls = [wire_call(wire_id, ToolCall(use.id, use.name, use.arguments)) for wire_id, use in named]
    turn: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": calls}
    return [turn, *(wire_result(wire_id, use.result or CUT_OFF) for wire_id, use in named)]

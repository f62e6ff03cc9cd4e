"""A thread as the messages of a chat completion, repaired where a server would refuse it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from discussion_helper.text.artifacts import Image, Text, ToolCall, ToolResult
from discussion_helper.text.state import State, Turn
from discussion_helper.tools.wire import CUT_OFF, WireIds, plain_text, wire_call, wire_result

__all__ = ["CUT_OFF", "ids_in", "messages_of"]

_Wire = dict[str, Any]


def messages_of(state: State) -> list[_Wire]:
    """The turns, those that say nothing left out, turns of one speaker in a row as one message.

    Every call of a tool has one result behind it, the one that was stored or CUT_OFF, and an id of its own; results
    of no call are left out. Reasoning is not sent back. A call's arguments that are no JSON object are sent as an
    empty one, since servers parse them: what was wrong with them is in its result.
    """
    messages: list[_Wire] = []
    ids = WireIds(ids_in(state))
    turns = state.turns
    for at in range(len(turns)):
        for message in _made_of(turns, at, ids):
            _add(messages, message)
    return messages


def ids_in(state: State) -> set[str]:
    """Of the calls of tools so far."""
    return {call.id for turn in state.turns for call in turn.artifacts if isinstance(call, ToolCall)}


def _made_of(turns: Sequence[Turn], at: int, ids: WireIds) -> Iterable[_Wire]:
    if turns[at].role == "assistant":
        return _assistant(turns[at], _results_after(turns, at), ids)
    return () if turns[at].role == "tool" else _plain(turns[at])


def _results_after(turns: Sequence[Turn], at: int) -> list[ToolResult]:
    """In the tools' turns that follow at once."""
    later = (turns[place] for place in range(at + 1, len(turns)))
    tools = takewhile(lambda turn: turn.role == "tool", later)
    return [result for turn in tools for result in turn.artifacts if isinstance(result, ToolResult)]


def _assistant(turn: Turn, results: list[ToolResult], ids: WireIds) -> Iterator[_Wire]:
    calls = [call for call in turn.artifacts if isinstance(call, ToolCall)]
    text = plain_text(turn.text)
    if not calls:
        if text.strip():
            yield {"role": "assistant", "content": text}
        return
    named = [(ids.of(call.id), call) for call in calls]
    yield {"role": "assistant", "content": text or None, "tool_calls": [wire_call(*each) for each in named]}
    for wire_id, call in named:
        result = next((result for result in results if result.tool_call_id == call.id), None)
        if result is not None:
            results.remove(result)
        yield wire_result(wire_id, CUT_OFF if result is None else result.for_model)


def _plain(turn: Turn) -> Iterator[_Wire]:
    """A user's turn, or the system's."""
    pictures = [part for part in turn.artifacts if isinstance(part, Image)] if turn.role == "user" else []
    text = plain_text(turn.text)
    if pictures:
        parts = [_part(part) for part in turn.artifacts if isinstance(part, Image | Text)]
        yield {"role": turn.role, "content": [part for part in parts if part.get("text") != ""]}
    elif text.strip():
        yield {"role": turn.role, "content": text}


def _part(part: Image | Text) -> _Wire:
    if isinstance(part, Text):
        return {"type": "text", "text": plain_text(part.content)}
    return {"type": "image_url", "image_url": {"url": part.url}}


def _add(messages: list[_Wire], message: _Wire) -> None:
    """Together with one of the same speaker before it: many models' templates accept only turns that alternate."""
    before = messages[-1] if messages else {}
    if message["role"] == "tool" or before.get("role") != message["role"] or "tool_calls" in (*before, *message):
        messages.append(message)
    elif isinstance(before["content"], str) and isinstance(message["content"], str):
        before["content"] += f"\n{message['content']}"
    else:
        before["content"] = [*_parts(before["content"]), *_parts(message["content"])]


def _parts(content: str | list[_Wire]) -> list[_Wire]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content

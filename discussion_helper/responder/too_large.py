"""What is too large where a request does not fit into a model's context, and what helps."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from discussion_helper.errors import ResponderError
from discussion_helper.responder.history import size_of, weight_of

__all__ = ["too_large"]

_LARGER = "or give the model a larger context."


def too_large(system: str, tools: Sequence[Mapping[str, Any]], messages: Sequence[Mapping[str, Any]]) -> ResponderError:
    """The error that names the largest part. `messages`: those that cannot be left out, without the system's."""
    calls = [message for message in messages if "tool_calls" in message]
    results = [message for message in messages if message["role"] == "tool"]
    asked = [message for message in messages if message not in calls and message not in results]
    gave = "What the tools gave" + (f" for one message, {len(results)} results together," if len(results) > 1 else "")
    parts = [
        (size_of(system), "The system prompt", f"Make it shorter, {_LARGER}"),
        (size_of(json.dumps(tools)) if tools else 0, "What is told of the tools", f"Offer fewer tools, {_LARGER}"),
        (_weight(asked), "The message that tools were called for", f"Send a shorter one, {_LARGER}"),
        (_weight(calls), "What the tools were called with", f"Ask for less at a time, {_LARGER}"),
        (_weight(results), gave, f"Give Tools a smaller max_chars, {_LARGER}"),
    ]
    _, what, fix = max(parts, key=lambda part: part[0])
    return ResponderError(f"{what} does not fit into the context.", fix=fix)


def _weight(messages: Sequence[Mapping[str, Any]]) -> int:
    return sum(map(weight_of, messages))

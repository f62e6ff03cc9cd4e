"""Calls of tools and their results as the messages of a chat completion, repaired where a server would refuse them."""

import re
from collections.abc import Collection
from itertools import count
from typing import Any

from discussion_helper.tools.calls import ToolCall
from discussion_helper.tools.json_text import is_object

__all__ = ["CUT_OFF", "WireIds", "plain_text", "wire_call", "wire_result"]

CUT_OFF = "This call was cut off; whether it took effect is not known."
"""What the model gets for a call without a result: its turn was cancelled, or the process ended."""

_ODD = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64


class WireIds:
    """Keeps an id that is the only one of its kind in a request, and makes one up for any other."""

    def __init__(self, known: Collection[str]) -> None:
        """`known`: the ids of all calls that will be sent."""
        self._used: set[str] = set()
        self._known = known
        self._free = (f"call_{number}" for number in count(1))

    def of(self, call_id: str) -> str:
        """The id that goes into the request for the next call with this one."""
        wanted = plain_text(call_id)
        if not wanted or wanted in self._used:
            wanted = next(free for free in self._free if free not in self._known)
        self._used.add(wanted)
        return wanted


def wire_call(wire_id: str, call: ToolCall) -> dict[str, Any]:
    """One of an assistant's `tool_calls`. Arguments that are no JSON object are sent as an empty one: servers parse

    them, and what was wrong with them is in the result.
    """
    name = _ODD.sub("_", call.name)[:_LONGEST_NAME] or "unknown"
    text = call.arguments.strip()  # as they were given to the tool
    arguments = text if is_object(text) else "{}"
    return {"id": wire_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def wire_result(wire_id: str, text: str) -> dict[str, Any]:
    """The message of a tool."""
    return {"role": "tool", "tool_call_id": wire_id, "content": plain_text(text)}


def plain_text(text: str) -> str:
    """Half an emoji cannot be sent."""
    return text.encode("utf-8", "replace").decode()

"""The calls of tools in a streamed answer: their pieces, whichever way a server cuts and numbers them."""

import json
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from discussion_helper.tools.calls import ToolCallDelta

__all__ = ["CallPieces", "as_object"]

_LONGEST_ID = 256


@dataclass(slots=True)
class _Call:
    number: int
    server_id: str
    name: str = ""
    begun: bool = False
    has_arguments: bool = False


class CallPieces:
    """Numbers the calls of one answer, and gives each its id with its first piece.

    A call whose id is empty, or was used in the thread before, gets one that is made up: results are matched by it.
    """

    def __init__(self, used_ids: Collection[str]) -> None:
        self._used = set(used_ids)
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    def feed(self, raw: Any) -> ToolCallDelta | None:
        """Take a piece as the client gives it, which may be anything; None if it adds nothing."""
        function = getattr(raw, "function", None)
        call_id, name = _text(getattr(raw, "id", None)), _text(getattr(function, "name", None))
        arguments = _arguments(getattr(function, "arguments", None))
        if not (call_id or name or arguments):
            return None
        call = self._call(getattr(raw, "index", None), call_id, name)
        given_id, given_name = self._id_of(call), self._new_name(call, name)
        call.has_arguments = call.has_arguments or bool(arguments)
        if not (given_id or given_name or arguments):
            return None
        return ToolCallDelta(call.number, given_id, given_name, arguments)

    def _call(self, index: Any, call_id: str, name: str) -> _Call:
        """The call that a piece belongs to.

        Some servers number every call 0, some number none, and some send another id with every piece of a call: only
        a piece with a name begins one.
        """
        if isinstance(index, int):
            known = self._by_index.get(index)
        else:
            same = [call for call in self._calls if call_id and call.server_id == call_id]
            known = same[0] if same else None
            begins = name and (call_id or (self._calls and self._calls[-1].has_arguments))
            if known is None and self._calls and not begins:
                known = self._calls[-1]
        if known is None or (name and call_id and known.server_id and call_id != known.server_id):
            known = _Call(len(self._calls), call_id)
            self._calls.append(known)
        if isinstance(index, int):
            self._by_index[index] = known
        known.server_id = known.server_id or call_id
        return known

    def _id_of(self, call: _Call) -> str:
        """With the first piece alone."""
        if call.begun:
            return ""
        call.begun = True
        usable = call.server_id and call.server_id not in self._used and len(call.server_id) <= _LONGEST_ID
        given = call.server_id if usable else f"call_{secrets.token_hex(12)}"
        self._used.add(given)
        return given

    def _new_name(self, call: _Call, name: str) -> str:
        """Some servers repeat the whole name in every piece."""
        if name == call.name:
            return ""
        call.name += name
        return name


def as_object(call: Mapping[str, Any]) -> SimpleNamespace:
    """A piece that came as JSON, as the client of endpoints gives it."""
    return SimpleNamespace(**{**call, "function": SimpleNamespace(**call.get("function", {}))})


def _text(value: Any) -> str:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _arguments(value: Any) -> str:
    """Some servers send the object itself. What is no JSON in it stays: it is for the tool to refuse."""
    return json.dumps(value) if isinstance(value, dict) else _text(value)

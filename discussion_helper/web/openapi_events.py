"""What the events of a session look like, by kind, and the lines of a message's turn."""

from collections.abc import Iterable, Mapping
from typing import get_args

from discussion_helper.governor import SHEDS
from discussion_helper.text.artifacts import ARTIFACTS
from discussion_helper.text.outputs import Phase
from discussion_helper.text.state import ROLES
from discussion_helper.web.json_schema import (
    COUNT,
    NUMBER,
    SECONDS,
    TEXT,
    YES_NO,
    Schema,
    always,
    by_kind,
    list_of,
    one_of,
    or_null,
    record,
    ref,
    told,
)
from discussion_helper.web.openapi_answers import FLOOR, SPEAKER, TIMING, artifact_fields

__all__ = ["event_schemas"]

_REPLACED = told(list_of(COUNT), "Where those stood whose place it takes: the turn before was not over.")
_ANY: Mapping[str, Mapping[str, Schema]] = {
    "floor": {"floor": FLOOR},
    "utterance": {"speaker": SPEAKER, "text": TEXT, "interrupted": YES_NO, "started_s": SECONDS, "ended_s": SECONDS},
    "timing": TIMING,
    "ended": {"reason": TEXT},
    "partial": {"speaker": SPEAKER},
    "decision": {"what": TEXT, "why": TEXT},
    "interruption": {"by": TEXT},
    "attention": {"state": TEXT, "why": TEXT},
    "tool": {"state": one_of(("called", "done")), "id": TEXT, "name": TEXT, "arguments": TEXT},
    "device": {"which": TEXT, "state": TEXT},
    "level": {"dbfs": told(NUMBER, "Root mean square of the last 100 ms; -120 for silence.")},
    "shed": {"what": one_of(SHEDS), "state": one_of(("shed", "restored")), "why": TEXT},
    "snapshot": {"state": ref("State")},
}
"""What the events of every session have beside their kind and time."""
_STALE: Mapping[str, Schema] = {
    "stale": told(always(True), "The watcher had an id, and does not get what it missed."),
    "why": one_of(("epoch", "behind", "unknown")),
}
_MAY: Mapping[str, Mapping[str, Schema]] = {
    "floor": {"reason": one_of(("cancelled", "failed")), "error": TEXT},
    "utterance": {"said": TEXT, "revises": _REPLACED},
    "timing": {"ahead": always(True)},
    "ended": {"error": TEXT},
    "partial": {"text": TEXT, "stable": TEXT, "pause": TEXT, "delta": TEXT},
    "tool": {"result": TEXT, "is_error": YES_NO, "took_s": SECONDS},
    "shed": {"late_s": SECONDS, "budget_s": SECONDS},
    "snapshot": _STALE,
}
_LIST_KINDS = (("opened", "SessionOpened"), ("ended", "SessionEnded"))
_IDS: Mapping[str, Schema] = {"sessions": list_of(TEXT), "titles": told(record({}, more=TEXT), "By id.")}
_LISTED: Mapping[str, Schema] = {
    "SessionsSnapshot": record({"kind": always("snapshot"), "at_s": SECONDS, **_IDS}, _STALE),
    **{name: record({"kind": always(kind), "at_s": SECONDS, "id": TEXT, "title": TEXT}) for kind, name in _LIST_KINDS},
}
"""What tells of all sessions."""
_OPEN = ("decision", "device")
"""Those with more: a decision has what was measured, a device its name or why it is lost."""
_OUTPUT: Mapping[str, Mapping[str, Schema]] = {
    "turn_complete": {"turn": record({"role": one_of(ROLES), "artifacts": list_of(ref("Artifact"))})},
    "lifecycle": {"phase": one_of(get_args(Phase))},
    "error": {"message": TEXT},
    "properties": {"properties": record({}, more=or_null(TEXT))},
}
"""What only text sessions tell."""
_CONTEXT: Mapping[str, Schema] = {
    "context": told(record({}, {"provenance": TEXT, "event_id": TEXT}), "What caused it.")
}


def event_schemas() -> dict[str, Schema]:
    """One for each kind, and which of them a stream of events and a turn's lines may hold."""
    written, gap = (*_OUTPUT, *ARTIFACTS), record({"kind": always("gap"), "missed": told(COUNT, "Lost here.")})
    return {
        **{_name(kind): _of_any(kind) for kind in _ANY},
        **{_name(kind): _of_text(kind) for kind in written},
        _name("gap"): gap,
        **_LISTED,
        "Event": _one_of((*_ANY, *written, "gap")),
        "Line": _one_of((*written, "gap")),
        "ListEvent": by_kind({"snapshot": "SessionsSnapshot", **dict(_LIST_KINDS), "gap": _name("gap")}),
    }


def _name(kind: str) -> str:
    return "".join(part.capitalize() for part in kind.split("_")) + "Event"


def _of_any(kind: str) -> Schema:
    more = True if kind in _OPEN else None
    return record({"kind": always(kind), "at_s": SECONDS, **_ANY[kind]}, _MAY.get(kind), more=more)


def _of_text(kind: str) -> Schema:
    if kind in ARTIFACTS:
        return record({"kind": always(kind)}, {**artifact_fields(kind), **_CONTEXT})
    return record({"kind": always(kind), **_OUTPUT[kind]}, _CONTEXT)


def _one_of(kinds: Iterable[str]) -> Schema:
    return by_kind({kind: _name(kind) for kind in kinds})

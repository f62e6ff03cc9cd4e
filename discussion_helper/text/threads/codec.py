"""Threads as JSON: turns, artifacts and what surrounds them, checked on the way out and on the way in."""

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from typing import Any, cast

from discussion_helper.errors import SettingError
from discussion_helper.text.artifacts import ARTIFACTS, Artifact, Delta
from discussion_helper.text.state import ROLES, Role, Turn
from discussion_helper.text.threads.base import ThreadInfo, checked_metadata

__all__ = [
    "DEEPEST",
    "LONGEST_TEXT",
    "MOST_ARTIFACTS",
    "artifact_data",
    "artifact_of",
    "dumped",
    "info_data",
    "info_from",
    "loaded",
    "moment_data",
    "turn_data",
    "turn_of",
]

LONGEST_TEXT = 32 * 1024 * 1024
"""Characters of one text; a picture in a data address is one too."""
MOST_ARTIFACTS = 10_000
"""Artifacts of one turn."""
DEEPEST = 64
"""Lists and objects inside each other, in the value of a tool's result; far less than what Python's reader takes."""
_LARGEST_BITS = 4096
"""Bits of a whole number; Python reads decimal numbers of up to 4300 digits."""
_NAMES: dict[Any, str] = {str: "a text", int: "a whole number", bool: "true or false"}


def dumped(data: object) -> bytes:
    """JSON in UTF-8, on one line. Raises SettingError for what would not come back as it is."""
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can hold
        escaped = json.dumps(data, allow_nan=False, separators=(",", ":"))
    if json.loads(escaped) != data:
        raise SettingError("text: it holds surrogates that are no text.", fix="Decode it properly.")
    return escaped.encode()


def loaded(data: bytes) -> Any:
    """What the JSON says. Raises SettingError when it is none."""
    try:
        return json.loads(data.decode())
    except (ValueError, RecursionError) as cause:
        raise SettingError(f"it is no JSON: {cause}.") from cause


# -- turns


def turn_data(turn: Turn, where: str = "turn") -> dict[str, Any]:
    """`{role, at, interrupted?, said?, wants_answer?, revises?, artifacts: [{kind, data}]}`.

    Raises SettingError for a delta, or what is not ours.
    """
    if not isinstance(turn.artifacts, tuple):
        raise _wrong(f"{where}.artifacts", f"it is a {type(turn.artifacts).__name__}", fix="Use a tuple.")
    data: dict[str, Any] = {"role": turn.role, "at": moment_data(turn.at, f"{where}.at")}
    if turn.interrupted:
        data["interrupted"] = True
    if turn.said:
        data["said"] = _checked(turn.said, str, f"{where}.said")
    if not turn.wants_answer:
        data["wants_answer"] = False
    if turn.revises:
        data["revises"] = _checked(turn.revises, str, f"{where}.revises")
    _few(turn.artifacts, f"{where}.artifacts")
    data["artifacts"] = [artifact_data(each, f"{where}.artifacts[{n}]") for n, each in enumerate(turn.artifacts)]
    return data


def turn_of(data: object, where: str = "turn") -> Turn:
    """The turn again. Raises SettingError naming the field that is wrong."""
    optional = {"interrupted", "said", "wants_answer", "revises"}
    given = _object(data, where, required={"role", "at", "artifacts"}, optional=optional)
    if given["role"] not in ROLES:
        raise _wrong(f"{where}.role", f"{_shown(given['role'])} is no role")
    artifacts = _few(given["artifacts"], f"{where}.artifacts")
    return Turn(
        cast(Role, given["role"]),
        tuple(artifact_of(each, f"{where}.artifacts[{n}]") for n, each in enumerate(artifacts)),
        interrupted=_checked(given.get("interrupted", False), bool, f"{where}.interrupted"),
        said=_checked(given.get("said", ""), str, f"{where}.said"),
        wants_answer=_checked(given.get("wants_answer", True), bool, f"{where}.wants_answer"),
        revises=_checked(given.get("revises", ""), str, f"{where}.revises"),
        at=_moment(given["at"], f"{where}.at"),
    )


def _few(artifacts: object, where: str) -> list[Any] | tuple[Any, ...]:
    if not isinstance(artifacts, list | tuple):
        raise _wrong(where, f"{_shown(artifacts)} is no list")
    if len(artifacts) > MOST_ARTIFACTS:
        raise _wrong(where, f"they are {len(artifacts)}, more than {MOST_ARTIFACTS}")
    return artifacts


# -- artifacts


def artifact_data(artifact: Artifact, where: str = "artifact") -> dict[str, Any]:
    """`{kind, data}`. Raises SettingError for a delta, a kind that is not ours, or a value that JSON would change."""
    kind = getattr(artifact, "kind", None)
    made = _made(kind, where)
    known = fields(made)
    if type(artifact) is not made:
        raise _wrong(where, f"a {type(artifact).__name__} cannot be stored", fix="Use the artifacts of this package.")
    data = {each.name: _checked(getattr(artifact, each.name), each.type, f"{where}.{each.name}") for each in known}
    return {"kind": kind, "data": data}


def artifact_of(data: object, where: str = "artifact") -> Artifact:
    """The artifact again. Raises SettingError naming the field, or the kind that there is not."""
    entry = _object(data, where, required={"kind", "data"})
    made = _made(entry["kind"], where)
    known = {field.name: field for field in fields(made)}
    required = {name for name, field in known.items() if field.default is MISSING}
    given = _object(entry["data"], f"{where}.data", required=required, optional=set(known) - required)
    values = {name: _checked(value, known[name].type, f"{where}.data.{name}") for name, value in given.items()}
    return cast(Artifact, made(**values))


def _made(kind: object, where: str) -> type[Any]:
    made = ARTIFACTS.get(kind) if isinstance(kind, str) else None
    if made is None:
        raise _wrong(where, f"artifacts of the kind {_shown(kind)} cannot be stored")
    if issubclass(made, Delta):
        raise _wrong(where, f"a {kind} is only a piece and cannot be stored", fix="Store the whole artifact.")
    return made


# -- what surrounds the turns


def info_data(info: ThreadInfo) -> dict[str, Any]:
    """`{id, created_at, updated_at, metadata}`. Raises SettingError."""
    return {
        "id": info.id,
        "created_at": moment_data(info.created_at, "created_at"),
        "updated_at": moment_data(info.updated_at, "updated_at"),
        "metadata": checked_metadata(info.metadata),
    }


def info_from(data: Mapping[str, object]) -> ThreadInfo:
    """From a mapping with these four; metadata may be missing. Raises SettingError naming the field that is wrong."""
    return ThreadInfo(
        _checked(data.get("id"), str, "id"),
        _moment(data.get("created_at"), "created_at"),
        _moment(data.get("updated_at"), "updated_at"),
        checked_metadata(data.get("metadata", {})),
    )


# -- values


def _checked(value: Any, kind: Any, where: str) -> Any:
    if kind is Any:
        return _shaped(value, where)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _wrong(where, f"{_shown(value)} is not {_NAMES[kind]}")
    return _bounded(value, where)


def _bounded(value: Any, where: str) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        raise _wrong(where, f"its {len(value)} characters are more than {LONGEST_TEXT}")
    if isinstance(value, int) and value.bit_length() > _LARGEST_BITS:
        raise _wrong(where, f"the number is larger than {_LARGEST_BITS} bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise _wrong(where, f"{value} is no number")
    return value


def _shaped(value: Any, where: str, depth: int = 0) -> Any:
    """The value, which is made of what JSON gives back with equal types."""
    if depth > DEEPEST:
        raise _wrong(where, f"it is deeper than {DEEPEST} levels")
    if type(value) is dict:
        for key, each in value.items():
            if type(key) is not str:
                raise _wrong(where, f"the key {_shown(key)} is not a text")
            _shaped(each, f"{where}[{_shown(key)}]", depth + 1)
    elif type(value) is list:
        for number, each in enumerate(value):
            _shaped(each, f"{where}[{number}]", depth + 1)
    elif value is not None and type(value) not in (str, bool, int, float):
        raise _wrong(where, f"JSON would change a {type(value).__name__}", fix="Use lists, dicts, texts and numbers.")
    return _bounded(value, where)


def _object(data: object, where: str, *, required: set[str], optional: set[str] | None = None) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise _wrong(where, f"{_shown(data)} is no object")
    if missing := required - set(data):
        raise _wrong(where, f"{', '.join(sorted(missing))} is missing")
    if unknown := set(data) - required - (optional or set()):
        raise _wrong(where, f"{ascii(', '.join(sorted(unknown))[:80])[1:-1]} is unknown here")
    return data


def moment_data(moment: object, where: str) -> str:
    """ISO 8601 in UTC. Raises SettingError for what is no time with a time zone."""
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise _wrong(where, f"{_shown(moment)} is no time with a time zone", fix="Use datetime.now(UTC).")
    try:
        return moment.astimezone(UTC).isoformat()
    except OverflowError:
        raise _wrong(where, f"{_shown(moment)} is not in UTC's range") from None


def _moment(value: object, where: str) -> datetime:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None:
        raise _wrong(where, f"{_shown(value)} is no time")
    moment_data(moment, where)
    return moment.astimezone(UTC)


def _shown(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > _LARGEST_BITS:
        return "a huge number"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _wrong(where: str, what: str, *, fix: str = "") -> SettingError:
    return SettingError(f"{where}: {what}.", fix=fix)

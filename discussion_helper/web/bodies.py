"""Bodies of requests, checked: what is wrong is told by the field's name, with the fix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from starlette.requests import ClientDisconnect, Request

from discussion_helper.config_keys import KEYS, POLICY_FIELDS
from discussion_helper.policy import RANGES, Policy
from discussion_helper.web.problems import Problem

if TYPE_CHECKING:
    from pydantic import ValidationError

__all__ = ["LONGEST_SYSTEM", "MessageBody", "MuteBody", "OpeningBody", "SayBody", "SpeakBody", "Transport", "read_body"]

B = TypeVar("B")

Transport = Literal["local", "remote", "fake"]
"""Whose microphone a voice session has: this machine's, a client's, or none."""
LONGEST_SYSTEM = 16_384
"""Characters of what a session's model is told beforehand: a quarter of what a body may have."""

_FIXES: Mapping[str, str] = {
    "text": "Use a text that is not blank.",
    "content": "Use a text that is not blank.",
    "kinds": "Use a list of the kinds of output, or leave it out.",
    "on": "Use true or false.",
    "kind": 'Use "voice" or "text".',
    "transport": 'Use "local", "remote" or "fake".',
    "turns": "Use a list of texts.",
    "thread_id": "Use the id of a stored thread, or leave it out.",
    "keep": "Use true or false, or leave it out.",
    "voice": "Use the name of a voice, or leave it out.",
    "system": f"Use a text of up to {LONGEST_SYSTEM:,} characters, or leave it out.",
    "language": "Use two letters, such as en or de, or leave it out.",
}
_POLICY = tuple(one.name for one in fields(Policy))
_STRICT: Mapping[str, Any] = {"strict": True}


@dataclass(frozen=True, slots=True)
class SayBody:
    """A typed turn."""

    text: str
    __pydantic_config__: ClassVar[Mapping[str, Any]] = _STRICT

    def __post_init__(self) -> None:
        _check_words("text", self.text)


@dataclass(frozen=True, slots=True)
class SpeakBody:
    """What the agent is to say."""

    text: str
    __pydantic_config__: ClassVar[Mapping[str, Any]] = _STRICT

    def __post_init__(self) -> None:
        _check_words("text", self.text)


@dataclass(frozen=True, slots=True)
class MessageBody:
    """A message whose turn is answered in the same response."""

    content: str
    kinds: list[str] | None = None
    __pydantic_config__: ClassVar[Mapping[str, Any]] = _STRICT

    def __post_init__(self) -> None:
        _check_words("content", self.content)


@dataclass(frozen=True, slots=True)
class MuteBody:
    """Whether the microphone is to be closed."""

    on: bool
    __pydantic_config__: ClassVar[Mapping[str, Any]] = _STRICT


@dataclass(frozen=True, slots=True)
class OpeningBody:
    """A session to open; in the request the fields of its policy stand beside the others."""

    kind: Literal["voice", "text"] = "voice"
    transport: Transport = "local"
    turns: list[str] = field(default_factory=list)
    thread_id: str | None = None
    voice: str | None = None
    language: str | None = None
    system: str | None = None
    keep: bool | None = None
    policy: dict[str, Any] = field(default_factory=dict)
    __pydantic_config__: ClassVar[Mapping[str, Any]] = _STRICT

    def __post_init__(self) -> None:
        if self.keep is False and self.kind == "text":
            what = "keep: what is said in writing is always kept, as a thread."
            raise Problem(422, what, fix="Leave it out, and DELETE /threads/ID afterwards.")
        if self.keep is False and self.thread_id is not None:
            what = "keep: what is said in a session on a stored thread is always kept there."
            raise Problem(422, what, fix="Leave it out, or thread_id.")
        if self.system is not None:
            _check_words("system", self.system)
            if len(self.system) > LONGEST_SYSTEM:
                what = f"system: it has more than {LONGEST_SYSTEM:,} characters."
                raise Problem(422, what, fix=_FIXES["system"])

    def checked_policy(self, usual: Policy) -> Policy:
        """The `usual` one with what the body says of it.

        Raises SettingError for a wrong value, Problem where there can be no policy.
        """
        if self.policy and self.kind == "text":
            raise Problem(422, f"{next(iter(self.policy))}: a text session has no policy.", fix="Leave it out.")
        return replace(usual, **{name: _as_meant(name, value) for name, value in self.policy.items()})


async def read_body(request: Request, shape: type[B]) -> B:
    """The request's body; an empty one is an empty object. Raises Problem naming the first wrong field."""
    try:
        body = await request.body()
    except ClientDisconnect:
        raise Problem(400, "The request broke off.") from None
    return _validated(_checked_names(_parsed(body or b"{}"), shape), shape)


def _parsed(body: bytes) -> dict[str, Any]:
    from pydantic_core import from_json  # unlike json it refuses half surrogates, and what is nested without end

    try:
        content = from_json(body)
    except ValueError as error:
        raise Problem(422, f"body: {error}.", fix="Send one JSON object.") from None
    if not isinstance(content, dict):
        raise Problem(422, "body: it is no object.", fix="Send one JSON object.")
    return content


def _checked_names(content: dict[str, Any], shape: type[Any]) -> dict[str, Any]:
    """With the policy's fields in a field of their own, where there may be any."""
    known = [one.name for one in fields(shape) if one.name != "policy"]
    extra = _POLICY if shape is OpeningBody else ()
    for name in content:
        if name not in known and name not in extra:
            raise _unknown(name, (*known, *extra))
    policy = {name: value for name, value in content.items() if name in extra}
    own = {name: value for name, value in content.items() if name not in extra}
    return own | ({"policy": policy} if policy else {})


def _unknown(name: str, known: Sequence[str]) -> Problem:
    """Settings of the server's file have other names here, or are no session's."""
    fix, meant = f"Use {', '.join(known)}.", POLICY_FIELDS.get(name)
    if meant in known:
        return Problem(422, f"{name}: that is a name in the settings file.", fix=f"Here its name is {meant}.")
    if name in KEYS and set(_POLICY) <= set(known):
        fix = "It is the server's, for all its sessions: set it in the settings file there."
        return Problem(422, f"{name}: no session has a setting of its own of that name.", fix=fix)
    return Problem(422, f"{name[:80]}: there is no such field.", fix=fix)


def _validated(content: dict[str, Any], shape: type[B]) -> B:
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import to_json

    try:
        return TypeAdapter(shape).validate_json(to_json(content, inf_nan_mode="constants"))
    except ValidationError as error:
        raise _told(error) from None


def _told(error: "ValidationError") -> Problem:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    name, *inside = first["loc"]
    where = "".join(f"[{part}]" for part in inside)
    what = "it is missing" if first["type"] in ("missing", "missing_argument") else first["msg"]
    return Problem(422, f"{name}{where}: {what}.", fix=_FIXES.get(str(name), ""))


def _as_meant(name: str, value: Any) -> Any:
    """JSON has one kind of number: 3.0 is a whole one."""
    is_whole = isinstance(value, float) and value.is_integer() and name in RANGES and not name.endswith("_s")
    return int(value) if is_whole else value


def _check_words(name: str, text: str) -> None:
    if not text.strip():
        raise Problem(422, f"{name}: it is blank.", fix=_FIXES[name])

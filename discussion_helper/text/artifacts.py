"""What models and tools produce, piece by piece: texts, reasoning, tool calls, their results, usage, images."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

from discussion_helper.errors import SettingError
from discussion_helper.tools.calls import ToolCall, ToolCallDelta, ToolResult

__all__ = [
    "ARTIFACTS",
    "Artifact",
    "Delta",
    "Image",
    "Reasoning",
    "ReasoningDelta",
    "Text",
    "TextDelta",
    "ToolCall",
    "ToolCallDelta",
    "ToolResult",
    "Usage",
    "check_artifact",
    "is_delta",
    "is_ours",
    "payload_of",
]


class Artifact(Protocol):
    """Anything with a kind; those below are the ones that are stored and sent."""

    @property
    def kind(self) -> str:
        """Its name on the wire."""
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """A whole text."""

    content: str
    kind: ClassVar[str] = "text"


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of a text."""

    content: str
    kind: ClassVar[str] = "text_delta"

    @property
    def key(self) -> str:
        """What it accumulates with."""
        return "text"

    def whole(self) -> Text:
        """The artifact that its pieces make."""
        return Text(self.content)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the model thought before it answered."""

    content: str
    kind: ClassVar[str] = "reasoning"


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """The next piece of a thought."""

    content: str
    kind: ClassVar[str] = "reasoning_delta"

    @property
    def key(self) -> str:
        """What it accumulates with."""
        return "reasoning"

    def whole(self) -> Reasoning:
        """The artifact that its pieces make."""
        return Reasoning(self.content)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one model call took."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    kind: ClassVar[str] = "usage"


@dataclass(frozen=True, slots=True)
class Image:
    """A picture by its address."""

    url: str
    kind: ClassVar[str] = "image"


Delta = TextDelta | ReasoningDelta | ToolCallDelta
_WHOLE = (Text, Reasoning, ToolCall, ToolResult, Usage, Image)
ARTIFACTS: dict[str, type[Any]] = {made.kind: made for made in (*_WHOLE, TextDelta, ReasoningDelta, ToolCallDelta)}
"""By kind."""


_TYPES: dict[type[Any], tuple[tuple[str, type[Any]], ...]] = {
    made: tuple((field.name, field.type) for field in fields(made) if field.type in (str, int, bool))
    for made in ARTIFACTS.values()
}
"""The fields of each and what they hold; a result's value may be anything, and is looked at when it is stored."""


def is_ours(artifact: object) -> bool:
    """Whether it is one of the kinds above, which are stored and sent; others are only shown."""
    return type(artifact) in _TYPES


def is_delta(artifact: Artifact) -> bool:
    """Whether it is a piece of something."""
    return isinstance(artifact, TextDelta | ReasoningDelta | ToolCallDelta)


def check_artifact(artifact: object) -> None:
    """Raises SettingError for what has no kind, and for one of ours that holds something else than it should."""
    if not isinstance(getattr(artifact, "kind", None), str):
        what = f"artifact: {str(artifact)[:80]!r} ({type(artifact).__name__}) is none."
        raise SettingError(what, fix="Give Text, ToolCall, ..., or an object with a kind.")
    for name, wanted in _TYPES.get(type(artifact), ()):
        value = getattr(artifact, name)
        if type(value) is not wanted:
            what = f"{type(artifact).__name__}.{name}: {str(value)[:80]!r} is no {wanted.__name__}."
            raise SettingError(what, fix="See to who made it.")


def payload_of(artifact: Artifact) -> dict[str, Any] | None:
    """Its fields as they go on the wire, those that say nothing left out; None for an artifact that is not ours."""
    if type(artifact) is not ARTIFACTS.get(artifact.kind):
        return None
    values = {field.name: getattr(artifact, field.name) for field in fields(artifact)}  # type: ignore[arg-type]
    return {name: value for name, value in values.items() if _says(name, value)}


def _says(name: str, value: Any) -> bool:
    """A tool's value may well be false, 0 or an empty text."""
    return value is not None and (name == "value" or value not in ("", False))

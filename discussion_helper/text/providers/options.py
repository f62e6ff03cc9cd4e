"""Options of a model call that the providers here know; a provider leaves out those that it does not."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from discussion_helper.errors import SettingError
from discussion_helper.text.state import State

__all__ = ["MaxTokens", "OffersTools", "Seed", "Temperature", "ToolChoice", "TopP", "offered"]


@dataclass(frozen=True, slots=True)
class Temperature:
    """How much chance is in the choice of words: 0 to 2. Raises SettingError."""

    value: float
    name: ClassVar[str] = "temperature"

    def __post_init__(self) -> None:
        if not 0.0 <= self.value <= 2.0:
            raise SettingError(f"temperature is {self.value:g}.", fix="Choose one from 0 to 2.")


@dataclass(frozen=True, slots=True)
class TopP:
    """Only the likeliest words that together have this probability: above 0, to 1. Raises SettingError."""

    value: float
    name: ClassVar[str] = "top_p"

    def __post_init__(self) -> None:
        if not 0.0 < self.value <= 1.0:
            raise SettingError(f"top_p is {self.value:g}.", fix="Choose one above 0, and 1 at most.")


@dataclass(frozen=True, slots=True)
class MaxTokens:
    """The most that one answer may take, reasoning and calls of tools included. Raises SettingError."""

    value: int
    name: ClassVar[str] = "max_tokens"

    def __post_init__(self) -> None:
        if self.value < 1:
            raise SettingError(f"max_tokens is {self.value}.", fix="Choose 1 or more.")


@dataclass(frozen=True, slots=True)
class Seed:
    """The same chance again, as far as the server can."""

    value: int
    name: ClassVar[str] = "seed"


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether the model calls tools: "auto", "none" or "required". Raises SettingError.

    "required" is for the answer to a user: behind what a tool gave the model chooses, or it could never answer.
    """

    value: str = "auto"
    name: ClassVar[str] = "tool_choice"

    def __post_init__(self) -> None:
        if self.value not in ("auto", "none", "required"):
            raise SettingError(f"tool_choice is {self.value!r}.", fix="Choose auto, none or required.")

    def after(self, state: State) -> str:
        """What it is for the next answer."""
        behind_tool = state.last is not None and state.last.role == "tool"
        return "auto" if behind_tool and self.value == "required" else self.value


@runtime_checkable
class OffersTools(Protocol):
    """The option named "tools"."""

    @property
    def schemas(self) -> tuple[dict[str, Any], ...]:
        """Of every tool: name, description, parameters."""
        ...


def offered(option: OffersTools) -> list[dict[str, Any]]:
    """Its tools as a chat completion takes them."""
    return [{"type": "function", "function": schema} for schema in option.schemas]

"""What stands in the transcript of a chat."""

from dataclasses import dataclass

__all__ = ["Called", "Entry", "Remark", "Returned", "Said", "Spent", "Thought", "You"]


@dataclass(frozen=True, slots=True)
class You:
    """What the user wrote."""

    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """An answer, in Markdown; `cut`: it broke off, and the thread does not hold it."""

    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Thought:
    """What the model thought."""

    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A tool that the model called."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Returned:
    """What a tool gave."""

    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens that one call of the model took."""

    prompt: int
    completion: int


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about the chat, for the person at the keyboard."""

    text: str
    problem: bool = False


Entry = You | Said | Thought | Called | Returned | Spent | Remark

"""The port of the providers."""

from collections.abc import AsyncIterator
from typing import Protocol

from discussion_helper.text.artifacts import Artifact
from discussion_helper.text.state import State

__all__ = ["Option", "Provider"]


class Option(Protocol):
    """Something for a provider that knows it, as tools or a temperature; others ignore it."""

    @property
    def name(self) -> str:
        """What it is."""
        ...


class Provider(Protocol):
    """Answers with artifacts."""

    def invoke(self, state: State, *options: Option) -> AsyncIterator[Artifact]:
        """Every artifact as soon as it is there. Closing the iterator cancels the request. Raises ResponderError."""
        ...

    async def aclose(self) -> None:
        """Release the model or connection; idempotent."""
        ...

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
        """Every artifact as soon as it is there. Raises ResponderError.

        Closing the iterator cancels the request, and so does cancelling the task that waits for the next artifact: let
        the cancellation through. An error raised in its place is what the turn failed with, although it was to be
        cancelled: an exception says that something went wrong, and whoever cancelled is told of it. What goes wrong
        in closing the iterator, or takes longer than the step allows, is logged, and the answer stays as it is.
        """
        ...

    async def aclose(self) -> None:
        """Release the model or connection; idempotent."""
        ...

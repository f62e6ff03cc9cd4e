"""The pieces of artifacts: whether a whole one says anything that they have not said."""

from discussion_helper.text.artifacts import Artifact

__all__ = ["Pieces"]


class Pieces:
    """Kinds of artifacts of which pieces came; the whole one that follows holds nothing new."""

    def __init__(self) -> None:
        self._open: set[type[Artifact]] = set()

    def came(self, whole: type[Artifact]) -> None:
        """A piece of one of that kind."""
        self._open.add(whole)

    def ended(self, whole: type[Artifact]) -> bool:
        """Whether a whole one of that kind just ends its pieces."""
        held = whole in self._open
        self._open.discard(whole)
        return held

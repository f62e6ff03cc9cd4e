"""Pieces put together: deltas accumulate by their key until they are flushed."""

from discussion_helper.text.artifacts import Artifact, Delta, ReasoningDelta, TextDelta, ToolCallDelta

__all__ = ["Merger"]


class Merger:
    """For the pieces of one model call."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[Delta]] = {}

    def add(self, delta: Delta) -> None:
        """One more piece."""
        self._pieces.setdefault(delta.key, []).append(delta)

    def flush(self) -> list[Artifact]:
        """What the pieces so far make, in the order in which each was begun; it starts anew then."""
        whole = [_merged(pieces).whole() for pieces in self._pieces.values()]
        self._pieces.clear()
        return list(whole)


def _merged(pieces: list[Delta]) -> Delta:
    """Joined at once: adding piece after piece to a text takes a time that grows with its square."""
    match pieces[0]:
        case TextDelta():
            return TextDelta("".join(piece.content for piece in pieces if isinstance(piece, TextDelta)))
        case ReasoningDelta():
            return ReasoningDelta("".join(piece.content for piece in pieces if isinstance(piece, ReasoningDelta)))
        case ToolCallDelta(index):
            calls = [piece for piece in pieces if isinstance(piece, ToolCallDelta)]
            ids = [call.id for call in calls if call.id]
            name, arguments = "".join(call.name for call in calls), "".join(call.arguments for call in calls)
            return ToolCallDelta(index, ids[-1] if ids else "", name, arguments)

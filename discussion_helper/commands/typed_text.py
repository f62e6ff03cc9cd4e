"""The text that is being typed, which is bounded."""

from collections.abc import Callable

from prompt_toolkit.buffer import Buffer, BufferAcceptHandler
from prompt_toolkit.history import History

__all__ = ["TypedText"]


class TypedText(Buffer):
    """Takes what there is room for, and tells when something was left out."""

    def __init__(
        self,
        longest: int,
        left_out: Callable[[], None],
        *,
        accept: BufferAcceptHandler,
        multiline: bool,
        history: History | None = None,
    ) -> None:
        """`longest` in characters. `accept` returns whether the text stays."""
        super().__init__(multiline=multiline, accept_handler=accept, history=history)
        self._longest = longest
        self._left_out = left_out

    def insert_text(
        self, data: str, overwrite: bool = False, move_cursor: bool = True, fire_event: bool = True
    ) -> None:
        """Insert as much of it as there is room for."""
        room = max(0, self._longest - len(self.text))
        if len(data) > room:
            self._left_out()
        if data[:room]:
            super().insert_text(data[:room], overwrite, move_cursor, fire_event)

"""Pauses of a talk, in which it can spare its devices for a moment."""

import anyio

from discussion_helper.audio.player import Player
from discussion_helper.turn.turns import TurnEnded, TurnStarted
from discussion_helper.voice.marks import Marks
from discussion_helper.voice.notes import Note, Turn

__all__ = ["CLAUSE_S", "TURN_S", "Pauses"]

CLAUSE_S = 6.0
"""Longer than a clause takes; a loudspeaker that plays nothing comes to the end of none."""
TURN_S = 20.0
"""For the user's turn: longer ones are rare, and this one has to do with what the old microphone hears."""


class Pauses:
    """Nobody is in the middle of a turn or of a clause. For the event loop's thread."""

    def __init__(self, playback: Player, marks: Marks) -> None:
        """`marks` are set where the clauses begin and end."""
        self._playback = playback
        self._marks = marks
        self._turn_ended = anyio.Event()
        self._turn_ended.set()

    def noted(self, note: Note) -> None:
        """Something was heard."""
        event = note.event if isinstance(note, Turn) else None
        if isinstance(event, TurnStarted) and self._turn_ended.is_set():
            self._turn_ended = anyio.Event()
        elif isinstance(event, TurnEnded):
            self._turn_ended.set()

    async def wait(self, *, speaks: bool) -> None:
        """Return in the next one, in `TURN_S` + `CLAUSE_S` seconds at most. `speaks`: there is a loudspeaker."""
        with anyio.move_on_after(TURN_S):
            await self._turn_ended.wait()
        if speaks and not self._playback.idle:
            with anyio.move_on_after(CLAUSE_S):
                await self._marks.passed()

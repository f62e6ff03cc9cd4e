"""The listeners that do not always listen: for a wake word, and for a key."""

import anyio

from discussion_helper.clock import now
from discussion_helper.voice.microphone import MicrophoneListener
from discussion_helper.voice.notes import Attends, Note

__all__ = ["AttentiveListener", "KeyListener"]


class AttentiveListener(MicrophoneListener):
    """Tells when what is heard may be a turn: `attention` events, and a `decision` about each wake word.

    `attention` has `state`, "awake" or "asleep", "pressed" or "released", and `why`. The decision has `what`, "wake" or
    "ignored" (the agent said it), `why`, and the detector's `score`.
    """

    def noted(self, note: Note) -> None:
        """Something was heard."""
        if not isinstance(note, Attends):
            super().noted(note)
            return
        if note.score:
            what = "ignored" if note.state == "refused" else "wake"
            self._report("decision", what=what, why=note.why, score=round(note.score, 3))
        if note.state != "refused":
            self._report("attention", state=note.state, why=note.why)


class KeyListener(AttentiveListener):
    """A `TalkKey`: it hears what is said while the key is pressed."""

    async def resumed(self) -> None:
        """Never: what is said with another press is another turn."""
        await anyio.sleep_forever()

    def reopen(self, *, within_s: float) -> bool:  # noqa: ARG002 - as the port has it
        """Never."""
        return False

    async def press(self) -> None:
        """The user has the floor from now on, and for the moment before. Raises RuntimeError where nothing is heard."""
        self._check_here()
        if self._muted:
            raise RuntimeError("the microphone is muted")
        self._microphone.key(down=True, at_s=now())

    async def release(self) -> None:
        """The turn ends now; nothing when it has."""
        self._check_here()
        self._microphone.key(down=False, at_s=now())

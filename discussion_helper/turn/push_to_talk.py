"""Push to talk: a turn lasts from the press of a key to its release, and nothing else is heard."""

from discussion_helper.audio.frames import Frame
from discussion_helper.turn.attention import Attending, AttentionEvent
from discussion_helper.turn.endpointing import OpenTurn, Verdict
from discussion_helper.turn.gate import TurnGate
from discussion_helper.turn.turns import TurnEnded, TurnSegmenter

__all__ = ["PREROLL_S", "HeldEndpointer", "PushToTalk"]

PREROLL_S = 0.3
"""Before the press, that belongs to the turn: people begin to speak as they press."""
_KEY = "push to talk"


class HeldEndpointer:
    """An `Endpointer` that ends no turn by its silence: the key does. Work begins after `early_s` all the same."""

    def __init__(self, *, early_s: float = 0.05, max_turn_s: float = 60.0) -> None:
        self._early_s, self._max_turn_s = early_s, max_turn_s

    def verdict(self, turn: OpenTurn) -> Verdict:
        """LIMIT after `max_turn_s`, which the key's own limit mostly is before."""
        if turn.duration_s >= self._max_turn_s:
            return Verdict.LIMIT
        return Verdict.EARLY if turn.silence_s >= self._early_s else Verdict.GO_ON


class PushToTalk:
    """An `Attention` for a key. Every press gives one turn, also one in which nothing was said.

    The turn ends when the audio of the moment of the release is there, some hundredths of a second after it, whether or
    not the user was speaking; a key that is never released is let go of after `max_turn_s`.
    """

    def __init__(self, segmenter: TurnSegmenter, *, max_turn_s: float = 60.0) -> None:
        """`segmenter`: one with a `HeldEndpointer`."""
        self._gate = TurnGate(segmenter)
        self._max_turn_s = max_turn_s
        self._pressed_s: float | None = None
        self._released_s: float | None = None
        self._is_spent = False
        self._is_told = False

    def press(self, at_s: float) -> None:
        """Nothing while it is pressed; one that comes up at this moment goes down again, and the turn goes on."""
        self._released_s = None
        if self._pressed_s is None:
            self._pressed_s = at_s

    def release(self, at_s: float) -> None:
        """Nothing while it is up."""
        if self._pressed_s is not None:
            self._released_s = at_s

    def played(self, frame: Frame, at_s: float) -> None:
        """No matter: the key says who speaks."""

    def feed(self, frame: Frame, now_s: float) -> list[AttentionEvent]:
        """The turn, and when it is told apart from what is not heard."""
        events: list[AttentionEvent] = [*self._gate.feed(frame)]
        if not self._is_told:
            self._is_told = True
            events.append(Attending("released", _KEY))
        if self._pressed_s is not None and not (self._gate.is_open or self._is_spent):
            since = frame.end - round((now_s - self._pressed_s + PREROLL_S) * frame.rate)
            started, *more = self._gate.open(since, held=True)
            events += [started, Attending("pressed", _KEY, calls=True), *more]
        return events + self._over(events, now_s)

    def finish(self) -> list[AttentionEvent]:
        """Let go of the key: the microphone was closed."""
        was_open = self._gate.is_open
        self._pressed_s = self._released_s = None
        self._is_spent = False
        return [*self._gate.shut(), Attending("released", "the microphone was closed")] if was_open else []

    def _over(self, events: list[AttentionEvent], now_s: float) -> list[AttentionEvent]:
        if self._pressed_s is None:
            return []
        if self._released_s is not None and now_s >= self._released_s:
            spent, self._is_spent = self._is_spent, False
            self._pressed_s = self._released_s = None
            return [] if spent else [*self._gate.shut(), Attending("released", _KEY)]
        cut = any(isinstance(event, TurnEnded) for event in events)
        if self._is_spent or not (cut or now_s - self._pressed_s >= self._max_turn_s):
            return []
        self._is_spent = True
        return [*self._gate.shut(limit=True), Attending("released", f"held for {self._max_turn_s:g} s")]

"""The user while the agent speaks and may not be interrupted: a voice that leaves no turn is told all the same."""

from collections.abc import Callable

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.vad.base import Detector
from discussion_helper.voice.deciding import LEAST_VOICE_S, SOUND_S
from discussion_helper.voice.ducking import DuckRule, Gates
from discussion_helper.voice.notes import Decided

__all__ = ["BARGE_IN_OFF", "COMPARED", "LEAST_SOUND_S", "OWN", "Overheard"]

BARGE_IN_OFF = "barge-in is off"
OWN = "the agent's own voice"
LEAST_SOUND_S = 0.05
"""Of what the rule hears in all; less is a click."""
COMPARED = 10
"""Every so many of its blocks are compared with what the agent says."""
_SILENT = -120.0


class Overheard:
    """For the audio thread alone. A function of the blocks and their times.

    The agent is not turned down, so that the canceller may take nearly all of somebody who talks over it, above all
    over a first reply without an echo: then the neural detector hears nothing, and there is no turn. The rule that
    would turn the agent down hears them.
    """

    def __init__(self, *, gate: Detector, clean_gate: Detector, rule: DuckRule | None = None) -> None:
        """`gate` says yes easily, `clean_gate` does not; both hear 10 ms at 16 kHz. `rule`: one of your own tuning."""
        self._gates, self._rule = Gates(gate, clean_gate), rule or DuckRule()
        self._agent_until_s = -1e9
        self._begin()

    def _begin(self) -> None:
        self._started_at_s: float | None = None
        self._heard_at_s = 0.0
        self._level = self._over = _SILENT
        self._blocks = self._own = 0
        self._is_turn = False

    def played(self, item: Played) -> None:
        """The loudspeaker got a block."""
        self._agent_until_s = item.at_s + item.frame.duration_s

    def block(
        self,
        near: Samples,
        clean: Samples,
        *,
        at_s: float,
        near_db: float,
        expected_db: float,
        voiced_s: float,
        is_own: Callable[[], bool],
    ) -> list[Decided]:
        """The next 10 ms of the microphone, as it came and without the echo; what is to be told after them.

        `voiced_s`: seconds of voice in the open turn, 0 when none is open. `is_own`: whether what is heard is the
        agent; it is asked at times.
        """
        block = self._gates.block(near, clean, near_db=near_db, expected_db=expected_db)
        eager = self._rule.step(block)
        if eager and self._started_at_s is None and at_s < self._agent_until_s:
            self._started_at_s = at_s
        if self._started_at_s is None:
            return []
        self._is_turn |= voiced_s >= LEAST_VOICE_S
        if eager:
            self._heard_at_s = at_s
            self._own += self._blocks % COMPARED == 0 and is_own()
            self._blocks += 1
            if near_db > self._level:
                self._level, self._over = near_db, block.over_db
        return self._ended(at_s, self._started_at_s) if at_s - self._heard_at_s >= SOUND_S else []

    def _ended(self, at_s: float, started_at_s: float) -> list[Decided]:
        """A turn is told of where it is read."""
        told = Decided(
            at_s=at_s,
            started_at_s=started_at_s,
            voiced_until_s=self._heard_at_s,
            what="ignored",
            why=OWN if 2 * self._own * COMPARED >= self._blocks else BARGE_IN_OFF,
            voiced_s=0.0,
            ducked_s=0.0,
            level_dbfs=self._level,
            over_echo_db=self._over,
        )
        tells = not self._is_turn and self._blocks >= 100 * LEAST_SOUND_S
        self._begin()
        return [told] if tells else []

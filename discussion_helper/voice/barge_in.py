"""When a voice over the agent is an interruption.

The rule: 128 ms of voice (four frames of Silero, behind WebRTC's gate) that is not the agent's own. Voice is looked
for in what the echo canceller leaves, or past it while the microphone is 10 dB louder than the echo can be
(`audio/passage.py`): the canceller takes the first syllables of a talker even where there is no echo. Whether voice is
the agent's own is judged by comparing samples with what was played (`audio/own_voice.py`).

Measured in sample time by `python -m benchmarks.barge_in`: the default voice at -22 dBFS as the agent, 29 recorded
people over it, a room of 0.25 s reverberation with noise at -70 dBFS. From the first voice at the microphone to the
onset, median / P95 in ms (a falsetto is missed by every candidate):

    echo            people       64 ms       96 ms       128 ms      160 ms      192 ms      256 ms
    none            -18 dBFS     113 / 230   146 / 270   176 / 300   217 / 426   247 / 456   312 / 523
    none            -24 dBFS     114 / 230   144 / 270   174 / 300   209 / 330   247 / 465   312 / 535
    -20 dB, 50 ms   -24 dBFS     123 / 284   157 / 314   188 / 344   218 / 381   250 / 417   322 / 481
    -10 dB, 100 ms  -18 dBFS     152 / 418   182 / 497   217 / 517   252 / 584   293 / 621   376 / 684
    -10 dB, 100 ms  -24 dBFS     250 / 699   280 / 729   327 / 844   370 / 854   405 / 884   553 / 954

    onsets in 28 noises and backchannels
    none            -26 dBFS     18          16          16          15          14          12
    -10 dB, 100 ms  -26 dBFS     13          12          12          11          11          9

At 160 ms without the way past the canceller the P95 with no echo was 442 and 518 ms, with one of -10 dB 656 and
1003. A longer rule hardly tells a backchannel, which is voice, from a turn; what the words are does, and a reply that
a sound cut goes on. Where the echo is as loud as the talker (0 dB, talker at -18 dBFS) 5 of 29 are missed.

The agent's own voice alone, 93 runs of 20 s: echo 0 to -20 dB, 20 to 400 ms away; switched on, turned up by 6 and 12
dB, 60 and 300 ms later in the middle; lost blocks; time stamps 20 and 40 ms wrong; in a cable and in rooms whose
reflections are up to 3 dB stronger than the direct sound. 128 ms: no onset (47 without looking for the own voice);
96 ms: 4. With an echo that jumps by up to 30 ms every second, and time stamps up to 200 ms wrong, 24 runs of 24 s:
none (65). Not solved: reflections 7 dB stronger than the direct sound, in the half second after such a change (7
of 15 runs interrupt).
"""

from discussion_helper.bounds import check_number
from discussion_helper.policy import LEAST_SPEECH_S, MOST_SPEECH_S

__all__ = ["OWN_SHARE", "ROUNDING_S", "OnsetRule"]

ROUNDING_S = 1e-6
"""Frames of 32 ms that were added up are not to need one more for the sake of the last digit."""
OWN_SHARE = 0.5
"""Of a turn's voice that sounded like the agent's, from which on all of it is the agent's."""


class OnsetRule:
    """So much voice in one turn that is not the agent's own is an interruption. A pure function of what it is given.

    Voice that is the agent's own takes away as much as other voice gives, so that a leak of the echo canceller does
    not add up from what was misjudged of it.
    """

    def __init__(self, *, min_speech_s: float = 0.128) -> None:
        """`min_speech_s`: seconds of voice, in the bounds of a policy's. Raises SettingError."""
        check_number("min_speech_s", min_speech_s, LEAST_SPEECH_S, MOST_SPEECH_S, unit="seconds")
        self._min_speech_s = min_speech_s
        self.reset()

    def reset(self) -> None:
        """Forget the turn."""
        self.told = False
        """Whether this turn is an interruption."""
        self.voiced_s = 0.0
        """Seconds of voice in the turn, whoever's."""
        self._own_s = 0.0
        self.others_s = 0.0
        """Of it, what is not the agent's own."""

    def step(self, voiced_s: float, *, own: bool = False) -> bool:
        """`voiced_s`: seconds of voice in the open turn, 0 when none is open. True once in each turn.

        `own`: what was added since the last step is the agent's own voice.
        """
        if voiced_s == 0.0 or voiced_s < self.voiced_s:
            self.reset()
        grown, self.voiced_s = voiced_s - self.voiced_s, voiced_s
        self._own_s += grown if own else 0.0
        self.others_s = max(0.0, self.others_s + (-grown if own else grown))
        told, self.told = self.told, self.told or self.others_s > self._min_speech_s - ROUNDING_S
        return self.told and not told

    @property
    def is_own(self) -> bool:
        """The turn holds nothing but the agent's own voice."""
        return not self.told and 0.0 < self._own_s >= OWN_SHARE * self.voiced_s

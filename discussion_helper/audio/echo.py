"""The echo path: what the loudspeaker played is taken out of what the microphone heard."""

import math

import numpy as np
from pywebrtc_audio import EchoCanceller as Aec3

from discussion_helper.audio.bands import Bands, over_db
from discussion_helper.audio.echo_delay import EchoDelay
from discussion_helper.audio.echo_level import EchoLevel
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.audio.own_voice import OwnVoice
from discussion_helper.audio.passage import Passage
from discussion_helper.audio.reference import Reference, SampleClock

__all__ = ["HUSH", "LAG", "LEARNS", "ONLY_ECHO", "QUIET_BLOCKS", "EchoCanceller", "EchoPath"]

QUIET_BLOCKS = 100
"""Silence of the loudspeaker, in blocks of 10 ms, after which the canceller sleeps."""
HUSH = 1e-7
"""A noise of -140 dBFS under the reference. On exact silence the canceller's filters fade to numbers so small that the
processor takes 0.8 to 1.8 ms for a block, instead of 0.08 ms (measured in the first second after a reply)."""
LAG = 128
"""Samples at 16 kHz by which the canceller's output is late: measured by correlation, 8 ms."""
LEARNS = 100
"""Blocks for which the canceller learns anew after its reference was moved."""
ONLY_ECHO = 0.1
"""What is left of a block (-10 dB) when it was nothing but echo."""


class EchoCanceller:
    """WebRTC's AEC3 at 16 kHz, in blocks of 10 ms; its output is `delay_s` late.

    Chosen after measuring 43 s of Piper speech in a simulated room (reverberation 0.25 s, noise at -65 dBFS), recorded
    talkers at -26 dBFS over it. Echo taken away in the first second, the next two, 3-10 s and later, in dB; what double
    talk loses of the talker, in dB:

        echo    20 ms away              100 ms                  400 ms                  double talk
          0 dB  33 / 29 / 40 / 42       35 / 28 / 40 / 42       21 / 34 / 41 / 42       6 to 7
        -10 dB  29 / 24 / 31 / 33       28 / 24 / 31 / 33       34 / 29 / 31 / 33       3 to 4
        -20 dB  23 / 19 / 21 / 23       23 / 19 / 21 / 23       26 / 21 / 21 / 23       3

    (the noise is the limit at -20 dB). The package's AudioProcessor with echo cancellation gives the same samples, with
    or without its high-pass. Its noise suppression takes 12 dB more of the residue, but is 6 ms later and takes up to
    0.5 dB more of the talker, so it is left out.

    When the loudspeaker has been silent for 1 s the canceller sleeps and the microphone passes unchanged, equally late:
    2 us a block for 80. It forgets nothing: after 3, 10 and 30 s of sleep the echo is down 35 dB within the first
    200 ms, as without it (36 dB).
    """

    delay_s = LAG / 16_000

    def __init__(self) -> None:
        self._aec = Aec3(sample_rate=16_000, num_channels=1)
        self._zeros: Samples = np.zeros(160, np.float32)
        self._hush: Samples = np.random.default_rng(0).normal(0.0, HUSH, 160).astype(np.float32)
        self.reset()

    def reset(self) -> None:
        """Forget the room; for another microphone or loudspeaker."""
        self._aec.reset()
        self._last = (self._zeros, self._zeros)
        self._quiet = QUIET_BLOCKS

    def process(self, near: Samples, far: Samples) -> Samples:
        """The next 10 ms (160 samples) of the microphone and of the reference; the microphone without the echo.

        Raises ValueError for blocks of another length.
        """
        if len(near) != 160 or len(far) != 160:
            raise ValueError(f"The canceller wants 160 samples of both, not {len(near)} and {len(far)}.")
        before = self._quiet
        self._quiet = 0 if far.any() else before + 1
        if self._quiet == 0 and before >= QUIET_BLOCKS:
            for block in self._last:  # it still holds the time before it slept
                self._aec.process(block, self._hush)
        asleep = self._quiet >= QUIET_BLOCKS
        out: Samples = self._delayed(near) if asleep else self._aec.process(near, far + self._hush)
        self._last = (self._last[1], near)
        return out

    def _delayed(self, near: Samples) -> Samples:
        return np.concatenate((self._last[1][-LAG:], near[:-LAG]))


class EchoPath:
    """From the microphone and what was played to the microphone without the echo, and to the echo that was expected.

    A talker far louder than the echo can be passes by the canceller, which would take their first syllables. For the
    audio thread alone; one for the whole session. Blocks are 10 ms at 16 kHz; one takes 220 us while the agent
    is heard and 60 us otherwise.

    Measured in the room of `EchoCanceller`, echo at -10 dB, time stamps jittering by 1 ms: 32 dB are taken away after
    10 s, also with clocks 200 ppm apart, with stamps that are 20 ms wrong, and at 44.1 kHz; 28 dB while stamps wander
    by 20 ms in 10 s. When the loudspeaker runs dry for 18, 50 or 120 ms, 16, 31 and 26 dB are in the next second, the
    old value 3 s later at most. Through PulseAudio and PortAudio with a real loop: 33 / 30 / 32 / 36 dB in the first
    second, the next two, 3-10 s and later; on a machine too busy to play without gaps, 11 dB while the gaps last.
    """

    delay_s = EchoCanceller.delay_s

    def __init__(self) -> None:
        self._reference = Reference()
        self._canceller = EchoCanceller()
        self._level = EchoLevel()
        self._near_bands, self._far_bands = Bands(), Bands()
        self._own = OwnVoice()
        self._delay = EchoDelay()
        self._passage = Passage(LAG)
        self.reset()

    def reset(self) -> None:
        """Forget the devices and the room."""
        self._reference.reset()
        self._canceller.reset()
        self._level.reset()
        self._near_bands.reset()
        self._far_bands.reset()
        self._own.reset()
        self._delay.reset()
        self._passage.reset()
        self._clock = SampleClock()
        self._next = 0
        self._learns = 0
        self._power_before = 0.0
        self.near_db = -120.0
        """Level of the last block of the microphone, as it came, in dBFS."""
        self.expected_db = -120.0
        """Level to expect in that block if nobody spoke, in dBFS: as far below `near_db` as the predicted echo and the
        noise are below it in the bands that are the most above them."""

    def feed(self, played: Played) -> None:
        """The loudspeaker got this."""
        self._delay.played()
        self._reference.feed(played)

    def clean(self, near: Samples, at_s: float, start: int | None = None) -> Samples:
        """The next 10 ms of the microphone, there at `at_s` on the clock of `Played.at_s`, without the echo.

        `start`: index of its first sample since the stream was opened, which shows what was lost; None when nothing
        ever is. What comes back is `delay_s` late. Samples that are not numbers count as silence.
        """
        power = _power(near)
        if not math.isfinite(power):
            near, power = np.zeros_like(near), 0.0
        start_s = (self._next if start is None else start) / 16_000
        self._next = round(start_s * 16_000) + len(near)
        self._clock.observe(start_s, at_s)
        far = self._reference.take(self._clock.offset_s + start_s, len(near))
        out = self._canceller.process(near, far)
        left = _power(out)
        heard = self._near_bands.push(near)
        foreseen = self._level.step(heard, self._far_bands.push(far), only_echo=self._is_only_echo(left, power))
        self.near_db = _decibels(power)
        self.expected_db = self.near_db - over_db(heard, foreseen)
        self._own.push(near, out)
        self._learns = max(0, self._learns - 1)
        if self._delay.is_due(power, left, power * float(foreseen.sum()) / max(float(heard.sum()), 1e-12)):
            self._follow_delay(self._lateness())
        # One band alone opens no passage: what passes by is far louder as a whole.
        return self._passage.pick(near, out, _decibels(float(heard.sum())) - _decibels(float(foreseen.sum())))

    def is_own_voice(self) -> bool:
        """Whether what is left of the last 200 ms is the loudspeaker's sound all the same.

        It happens while the canceller learns: when the loudspeaker is turned on or up, the microphone is moved, or
        a device stumbles; and when the echo is so late that it looks for it in vain. Takes 1 to 4 ms.
        """
        is_heard = self._own.is_heard(self._reference.around(OwnVoice.before, OwnVoice.after))
        lateness = self._lateness()
        if not is_heard and not self._passes(lateness):
            return False
        self._follow_delay(lateness)  # each is as good as a search, and there may be few of those
        return True

    def leaks(self) -> bool:
        """The same while the canceller learns an echo that it has just found; False at once where it does not.

        It leaves all of that echo then, and knows no level to expect of it.
        """
        return self._learns > 0 and self.is_own_voice()

    def _passes(self, lateness: int | None) -> bool:
        """Of an echo within its reach the canceller may have left nothing, and what there is a talker."""
        if lateness is None:
            return False
        return self._learns > 0 or not OwnVoice.reaches(lateness - self._reference.delay)

    def _lateness(self) -> int | None:
        return self._own.lateness(self._reference.around(OwnVoice.long_before, OwnVoice.after, undelayed=True))

    def _follow_delay(self, lateness: int | None) -> None:
        """Let the reference come as late as the echo, if that is too late for the canceller; it has learnt nothing."""
        delay = self._delay.delay_for(lateness, self._reference.delay)
        if delay != self._reference.delay:
            self._reference.delay = delay
            self._learns = LEARNS
            self._canceller.reset()
            self._level.reset()

    def _is_only_echo(self, left: float, power: float) -> bool:
        # The output is late: most of it belongs to the block before.
        late = LAG / 160
        delayed = late * self._power_before + (1.0 - late) * power
        self._power_before = power
        return left < ONLY_ECHO * delayed


def _power(samples: Samples) -> float:
    return float(samples @ samples) / len(samples)


def _decibels(power: float) -> float:
    return 10.0 * math.log10(max(power, 1e-12))

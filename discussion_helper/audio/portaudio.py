"""The microphone and the loudspeaker of this machine, through PortAudio."""

import time
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from discussion_helper.audio.devices import Device
from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Captured, Inbox, Played
from discussion_helper.audio.owned import microphones
from discussion_helper.audio.playback import Playback
from discussion_helper.audio.portaudio_stream import BLOCK_S, LATENCY_S, PortAudioStream
from discussion_helper.audio.rendering import Rendering

__all__ = ["LATENCY_S", "PLAYBACK_BLOCK_S", "PortAudioCapture", "PortAudioPlayback"]

PLAYBACK_BLOCK_S = 0.005
"""Half a block of the microphone: what plays is turned down so much sooner, for the same latency is asked for in more,
shorter blocks. On the virtual devices people who neither whisper nor sing had it silent after 79 / 90 ms
(median and P95 of 25) and not after 89 / 128 (of 26, with blocks of 10 ms); 1.9 and 1.5 blocks a minute came too late.
Shorter blocks of the microphone change nothing: the detectors take 10 ms at a time."""
_MAX_LOST_S = 10.0
_DRAIN_S = 0.6
"""Beyond the latency of any device that a talk is possible with; Bluetooth takes 0.1 to 0.3 s."""
_LED_DOWN_S = 0.02
"""The block under way, and the blocks that lead down to silence."""
_MARGIN_S = 0.03
"""By so much the times of a stream may be early."""


class PortAudioCapture(PortAudioStream):
    """A microphone that puts a `Captured` into the inbox every `block_s` seconds, from entering to `close()`.

    More channels than one are averaged. `rate` is known once it is entered: the device's own, or else the first that
    it takes. It has one owner on this machine. Samples that were lost show as a jump of the frames' `start`, and
    `overflows` counts the losses. A stream that ends by itself puts one `DeviceLost`.

    Entering waits for the device, 5 s at most, so do it on a worker thread. It raises DeviceError.
    """

    kind = "input"
    which = "capture"

    def __init__(self, device: Device, inbox: Inbox, *, block_s: float = BLOCK_S, latency_s: float = LATENCY_S) -> None:
        super().__init__(device, inbox, block_s=block_s, latency_s=latency_s)
        self._expected = 0.0
        self._is_owner = False

    def __enter__(self) -> Self:
        microphones.take(self.name)
        self._is_owner = True
        try:
            return super().__enter__()
        except BaseException:
            self._give_up()
            raise

    def close(self) -> None:
        """Close the device; another may open it then. Idempotent, takes at most 1 s."""
        super().close()
        self._give_up()

    def _give_up(self) -> None:
        if self._is_owner:
            self._is_owner = False
            microphones.release(self.name)

    def _transfer(self, block: Any, frames: int, times: Any, status: Any, now: float) -> None:
        adc = times.inputBufferAdcTime
        if status and status.input_overflow:
            self._skip(adc)
        samples = block[:, 0].copy() if self.channels == 1 else block.mean(axis=1, dtype=np.float32)
        frame = Frame(samples, self.rate, self._samples)
        at_s = self._clock.at(frame.start, adc, times.currentTime, now, usual=-self.latency_s)
        self._samples += frames
        self._expected = adc + frames / self.rate
        self.blocks += 1
        self._inbox.put(Captured(frame, at_s))

    def _skip(self, adc: float) -> None:
        """Samples were lost: as many as the device's clock went on without us, if it says anything sensible."""
        self.overflows += 1
        lost = adc - self._expected
        if self._expected and self._block_s / 2 < lost < _MAX_LOST_S:
            self._samples += round(lost * self.rate)
        self._clock.restart()


class PortAudioPlayback(PortAudioStream):
    """A loudspeaker that renders a `Playback`, and puts a `Played` for each block that had something of a reply in it.

    Give the `Playback`, or what makes one from the device's rate. One whose rate the device refuses is converted on
    the way; see `Rendering`, also for `prime_s`. All channels play the same. `playback` and `rate` are known once it is
    entered. `underflows` counts blocks that came too late. A stream that ends by itself puts one `DeviceLost`.

    Entering waits for the device, 5 s at most, so do it on a worker thread. It raises DeviceError.
    """

    kind = "output"
    which = "playback"

    def __init__(
        self,
        device: Device,
        playback: Playback | Callable[[int], Playback],
        inbox: Inbox,
        *,
        block_s: float = PLAYBACK_BLOCK_S,
        latency_s: float = LATENCY_S,
        prime_s: float = 0.0,
    ) -> None:
        super().__init__(device, inbox, block_s=block_s, latency_s=latency_s)
        self._given = playback
        self._prime_s = prime_s
        self._sounds_until = 0.0

    def close(self) -> None:
        """Close the device once what it was handed is heard, or at once if the reply was halted. Idempotent.

        Takes the device's latency, 0.6 s at most, and then at most 1 s.
        """
        super().close()

    def _drain(self) -> None:
        limit = time.monotonic() + _DRAIN_S
        if self._sounds_until + _MARGIN_S <= time.monotonic() or self.playback.is_cut:
            return
        self._rendering.finish()
        time.sleep(_LED_DOWN_S)
        time.sleep(max(0.0, min(self._sounds_until + _MARGIN_S, limit) - time.monotonic()))

    def _rates(self) -> list[int]:
        wanted = [self._given.rate] if isinstance(self._given, Playback) else []
        return list(dict.fromkeys([*wanted, *super()._rates()]))

    def _opened(self) -> None:
        self.playback = self._given if isinstance(self._given, Playback) else self._given(self.rate)
        self._rendering = Rendering(self.playback, self.rate, prime_s=self._prime_s)

    def _transfer(self, block: Any, frames: int, times: Any, status: Any, now: float) -> None:
        if status and status.output_underflow:
            self.underflows += 1
            self._clock.restart()
        samples = np.empty(frames, np.float32)
        position = self._rendering.render(samples)
        block[:] = samples[:, np.newaxis]
        dac, start = times.outputBufferDacTime, self._samples
        at_s = self._clock.at(start, dac, times.currentTime, now, usual=self.latency_s)
        self._samples += frames
        if samples.any():
            self._sounds_until = max(at_s, now + self.latency_s) + frames / self.rate
        if position is not None:
            self._inbox.put(Played(Frame(samples, self.rate, start), at_s, position))
        self.blocks += 1

    def _blank(self, block: Any) -> None:
        block.fill(0.0)

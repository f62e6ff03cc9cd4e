"""Rendering: what the stream of a loudspeaker takes from a playback, from its first block to its last."""

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.playback import FADE_S, RAMP_S, Playback, Position

__all__ = ["Rendering"]


class Rendering:
    """Between a playback and one stream of `rate` hertz. For the device callback, but for `finish`.

    For `prime_s` seconds it is silent: a loudspeaker that has to wake up swallows what it is given first, 100 to
    500 ms of it. In the middle of a reply it then goes on with the next sample, ramping up. A playback of another rate
    is converted on the way; its positions are then up to 50 ms ahead.
    """

    def __init__(self, playback: Playback, rate: int, *, prime_s: float = 0.0) -> None:
        self._converter = None if playback.rate == rate else _Converter(playback, rate)
        self._take = playback.render if self._converter is None else self._converter.render
        self._silent = round(prime_s * rate)
        goes_on = playback.pending(playback.position.generation) > 0 or playback.sounding
        rises = goes_on and playback.position.samples > 0
        # What is left of the ramps, which may be longer than a block.
        self._rising = np.linspace(0.0, 1.0, round(RAMP_S * rate) * rises, endpoint=False, dtype=np.float32)
        self._falling: Samples | None = None
        self._rate = rate
        self._last = 0.0
        self._finishing = False

    def render(self, out: Samples) -> Position | None:
        """Fill `out` with what comes next; how far the reply is then, None where nothing of it is in the block."""
        if self._finishing:
            self._end(out)
            return None
        if self._silent > 0:
            self._silent -= len(out)
            out.fill(0.0)
            return None
        position = self._take(out)
        if position is not None or out.any():  # a converter still gives some of a reply that is paused
            self._rise(out)
        self._last = float(out[-1])
        return position

    def finish(self) -> None:
        """Take nothing more: what was taken is led to silence. From any thread."""
        self._finishing = True

    def _rise(self, out: Samples) -> None:
        ramp, self._rising = self._rising[: len(out)], self._rising[len(out) :]
        out[: len(ramp)] *= ramp

    def _end(self, out: Samples) -> None:
        """Down to zero from where it is; what a converter has taken and not given yet comes before that."""
        if self._converter is None:
            self._fall(out)
            return
        given = self._converter.rest(out)
        self._rise(out[:given])
        out[given:] = 0.0

    def _fall(self, rest: Samples) -> None:
        if self._falling is None:
            self._falling = np.linspace(self._last, 0.0, max(2, int(FADE_S * self._rate)), dtype=np.float32)
        fade, self._falling = self._falling[: len(rest)], self._falling[len(rest) :]
        rest[: len(fade)] = fade
        rest[len(fade) :] = 0.0


class _Converter:
    """Renders a playback of one rate for a device of another."""

    def __init__(self, playback: Playback, rate: int) -> None:
        import soxr

        self._playback = playback
        self._resampler = soxr.ResampleStream(playback.rate, rate, 1, dtype="float32", quality="MQ")
        self._ready: Samples = np.zeros(0, np.float32)
        self._block = playback.rate // 100
        self._at: Position | None = None  # of what was rendered last, and may not be given yet
        self._end = 0.0  # what was rendered last
        self._over = False

    def render(self, out: Samples) -> Position | None:
        position = self._at
        while len(self._ready) < len(out):
            block = np.empty(self._block, np.float32)
            self._at = self._playback.render(block)
            self._end = float(block[-1])
            position = self._at or position
            self._ready = np.concatenate([self._ready, self._resampler.resample_chunk(block)])
        out[:], self._ready = self._ready[: len(out)], self._ready[len(out) :]
        return position

    def rest(self, out: Samples) -> int:
        """Give what is left inside, led to silence, without taking anything; how many samples.

        An end without a fade would ring in the resampler's filter, and click.
        """
        if not self._over:
            self._over = True
            fade = np.linspace(self._end, 0.0, int(FADE_S * self._playback.rate), dtype=np.float32)
            last = self._resampler.resample_chunk(fade, last=True)
            self._ready = np.concatenate([self._ready, last])
        count = min(len(out), len(self._ready))
        out[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

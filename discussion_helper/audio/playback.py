"""Playback: the samples of replies on their way to the loudspeaker, with a gain and an instant stop."""

import math
from collections import deque
from dataclasses import dataclass
from threading import Lock

import numpy as np

from discussion_helper.audio.frames import Samples

__all__ = ["FADE_S", "HELD_S", "MAX_REPLIES", "RAMP_S", "Playback", "Position"]

FADE_S = 0.010
"""From the last sample to silence: short enough to be an instant stop, long enough not to click. From full scale no
step is larger than 0.004 at 48 kHz and 0.010 at 16 kHz."""
RAMP_S = 0.010
"""A gain change of full scale, unless it is set to another."""
HELD_S = 0.5
"""So long at most a reply is kept from beginning: a voice has turned it down by then."""
MAX_REPLIES = 64
"""Replies remembered at once, played or not."""


@dataclass(frozen=True, slots=True)
class Position:
    """How much of a reply has been handed to the device: `samples` at `rate` hertz, from the reply's start."""

    generation: int
    samples: int
    rate: int

    @property
    def seconds(self) -> float:
        """The same in seconds of sample time."""
        return self.samples / self.rate


class _Reply:
    """One generation. The writer alone sets `written`, the device callback alone everything about reading."""

    __slots__ = ("chunks", "generation", "held", "offset", "rendered", "written")

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.chunks: deque[Samples] = deque()
        self.written = 0
        self.rendered = 0
        self.offset = 0
        self.held = 0

    def copy(self, out: Samples) -> int:
        """Move samples to `out` until it is full or nothing is left; how many."""
        done = 0
        while done < len(out) and self.chunks:
            piece = self.chunks[0][self.offset : self.offset + len(out) - done]
            out[done : done + len(piece)] = piece
            done += len(piece)
            self.offset += len(piece)
            if self.offset == len(self.chunks[0]):
                self.chunks.popleft()
                self.offset = 0
        self.rendered += done
        return done

    def ahead(self, count: int) -> Samples:
        """A copy of the samples that come next, `count` or all there are; they stay."""
        pieces, left, start = [np.zeros(0, np.float32)], count, self.offset
        for number in range(len(self.chunks)):  # a writer may add one meanwhile
            pieces.append(self.chunks[number][start : start + left])
            left, start = left - len(pieces[-1]), 0
        return np.concatenate(pieces)


class Playback:
    """Replies are written on one side and rendered by the device callback on the other.

    Each reply is a generation; generations only grow. One block never holds samples of two of them.

    Threads: `render` belongs to the device callback and takes no lock. It shares with the others only a deque
    (append on one side, popleft on the other: both atomic) and plain numbers with one writer each. Two rules make that
    enough. A chunk is appended before the number that announces it is raised, and nobody but `render` removes
    anything: `halt` only raises the number up to which generations are dead, and `render` throws them away when it
    next looks. The lock orders the writers and halters among themselves.

    The race of a halt with a block: `render` looks at that number once, at its start. So the block under way when
    `halt` is called is still played whole, and from the next one on there is only the fade. The position that `halt`
    returns may therefore be behind by that one block, never ahead; `position` is exact once the next block has begun.

    `capacity_s` bounds what waits, in seconds of audio. A write beyond that is refused whole and raises RuntimeError:
    dropping part of a sentence would be worse than a loud mistake. `room` tells the writer what fits.
    """

    def __init__(self, rate: int, *, capacity_s: float = 60.0) -> None:
        self.rate = rate
        self._capacity = round(capacity_s * rate)
        self._lock = Lock()
        self._halted = -1
        self._replies: dict[int, _Reply] = {}
        self._queue: deque[_Reply] = deque()
        self._paused = -1
        self._holding = False
        self._free = -1
        self._target = 1.0
        self.set_ramp(RAMP_S)
        # From here on only the device callback writes.
        self._gain = 1.0
        self._playing = _Reply(0)
        self._level = 0.0
        self._faded = 0
        self._fade = _falling(int(FADE_S * rate))
        self._ahead: Samples = np.zeros(0, np.float32)
        """What is still to be heard of the samples that are led down to a pause."""

    # -- the writer's side

    def write(self, generation: int, samples: Samples) -> int | None:
        """Append mono `samples` to a reply; the index after the last one, counted from the reply's start.

        None if the generation was halted: a dead reply is never played. Samples beyond full scale are clipped.
        Raises RuntimeError when more than the capacity would wait, or when a newer generation has begun, ValueError
        for samples that are not one row of finite numbers.
        """
        chunk = _checked(samples)
        with self._lock:
            if generation <= self._halted:
                return None
            reply = self._reply(generation)
            if len(chunk) > self._room():
                raise RuntimeError(
                    f"{len(chunk)} samples do not fit into the playback queue: there is room for {self._room()}."
                )
            if len(chunk):
                reply.chunks.append(chunk)
                reply.written += len(chunk)
            return reply.written

    @property
    def room(self) -> int:
        """Samples that can be written now."""
        with self._lock:
            return self._room()

    def pending(self, generation: int) -> int:
        """Samples of that reply that were written and are still to be rendered; 0 once it is halted."""
        with self._lock:
            reply = self._replies.get(generation)
            return self._waiting(reply) if reply else 0

    @property
    def idle(self) -> bool:
        """Nothing is left to render, and the last fade is over."""
        with self._lock:
            return self._level == 0.0 and not any(self._waiting(reply) for reply in self._replies.values())

    @property
    def sounding(self) -> bool:
        """What was rendered last was not silent: where that reply does not go on, a fade follows."""
        with self._lock:
            return self._level != 0.0

    @property
    def position(self) -> Position:
        """How far the reply is that was rendered last."""
        return self._position(self._playing)

    @property
    def is_cut(self) -> bool:
        """The reply that was rendered last was halted before its end."""
        reply = self._playing
        return reply.generation <= self._halted and reply.rendered < reply.written

    # -- control, from any thread

    def halt(self, generation: int) -> Position:
        """Discard that reply and every earlier one, for good; how much of it was handed to the device.

        Idempotent. The next block fades out within 10 ms and is silent afterwards.
        """
        with self._lock:
            self._halted = max(self._halted, generation)
            reply = self._replies.get(generation)
            return self._position(reply) if reply else Position(generation, 0, self.rate)

    def set_ramp(self, seconds: float) -> None:
        """How long a change of the gain by full scale takes, a pause, and going on after it. Before anything is played.

        Of more than 10 ms a pause leads down what would have come next, which is 20 dB softer after 0.8 of them; going
        on, it begins with the same samples again. Raises ValueError for less than 10 ms.
        """
        if not seconds >= FADE_S:
            raise ValueError(f"a ramp of {seconds} s is too short: it must be {FADE_S} s or more.")
        samples = seconds * self.rate
        self._ramp = np.arange(1, math.ceil(samples) + 1, dtype=np.float32) / np.float32(samples)
        self._descent = _falling(int(samples) if seconds > FADE_S else 0)

    def set_gain(self, gain: float) -> None:
        """Bring the loudness to `gain`, 0.0 to 1.0, at full scale within the ramp. It stays until set again.

        Raises ValueError.
        """
        if not 0.0 <= gain <= 1.0:
            raise ValueError(f"gain is {gain}: it must be between 0 and 1.")
        self._target = gain

    def pause(self, generation: int) -> None:
        """Fall silent within the ramp and keep the place, as long as that reply or an earlier one is next. Idempotent.

        A halt of the reply ends the pause.
        """
        self._paused = generation

    def resume(self) -> None:
        """Go on from the sample after the last one that was played, ramping up. Idempotent.

        A reply that was paused before its first sample begins, also while replies are held.
        """
        self._free = max(self._free, self._paused)
        self._paused = -1

    def hold(self, on: bool) -> None:
        """While on, a reply whose first sample was not rendered yet does not begin, for 500 ms at most. Idempotent.

        Its turn is told all the same: by a position of 0 samples, with silence.
        """
        self._holding = on

    # -- the device's side

    def render(self, out: Samples) -> Position | None:
        """Fill `out`, mono, with what comes next. For the device callback alone: never waits, never raises.

        Returns how far the reply is after this block, or None if the block is silent: nothing of a reply and no fade.
        """
        sounding = self._level != 0.0
        reply = self._next()
        if reply is not None and not sounding and self._is_held(reply, len(out)):
            self._playing = reply
            out[:] = 0.0
            return self._position(reply)
        count = 0 if reply is None else reply.copy(out)
        if reply is not None and count:
            self._apply_gain(out[:count])
            self._playing, self._level, self._faded = reply, float(out[count - 1]), 0
        if count < len(out):
            self._fade_out(out[count:])
        return self._position(self._playing) if count or sounding else None

    def _next(self) -> _Reply | None:
        """The reply to take samples from, or None in a pause or while a fade must be finished first."""
        reply = self._head()
        if reply is None or reply.generation > self._paused:
            if self._level == 0.0 and reply is not self._playing:
                self._gain = self._target  # nothing sounds: there is nothing to ramp
            led_down = len(self._ahead) > 0
            self._ahead = self._ahead[:0]
            fading = self._level != 0.0 and (led_down or self._faded > 0 or reply is not self._playing)
            return None if fading else reply
        if reply is self._playing:
            if self._level != 0.0 and self._gain and not self._faded:
                ahead = reply.ahead(len(self._descent))
                self._ahead = ahead * self._descent[: len(ahead)] * np.float32(self._gain)
            self._gain = 0.0
        return None

    def _is_held(self, reply: _Reply, count: int) -> bool:
        begun = reply.rendered or not reply.chunks or reply.generation <= self._free
        if begun or not self._holding or reply.held >= HELD_S * self.rate:
            return False
        reply.held += count
        return True

    def _head(self) -> _Reply | None:
        halted = self._halted
        while self._queue:
            reply = self._queue[0]
            # The length first: once a newer reply is there, this one's chunks are complete.
            last = len(self._queue) == 1
            if reply.generation > halted and (last or reply.chunks):
                return reply
            self._queue.popleft()
            reply.chunks.clear()
        return None

    def _apply_gain(self, block: Samples) -> None:
        target = self._target
        distance = target - self._gain
        if distance:
            ramp = self._ramp[: len(block)]
            ramp = np.minimum(ramp, abs(distance)) * math.copysign(1.0, distance) + self._gain
            block[: len(ramp)] *= ramp
            block = block[len(ramp) :]
            self._gain = float(ramp[-1]) if abs(target - ramp[-1]) > 1e-6 else target
        if self._gain != 1.0:
            block *= self._gain

    def _fade_out(self, rest: Samples) -> None:
        """Lead what comes ahead down, and then the last sample to zero, from where the fade is; then zeros."""
        if count := min(len(rest), len(self._ahead)):
            rest[:count], self._ahead = self._ahead[:count], self._ahead[count:]
            self._level = float(rest[count - 1]) or 1e-9  # it still sounds
            rest = rest[count:]
        curve = self._fade[self._faded : self._faded + len(rest)] if self._level else self._fade[:0]
        np.multiply(curve, self._level, out=rest[: len(curve)])
        rest[len(curve) :] = 0.0
        self._faded += len(curve)
        if self._faded == len(self._fade):
            self._level = 0.0

    # -- with the lock held

    def _reply(self, generation: int) -> _Reply:
        reply = self._replies.get(generation)
        newest = next(reversed(self._replies), generation)
        if generation < newest:
            raise RuntimeError(f"Generation {generation} cannot be written: {newest} has begun.")
        if reply is None:
            self._forget_oldest()
            reply = self._replies[generation] = _Reply(generation)
            self._queue.append(reply)
        return reply

    def _forget_oldest(self) -> None:
        if len(self._replies) == MAX_REPLIES:
            oldest = next(iter(self._replies))
            if self._waiting(self._replies[oldest]):
                raise RuntimeError(f"More than {MAX_REPLIES} replies wait to be played.")
            del self._replies[oldest]

    def _waiting(self, reply: _Reply) -> int:
        return reply.written - reply.rendered if reply.generation > self._halted else 0

    def _room(self) -> int:
        return self._capacity - sum(map(self._waiting, self._replies.values()))

    def _position(self, reply: _Reply) -> Position:
        return Position(reply.generation, reply.rendered, self.rate)


def _falling(count: int) -> Samples:
    """A raised cosine from just below 1 to just above 0: no corner at its end."""
    phase = np.arange(1, count + 1, dtype=np.float32) / np.float32(count + 1)
    return np.asarray(0.5 + 0.5 * np.cos(np.float32(np.pi) * phase), np.float32)


def _checked(samples: Samples) -> Samples:
    """A copy, so that nothing the caller does later is heard."""
    if samples.ndim != 1 or not np.isfinite(samples).all():
        raise ValueError("The samples of a reply must be one row of finite numbers.")
    return np.clip(samples, -1.0, 1.0).astype(np.float32)

"""A loudspeaker without a device: replies are played sample by sample, paused, gone on with and stopped."""

import math
from collections import deque

import numpy as np

from discussion_helper.audio.frames import Samples, silence
from discussion_helper.voice.remote_messages import Play, Progress

__all__ = ["FADE_S", "Loudspeaker"]

FADE_S = 0.01
"""In which what is stopped falls silent; a sudden end would click."""
_ROUNDING = 1e-6
"""Of a sample, by which a ramp may be longer than it is meant."""


class _Reply:
    """What is there of one reply; `played` is the index of the sample that is played next."""

    def __init__(self, number: int, first: int) -> None:
        self.number = number
        self.played = self.written = first
        self.is_last = False
        self._chunks: deque[Samples] = deque()

    def add(self, play: Play) -> None:
        known = self.written - play.sample
        if 0 <= known <= len(play.samples):  # not what was sent before, nor what leaves a hole
            self._chunks.append(play.samples[known:])
            self.written += len(play.samples) - known
            self.is_last = play.last

    def take(self, most: int) -> Samples:
        parts, left = [silence(0.0, 1)], most
        while self._chunks and left:
            chunk = self._chunks.popleft()
            parts.append(chunk[:left])
            if left < len(chunk):
                self._chunks.appendleft(chunk[left:])
            left -= len(parts[-1])
        self.played += most - left
        return np.concatenate(parts)


class Loudspeaker:
    """Whoever has the clock asks for what sounds next, and sends the server what comes with it."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._fade = max(1, round(FADE_S * rate))
        self.clear()

    def clear(self) -> None:
        """Another connection: nothing is there of any reply, and nothing was told."""
        self._replies: dict[int, _Reply] = {}
        self._current: _Reply | None = None
        self._stopped = self._paused = -1
        self._gain = self._step = 1.0
        self._fading = silence(0.0, 1)

    def take(self, play: Play) -> None:
        """Sound of a reply, in its order; of a dead one it is thrown away."""
        if play.reply <= self._stopped:
            return
        if play.reply not in self._replies:  # one that was played whole goes on no more once there is another
            left = {number: one for number, one in self._replies.items() if one.played < one.written}
            self._replies = left | {play.reply: _Reply(play.reply, play.sample)}
        self._replies[play.reply].add(play)

    def pause(self, reply: int, ramp_s: float) -> None:
        """Lead that reply, and all before it, down to silence; what comes of it later waits."""
        self._paused = max(self._paused, reply)
        self._step = 1.0 / max(1.0, ramp_s * self._rate)

    def resume(self, ramp_s: float) -> None:
        """Go on from the sample after the last one played."""
        self._paused = -1
        self._step = 1.0 / max(1.0, ramp_s * self._rate)

    def stop(self, reply: int, at_s: float) -> Progress:
        """That reply, and all before it, are dead: but for a fade of 10 ms no sample of them sounds from now on."""
        known, current = self._replies.get(reply), self._current
        if current is not None and current.number <= reply:
            last = current.take(self._fade if self._gain else 0)
            self._fading = last * self._gain * np.linspace(1.0, 0.0, self._fade, dtype=np.float32)[: len(last)]
            self._current = None
        self._stopped = max(self._stopped, reply)
        self._replies = {number: one for number, one in self._replies.items() if number > self._stopped}
        return Progress(reply, known.played if known is not None else 0, at_s, "stopped")

    def play(self, count: int, at_s: float) -> tuple[Samples, list[Progress]]:
        """The `count` samples that have sounded until `at_s`, and how far each reply is that was among them."""
        out = np.zeros(count, np.float32)
        at = min(count, len(self._fading))
        out[:at], self._fading = self._fading[:at], self._fading[at:]
        told: list[Progress] = []
        while at < count and (reply := self._next()) is not None:
            at += self._sound(reply, out[at:])
            told.append(Progress(reply.number, reply.played, at_s - (count - at) / self._rate, self._state_of(reply)))
        return out, told

    def _next(self) -> _Reply | None:
        """The reply that sounds now: the oldest of which something is there, unless that is paused."""
        reply = next((one for one in self._replies.values() if one.played < one.written), None)
        if reply is not None and reply is not self._current:
            self._current, self._gain = reply, float(reply.number > self._paused)
        return None if reply is None or self._is_silent(reply) else reply

    def _is_silent(self, reply: _Reply) -> bool:
        return reply.number <= self._paused and self._gain == 0.0

    def _sound(self, reply: _Reply, out: Samples) -> int:
        """Play as much of it as there is, as loud as it is to be; how much that was."""
        falls = reply.number <= self._paused
        audible = max(1, math.ceil(self._gain / self._step - _ROUNDING)) if falls else len(out)
        samples = reply.take(min(len(out), audible))
        steps = np.arange(1, len(samples) + 1) * (-self._step if falls else self._step)
        gains = np.clip(self._gain + steps, 0.0, 1.0)
        out[: len(samples)] = samples * gains
        self._gain = 0.0 if falls and len(samples) == audible else float(gains[-1])
        return len(samples)

    def _state_of(self, reply: _Reply) -> str:
        if self._is_silent(reply):
            return "paused"
        return "done" if reply.is_last and reply.played == reply.written else "playing"

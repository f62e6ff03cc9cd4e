"""The playback of a client: replies are sent as the client plays them, and what was heard is what it tells of."""

from collections.abc import Callable
from threading import Lock

import numpy as np

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Inbox, Played
from discussion_helper.audio.playback import FADE_S, HELD_S, MAX_REPLIES, RAMP_S, Position
from discussion_helper.clock import now
from discussion_helper.voice.remote_messages import RATE, Down, FrameError, Pause, Play, Resume, Stop
from discussion_helper.voice.remote_reply import RemoteReply

__all__ = ["FRAME_S", "LEAD_S", "RemotePlayback"]

FRAME_S = 0.02
"""Of one frame of audio."""
LEAD_S = 0.5
"""So far the client may be behind with telling what it has played: its buffer (60 ms for a page), the way there and
back, and 20 to 50 ms between two of its frames: enough for ways of 0.35 s. What is longer on its way is heard with
gaps. Nothing is paid for it but memory there: a stop and a pause act on what the client has."""
_APART_S = 0.03
"""Blocks that are further apart than what a client's times scatter by did not follow each other."""


class RemotePlayback:
    """A `Player` whose loudspeaker is a client's, which comes, goes and comes back.

    Nothing here has a clock of its own: at most `lead_s` is sent ahead of what the client has told of as played, so
    its loudspeaker sets the pace. `position`, `halt` and the `Played` items of the inbox are what it told of. What was
    not told of is kept, so that a reply goes on for the next client from the first sample that none has played.

    Threads: written and acknowledged on the event loop's, paused and resumed on the audio thread. The lock also orders
    what is sent: `send` must not wait, and is called with it held.

    `capacity_s` bounds what waits, in seconds of audio, as in `Playback`.
    """

    def __init__(
        self, inbox: Inbox, *, lead_s: float = LEAD_S, capacity_s: float = 60.0, clock: Callable[[], float] = now
    ) -> None:
        self._inbox = inbox
        self._lead_s = lead_s
        self._capacity_s = capacity_s
        self._clock = clock
        self._lock = Lock()
        self._rate = RATE
        self._send: Callable[[Down], object] | None = None
        self._replies: dict[int, RemoteReply] = {}
        self._playing = RemoteReply(0)
        self._halted = self._paused = self._free = -1
        self._ramp_s = RAMP_S
        self._holding = False
        self._moved_s = 0.0
        self._zero_s: float | None = None
        self._next = 0

    # -- the client's side

    def connect(self, rate: int, send: Callable[[Down], object]) -> None:
        """A client is there: what is left is sent to it. Raises RuntimeError where something waits at another rate."""
        with self._lock:
            if rate != self._rate:
                if any(map(self._waiting, self._replies.values())):
                    raise RuntimeError(f"replies of {self._rate} Hz wait to be played")
                self._rate, self._zero_s, self._next = rate, None, 0
                self._replies.clear()
            self._send = send
            self._moved_s = self._clock()
            for reply in self._replies.values():
                reply.sent = reply.played
            if self._paused > self._halted:
                send(Pause(self._paused, self._ramp_s))
            self._pump()

    def disconnect(self) -> None:
        """It is gone. Idempotent."""
        with self._lock:
            self._send = None

    def acknowledge(self, generation: int, samples: int, at_s: float) -> None:
        """The client has played so many samples of that reply, the last one at `at_s`.

        Of a dead reply it may tell what it likes. Raises FrameError for what cannot be.
        """
        with self._lock:
            if generation <= self._halted:
                return
            reply = self._replies.get(generation)
            if reply is None or not reply.played <= samples <= reply.sent:
                what = f"sample: {samples} of reply {generation} cannot have been played."
                raise FrameError("order", what, fix="Tell of what was sent, in its order.")
            self._playing = reply
            if samples > reply.played:
                self._moved_s = self._clock()  # who tells the same for ever plays nothing
                heard = reply.play(samples)
                self._put(reply, heard, at_s - len(heard) / self._rate)
            self._pump()

    def overdue_s(self) -> float:
        """Since when the client has played nothing of what it should, as it tells; 0.0 where there is nothing."""
        with self._lock:
            head = self._head()
            due = self._send is not None and head is not None and head.sent > head.played
            paused = head is not None and head.generation <= self._paused
            return self._clock() - self._moved_s if due and not paused else 0.0

    @property
    def newest(self) -> int:
        """The reply that was written last; 0 before the first."""
        with self._lock:
            return next(reversed(self._replies), 0)

    # -- the writer's side

    @property
    def rate(self) -> int:
        """Hertz: that of the client, or of the last one."""
        return self._rate

    def write(self, generation: int, samples: Samples) -> int | None:
        """As `Playback.write`."""
        if samples.ndim != 1 or not np.isfinite(samples).all():
            raise ValueError("The samples of a reply must be one row of finite numbers.")
        chunk = np.clip(samples, -1.0, 1.0).astype(np.float32)
        with self._lock:
            if generation <= self._halted:
                return None
            reply = self._reply(generation)
            if len(chunk) > self._room():
                what = f"{len(chunk)} samples do not fit into the playback queue: there is room for {self._room()}."
                raise RuntimeError(what)
            if len(chunk):
                if not self._is_due():
                    self._moved_s = self._clock()
                reply.append(chunk)
                self._pump()
            return reply.written

    @property
    def room(self) -> int:
        """Samples that can be written now."""
        with self._lock:
            return self._room()

    def pending(self, generation: int) -> int:
        """Samples of that reply that were written and that no client has told of as played; 0 once it is halted."""
        with self._lock:
            reply = self._replies.get(generation)
            return self._waiting(reply) if reply else 0

    @property
    def idle(self) -> bool:
        """Nothing is left to play."""
        with self._lock:
            return not self._is_due()

    @property
    def position(self) -> Position:
        """How far the reply is that a client told of last."""
        with self._lock:
            return Position(self._playing.generation, self._playing.played, self._rate)

    @property
    def is_cut(self) -> bool:
        """The reply that a client told of last was halted before its end."""
        with self._lock:
            return self._playing.generation <= self._halted and self._playing.played < self._playing.written

    # -- control, from any thread

    def halt(self, generation: int) -> Position:
        """As `Playback.halt`; the client fades out once it knows."""
        with self._lock:
            reply = self._replies.get(generation)
            if generation > self._halted:
                is_known = any(self._halted < other <= generation for other in self._replies)
                self._halted = generation
                self._moved_s = self._clock()  # what was paused before says nothing of what comes next
                self._bury()
                if is_known:
                    self._say(Stop(generation))
                self._pump()
            return Position(generation, reply.played if reply else 0, self._rate)

    def set_ramp(self, seconds: float) -> None:
        """As `Playback.set_ramp`. Raises ValueError for less than 10 ms."""
        if not seconds >= FADE_S:
            raise ValueError(f"a ramp of {seconds} s is too short: it must be {FADE_S} s or more.")
        self._ramp_s = seconds

    def pause(self, generation: int) -> None:
        """As `Playback.pause`."""
        with self._lock:
            if generation > self._halted and generation != self._paused:
                self._paused = generation
                self._say(Pause(generation, self._ramp_s))

    def resume(self) -> None:
        """As `Playback.resume`."""
        with self._lock:
            if self._paused > self._halted:
                self._free = max(self._free, self._paused)
                self._moved_s = self._clock()
                self._say(Resume(self._paused, self._ramp_s))
            self._paused = -1
            self._pump()

    def hold(self, on: bool) -> None:
        """As `Playback.hold`; asked again for every block of the microphone, by which the 500 ms end."""
        with self._lock:
            self._holding = on
            if self._replies:
                self._pump()

    # -- with the lock held

    def _pump(self) -> None:
        """Send what may be sent."""
        reply = self._head()
        if self._send is None or reply is None or self._is_held(reply):
            return
        block, lead = round(FRAME_S * self._rate), round(self._lead_s * self._rate)
        while count := min(block, reply.written - reply.sent):
            if reply.sent + count > reply.played + lead:
                return
            start, reply.sent = reply.sent, reply.sent + count
            samples = reply.read(start, reply.sent)
            self._say(Play(reply.generation, start, samples, last=reply.sent == reply.written))

    def _head(self) -> RemoteReply | None:
        """The oldest reply of which something is to be played."""
        return next((reply for reply in self._replies.values() if self._waiting(reply)), None)

    def _is_held(self, reply: RemoteReply) -> bool:
        if reply.sent or not self._holding or reply.generation <= self._free:
            return False
        if reply.held_s is None:
            reply.held_s = self._clock()
            self._playing = reply
            silence = np.zeros(round(0.01 * self._rate), np.float32)
            self._put(reply, silence, reply.held_s)  # its turn is told all the same
        return self._clock() - reply.held_s < HELD_S

    def _put(self, reply: RemoteReply, samples: Samples, at_s: float) -> None:
        zero_s = self._zero_s if self._zero_s is not None else at_s
        self._zero_s = zero_s
        if abs(at_s - zero_s - self._next / self._rate) > _APART_S:
            self._next = max(self._next, round((at_s - zero_s) * self._rate))
        frame = Frame(samples, self._rate, self._next)
        self._next = frame.end
        self._inbox.put(Played(frame, at_s, Position(reply.generation, reply.played, self._rate)))

    def _say(self, down: Down) -> None:
        if self._send is not None:
            self._send(down)

    def _bury(self) -> None:
        for generation, reply in self._replies.items():
            if generation <= self._halted:
                reply.discard()

    def _reply(self, generation: int) -> RemoteReply:
        newest = next(reversed(self._replies), generation)
        if generation < newest:
            raise RuntimeError(f"Generation {generation} cannot be written: {newest} has begun.")
        reply = self._replies.get(generation)
        if reply is None:
            self._forget_oldest()
            reply = self._replies[generation] = RemoteReply(generation)
        return reply

    def _forget_oldest(self) -> None:
        if len(self._replies) == MAX_REPLIES:
            oldest = next(iter(self._replies))
            if self._waiting(self._replies[oldest]):
                raise RuntimeError(f"More than {MAX_REPLIES} replies wait to be played.")
            del self._replies[oldest]

    def _is_due(self) -> bool:
        return any(map(self._waiting, self._replies.values()))

    def _waiting(self, reply: RemoteReply) -> int:
        return reply.written - reply.played if reply.generation > self._halted else 0

    def _room(self) -> int:
        return round(self._capacity_s * self._rate) - sum(map(self._waiting, self._replies.values()))

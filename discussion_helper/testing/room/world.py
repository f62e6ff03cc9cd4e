"""The world of a room: devices, acoustics and marks, stepped through by the event loop's clock."""

import math
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
import numpy as np

from discussion_helper.audio.analysis import Voiced, at_level
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.handover import LoopHandover
from discussion_helper.audio.inbox import Inbox
from discussion_helper.audio.resample import resample
from discussion_helper.errors import SettingError
from discussion_helper.testing.room.acoustics import Acoustics
from discussion_helper.testing.room.limits import check_audible
from discussion_helper.testing.room.line import After, Line
from discussion_helper.testing.room.loudspeaker_stream import LoudspeakerStream
from discussion_helper.testing.room.microphone_stream import MicrophoneStream
from discussion_helper.testing.room.recognisers import KnownSound
from discussion_helper.testing.room.scene import Scene
from discussion_helper.testing.room.stepped_work import SteppedWork
from discussion_helper.testing.room.surroundings import Stamps, Surroundings
from discussion_helper.testing.room.tape import Mark, Rendered, Tape
from discussion_helper.testing.room.track import Track
from discussion_helper.testing.room.troubles import Unplugged
from discussion_helper.testing.room.watched_playback import WatchedPlayback

__all__ = ["LIMIT_S", "TICK_S", "RoomWorld"]

LIMIT_S = 4 * 3600.0
TICK_S = 0.01
"""How often conditions are tried while no device is open."""
_HEARING_RATE = 16_000
_SAME = 0.999


@dataclass(frozen=True, slots=True, eq=False)
class _Said:
    """A line that waits for its mark, at the room's rate."""

    line: Line
    sound: Samples
    voice: Voiced


class RoomWorld:
    """A `World`."""

    def __init__(self, scene: Scene, clock: Callable[[], float], inbox: Inbox, *, limit_s: float = LIMIT_S) -> None:
        self.around = Surroundings(scene.rate, clock, clock(), inbox, list(scene.troubles))
        self.known: list[KnownSound] = []
        self.driver: SteppedWork | None = None
        self._scene = scene
        self._limit_s = limit_s
        self._handover = LoopHandover()
        self._track = Track(round(scene.keep_s * scene.rate))
        self._acoustics = Acoustics(scene, self._track)
        self._playback = WatchedPlayback(scene.loudspeaker.rate, halted=self._halted)
        self._stamps = (
            Stamps(self.around, "loudspeaker", scene.loudspeaker, scene.seed + 1),
            Stamps(self.around, "microphone", scene.microphone, scene.seed + 2),
        )
        self._loudspeaker: LoudspeakerStream | None = None
        self._microphone: MicrophoneStream | None = None
        self._marks: list[Mark] = []
        self._counts: dict[str, int] = {}
        self._waiting: list[tuple[After, _Said]] = []
        self._said_until_s = 0.0
        self._moved: Callable[[], object] = lambda: None
        self._moved_rate: int | None = None
        self._watched: list[tuple[Callable[[], bool], anyio.Event]] = []
        self._tried_s = 0.0
        self._rendered: deque[Rendered] = deque(maxlen=round(scene.keep_s * 100))
        self._heard = -1
        for line in scene.lines:
            self.say(line)

    # -- the devices

    def open_playback(self) -> LoudspeakerStream:
        """Plug the loudspeaker in. Raises DeviceError."""
        now_s = self.around.now_s
        self.around.check_there(self._scene.loudspeaker.name, now_s, "loudspeaker")
        held_s = self._loudspeaker.free_s if self._loudspeaker is not None else 0.0
        self._loudspeaker = LoudspeakerStream(
            self._scene.loudspeaker,
            self._playback,
            self.around,
            self._track,
            opened_s=max(now_s, held_s),
            stamps=self._stamps[0],
            rendered=self._note,
        )
        return self._loudspeaker

    def open_capture(self) -> MicrophoneStream:
        """Plug the microphone in. Raises DeviceError."""
        now_s = self.around.now_s
        self.around.check_there(self._scene.microphone.name, now_s, "microphone")
        self._microphone = MicrophoneStream(
            self._scene.microphone,
            self.around,
            self._acoustics,
            opened_s=now_s,
            stamps=self._stamps[1],
            rate=self._rate_at(now_s),
        )
        return self._microphone

    def _rate_at(self, at_s: float) -> int | None:
        """Of the microphone that was plugged in, or moved to, last."""
        if self._moved_rate is not None:
            return self._moved_rate
        over = [it for it in self.around.troubles if isinstance(it, Unplugged) and it.which == "microphone"]
        return next((it.rate for it in reversed(over) if it.rate and it.at_s + it.for_s <= at_s), None)

    async def follow(self, moved: Callable[[], object]) -> None:
        """Call `moved`, until this is cancelled, when other devices are the default ones."""
        self._moved = moved
        await anyio.sleep_forever()

    def move(self, rate: int | None) -> None:
        """Let other devices be the default ones, of which the microphone has that rate, or the same."""
        self._moved_rate = rate or self._moved_rate
        self._moved()

    # -- the clock's side

    @property
    def due_s(self) -> float:
        """Of the first thing that happens next."""
        zero_s = self.around.zero_s
        driver_s = self.driver.due_s(self.around.clock()) if self.driver is not None else math.inf
        watched_s = self._tried_s + TICK_S if self._watched else math.inf
        return min(self._device_s() + zero_s, driver_s, watched_s)

    def step(self) -> None:
        """Let it happen."""
        now = self.around.clock()
        if self.around.now_s > self._limit_s:
            raise RuntimeError(f"The room is {self._limit_s:g} s old; give it a larger limit_s.")
        for device in (self._loudspeaker, self._microphone):
            if device is not None and device.due_s + self.around.zero_s <= now:
                device.step()
                break
        if self.driver is not None and self.driver.due_s(now) <= now:
            self.driver.step(now)
        if self._watched:
            self._try(now)

    def _device_s(self) -> float:
        loudspeaker_s = self._loudspeaker.due_s if self._loudspeaker is not None else math.inf
        return min(loudspeaker_s, self._microphone.due_s if self._microphone is not None else math.inf)

    def _try(self, now: float) -> None:
        self._tried_s = now
        for condition, event in self._watched:
            if not event.is_set() and condition():
                self._handover.call(event.set)

    @contextmanager
    def watching(self, condition: Callable[[], bool]) -> Generator[anyio.Event]:
        """The event is set once the condition holds, which is tried now and after each step."""
        event = anyio.Event()
        if condition():
            event.set()
        self._watched.append((condition, event))
        self._tried_s = max(self._tried_s, self.around.clock())
        try:
            yield event
        finally:
            self._watched.remove((condition, event))

    # -- people and marks

    def say(self, line: Line) -> None:
        """Let somebody say it. Raises SettingError for what nobody hears, and for a known sound with another text."""
        sound = _at_rate(line.sound, self._scene.rate)
        said = _Said(line, sound, check_audible("sound", sound, self._scene.rate))
        if line.text:
            self._know(KnownSound(line.text, resample(sound, self._scene.rate, _HEARING_RATE)))
        if isinstance(line.at, After) and not self._has(line.at):
            self._waiting.append((line.at, said))
        else:
            self._place(said)

    def _know(self, sound: KnownSound) -> None:
        """A sound with two texts would be recognised as both; one text may have many sounds."""
        same = next((it for it in self.known if _are_same(it.samples, sound.samples)), None)
        if same is None:
            self.known.append(sound)
        elif same.text != sound.text:
            what = f"text: these samples say {same.text!r:.80} already."
            raise SettingError(what, fix="Say the same text, or other samples: speech_like(..., seed=...).")

    def _has(self, after: After) -> bool:
        return self.has(after.kind, after.number)

    def has(self, kind: str, number: int) -> bool:
        """Whether there is that mark, though its time may be to come."""
        return self._counts.get(kind, 0) >= number

    def _place(self, said: _Said) -> None:
        line, voice = said.line, said.voice
        louder = said.sound if line.dbfs is None else at_level(said.sound, voice.level_dbfs, line.dbfs)
        at_s = line.at
        if isinstance(at_s, After):
            at_s = self.mark_of(at_s.kind, at_s.number).at_s + at_s.plus_s
        start = self._acoustics.say(max(0, round(at_s * self._scene.rate)), louder)
        self._said_until_s = max(self._said_until_s, (start + len(louder)) / self._scene.rate)
        places = {"line": 0, "voice": voice.start, "voice_end": voice.end, "line_end": len(louder)}
        for kind, place in places.items():
            self._mark(kind, (start + place) / self._scene.rate, text=line.text)

    def _mark(self, kind: str, at_s: float, *, text: str = "", generation: int = -1) -> None:
        number = self._counts[kind] = self._counts.get(kind, 0) + 1
        self._marks.append(Mark(kind, number, at_s, text, generation))
        due = [it for it in self._waiting if (it[0].kind, it[0].number) == (kind, number)]
        self._waiting = [it for it in self._waiting if it not in due]
        for _, said in due:
            self._place(said)

    def mark_of(self, kind: str, number: int) -> Mark:
        """That mark."""
        return next(mark for mark in self._marks if (mark.kind, mark.number) == (kind, number))

    def is_passed(self, kind: str, number: int) -> bool:
        """Whether there is that mark, and its time has come."""
        return self.has(kind, number) and self.mark_of(kind, number).at_s <= self.around.now_s

    def _halted(self, generation: int) -> None:
        self._mark("halt", self.around.now_s, generation=generation)

    def _note(self, block: Rendered) -> None:
        self._rendered.append(block)
        if block.audible >= 0 and block.generation > self._heard:
            self._heard = block.generation
            self._mark("reply", block.audible / self._scene.rate, generation=block.generation)

    # -- what there was

    @property
    def silent_s(self) -> float:
        """For so long nothing of a reply was heard."""
        if not self._rendered:
            return self.around.now_s
        return self.around.now_s - self._rendered[-1].start / self._scene.rate - 0.01

    @property
    def unsaid_s(self) -> float:
        """For so long nobody has said a line; negative while a line is said, or is still to come at its time."""
        return self.around.now_s - self._said_until_s

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Those whose time has come, in its order."""
        return tuple(sorted((it for it in self._marks if it.at_s <= self.around.now_s), key=lambda mark: mark.at_s))

    def tape(self) -> Tape:
        """Up to now."""
        end = math.floor(self.around.now_s * self._scene.rate + 1e-5)
        self._acoustics.advance(end)
        start = max(0, end - round(self._scene.keep_s * self._scene.rate))
        marks = tuple(sorted(self._marks, key=lambda mark: mark.at_s))
        loudspeaker, microphone = (
            track.read(start, end - start).copy() for track in (self._track, self._acoustics.microphone)
        )
        return Tape(self._scene.rate, start, loudspeaker, microphone, marks, tuple(self._rendered))


def _at_rate(sound: Samples | Frame, rate: int) -> Samples:
    return resample(sound.samples, sound.rate, rate) if isinstance(sound, Frame) else np.asarray(sound, np.float32)


def _are_same(one: Samples, other: Samples) -> bool:
    """But for their loudness."""
    power = float(np.sqrt((one @ one) * (other @ other))) if len(one) == len(other) else 0.0
    return power > 0.0 and float(one @ other) / power > _SAME

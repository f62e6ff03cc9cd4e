"""The audio work: what is made of each item of the inbox, whoever drives it."""

from collections.abc import Callable
from dataclasses import dataclass

from discussion_helper.audio.inbox import Call, Captured, DeviceLost, Item, Played
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.hearing import Hearing
from discussion_helper.voice.marks import Marks
from discussion_helper.voice.notes import Decided, Ducked, InterimWanted, Note, ProsodyWanted, Resumed
from discussion_helper.voice.scored import Scored

__all__ = [
    "FIRST_S",
    "PLAY_S",
    "STALL_S",
    "TICK_S",
    "AudioWork",
    "Cut",
    "HalfDuplex",
    "Listening",
    "Reopened",
    "TalkKey",
    "Tap",
]

STALL_S = 1.0
"""A microphone that was delivering and then delivers nothing for so long is lost, though its stream says nothing."""
FIRST_S = 5.0
"""For the first block: a headset that has to change its profile takes a second or two."""
PLAY_S = 2.0
"""A loudspeaker that takes nothing of a reply for so long is lost: one that is opened anew is silent for 0.25 s first,
and what a sink does that was suspended takes 0.5 s at most."""
TICK_S = 0.25
"""How often a device that does nothing is looked at; of a longer wait no more counts, for then the machine
slept and the devices with it."""

Tap = Callable[[Item | None, float], object]
"""Is shown every item and its time, in order, before anything is made of it; on the audio thread, so it must not wait.

The same items and times, fed to another `AudioWork` with the same hearing, give the same notes."""


@dataclass(frozen=True, slots=True)
class Listening:
    """A `Call` about the microphone that is listened to from now on: its name, its rate in hertz; "" and 0 = none."""

    microphone: str = ""
    rate: int = 0


@dataclass(frozen=True, slots=True)
class HalfDuplex:
    """A `Call` after which only a loud voice is heard over the agent."""


@dataclass(frozen=True, slots=True)
class TalkKey:
    """A `Call` about the key of push to talk, which went down or came up at `at_s`."""

    down: bool
    at_s: float


@dataclass(frozen=True, slots=True)
class Reopened:
    """A `Call` after which the newest turn goes on with the one before it, though the agent had begun to answer."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A `Call` after which that reply and those before it are over: what is heard over them interrupts nothing."""

    generation: int


class AudioWork:
    """A function of the items and their times: it has no thread and no clock.

    `noted`, `lost` and `failed` are told, by way of `call`, what was heard, a device that went away or stalls, and an
    error of the work's own, after which it goes on.
    """

    def __init__(
        self,
        *,
        noted: Callable[[Note], object],
        lost: Callable[[DeviceLost], object],
        failed: Callable[[Exception], object],
        tap: Tap | None = None,
        note_tap: Callable[[Note], object] | None = None,
        ask: Callable[[ProsodyWanted], object] | None = None,
    ) -> None:
        """`note_tap` is shown every note that matters, on the audio thread, behind the item that it comes of.

        It must not wait, nor must `ask`, which is given what prosody is wanted for; None = nobody judges it.
        """
        self._noted, self._lost, self._failed = noted, lost, failed
        self._tap, self._note_tap, self._ask = tap, note_tap, ask
        self._hearing: Hearing | None = None
        self._microphone = ""
        self._before = 0.0
        self._silent_s = 0.0
        self._limit_s = 0.0
        self._unplayed_s = 0.0
        self._ducked = -1
        self._half_duplex_due = False
        self._pressed: TalkKey | None = None
        self.watches = True
        """A device that does nothing is lost; not where somebody else looks after the devices. Set before `begin`."""

    def begin(self, call: Callable[..., object], marks: Marks) -> None:
        """`call(fn, *args)` runs `fn(*args)` where whoever is told lives, in the order of the calls."""
        self._call = call
        self._marks = marks

    @property
    def hears(self) -> bool:
        """A microphone is listened to, or is being opened again."""
        return self._hearing is not None

    @property
    def tick_s(self) -> float | None:
        """After so many seconds without an item `take(None, now)` is due; None = never."""
        return TICK_S if self.watches and (self._microphone or not self._marks.playback.idle) else None

    def take(self, item: Item | None, now: float) -> None:
        """The next item, taken out at `now`; None: nothing came."""
        try:
            if self._tap is not None:
                self._tap(item, now)
            if self.watches:
                self._watch_microphone(item, now - self._before)
                self._watch_loudspeaker(item, now - self._before)
            if item is not None:
                self._do(item)
        except Exception as failure:  # told to the loop, which ends the talk; the thread must live to be joined
            self._call(self._failed, failure)
        self._before = now

    def change(self, hearing: Hearing | None, microphone: str) -> None:
        """From now on `hearing` hears what the microphone of that name delivers. A turn that is open ends."""
        if self._hearing is not None:
            self._tell(self._hearing.finish())
        self._hearing, self._microphone = hearing, microphone
        if self._half_duplex_due:
            self.go_half_duplex()
        if self._pressed is not None:
            self.key(self._pressed)
        self._marks.playback.hold(False)
        self._silent_s, self._limit_s = 0.0, FIRST_S

    def _watch_microphone(self, item: Item | None, passed_s: float) -> None:
        """Whether the microphone still delivers."""
        if isinstance(item, Captured):
            self._silent_s, self._limit_s = 0.0, STALL_S
            return
        self._silent_s += min(passed_s, TICK_S)
        if self._microphone and self._silent_s >= self._limit_s:
            self._do(DeviceLost("capture", f'"{self._microphone}" delivers nothing any more'))

    def _watch_loudspeaker(self, item: Item | None, passed_s: float) -> None:
        """Whether it still takes what there is of a reply, unless that keeps its place."""
        if isinstance(item, Played) and item.position.generation > self._ducked:
            self._ducked = -1
        if isinstance(item, Played) or self._ducked >= 0 or self._marks.playback.idle:
            self._unplayed_s = 0.0
            return
        self._unplayed_s += min(passed_s, TICK_S)
        if self._unplayed_s >= PLAY_S:
            self._unplayed_s = 0.0
            self._do(DeviceLost("playback", "The loudspeaker plays nothing any more"))

    def _do(self, item: Item) -> None:
        match item:
            case Captured():
                if self._hearing is not None:
                    self._tell(self._hearing.captured(item))
                    self._marks.playback.hold(self._hearing.somebody_speaks)
            case Played():
                if self._hearing is not None:
                    self._hearing.played(item)
                if self._marks.is_passed_by(item):
                    position = item.position
                    self._call(self._marks.pass_all, position.generation, position.samples, item.at_s)
            case DeviceLost():
                if item.which == "capture":
                    self._microphone = ""
                self._call(self._lost, item)
            case Call():
                item.fn()

    def words(self, words: Words) -> None:
        """What a recogniser made of the turn that is open."""
        if self._hearing is not None:
            self._tell(self._hearing.words(words))

    def key(self, key: TalkKey) -> None:
        """The key of push to talk; one that is down when a microphone is opened is pressed from then on."""
        self._pressed = key if key.down else None
        if self._hearing is not None:
            (self._hearing.press if key.down else self._hearing.release)(key.at_s)

    def scored(self, scored: Scored) -> None:
        """How complete the open turn sounds."""
        if self._hearing is not None:
            self._hearing.scored(scored)

    def reopened(self) -> None:
        """The newest turn goes on with the one before it."""
        if self._hearing is not None:
            self._hearing.reopened()

    def cut(self, cut: Cut) -> None:
        """A reply was stopped."""
        if self._hearing is not None:
            self._tell(self._hearing.cut(cut.generation))

    def prompt(self) -> None:
        """Somebody nearer to the user hears a voice begin."""
        if self._hearing is not None:
            self._hearing.prompt()

    def go_half_duplex(self) -> None:
        """From now on only a loud voice is heard over the agent; while nothing is listened to, once something is."""
        self._half_duplex_due = self._hearing is None
        if self._hearing is not None:
            self._hearing.go_half_duplex()

    def _tell(self, notes: list[Note]) -> None:
        for note in notes:
            self._act(note)
            if self._note_tap is not None and not isinstance(note, InterimWanted):
                self._note_tap(note)
            if isinstance(note, ProsodyWanted) and self._ask is not None:
                self._ask(note)
            self._call(self._noted, note)

    def _act(self, note: Note) -> None:
        """The agent is turned down here and now: the event loop may be late."""
        match note:
            case Ducked(generation=generation):
                self._ducked = generation
                self._marks.playback.pause(generation)
            case Decided(what="interruption"):
                self._ducked = -1
            case Resumed():
                self._ducked = -1
                self._marks.playback.resume()

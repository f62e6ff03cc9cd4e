"""A take: what both devices carried during one trial, on one timeline, and what the talk told meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from discussion_helper.audio.frames import Samples
from discussion_helper.bench.clips import Saying
from discussion_helper.bench.talk_handle import Told
from discussion_helper.testing.recording import Recording
from discussion_helper.testing.virtual_devices import VirtualDevices

__all__ = ["Reply", "Take", "Taking"]


@dataclass(frozen=True, slots=True)
class Reply:
    """One time that the agent had the floor, on the clock of `time.monotonic`.

    Of one that was not over when the take was, `ended_s` is the take's end and the text is not known.
    """

    started_s: float
    ended_s: float
    interrupted: bool
    heard: str
    said: str


@dataclass(frozen=True, slots=True)
class Take:
    """`said_at` is the sample at which the clip began at the microphone, if one was said; `correlation` is 1.0 where it
    was found unchanged."""

    loudspeaker: Samples
    microphone: Samples
    rate: int
    start_s: float
    told: Sequence[Told] = ()
    said_at: int = 0
    correlation: float = 0.0

    def index(self, at_s: float) -> int:
        """The sample at a time of the clock of `time.monotonic`."""
        return max(0, round((at_s - self.start_s) * self.rate))

    def time_s(self, index: int) -> float:
        """The time of a sample."""
        return self.start_s + index / self.rate

    def ms(self, samples: int) -> float:
        """So many samples in milliseconds."""
        return round(samples * 1e3 / self.rate, 1)

    def all_told(self, kind: str, /, **data: object) -> list[Told]:
        """What was told of one kind, in order."""
        return [told for told in self.told if told.means(kind, **data)]

    @property
    def replies(self) -> list[Reply]:
        """What the agent said, in order."""
        begun = [told.at_s for told in self.all_told("floor", floor="speaking")]
        over = Told("", self.time_s(len(self.loudspeaker)), {"text": "", "interrupted": False})
        ended = [*self.all_told("utterance", speaker="agent"), over]
        return [_reply(start_s, told) for start_s, told in zip(begun, ended, strict=False)]

    @property
    def user_text(self) -> str:
        """What the user was understood to say."""
        return " ".join(str(told.data["text"]) for told in self.all_told("utterance", speaker="user"))


@dataclass(slots=True)
class Taking:
    """A take under way; `take` is there once it is over."""

    devices: VirtualDevices
    recording: Recording
    saying: Saying | None = None
    _takes: list[Take] = field(default_factory=list)

    @property
    def take(self) -> Take:
        """What was taken."""
        return self._takes[0]

    def say(self, saying: Saying) -> None:
        """Say a clip; returns once its last sample was at the microphone. Raises DeviceError."""
        self.saying = saying
        self.devices.speak(saying.samples).wait(saying.duration_s + 5.0)

    def wait(self, index: int) -> bool:
        """Wait for a moment of the recording. False if it does not come within 30 s."""
        return self.recording.wait(lambda it: len(it) >= index, timeout=30.0)

    def finish(self, told: Sequence[Told]) -> None:
        """Make the take of a recording that has ended."""
        recording = self.recording
        at, correlation = recording.locate("microphone", self.saying.samples) if self.saying else (0, 0.0)
        channels = recording.loudspeaker, recording.microphone
        self._takes.append(Take(*channels, recording.rate, recording.start_s, told, at, round(correlation, 3)))


def _reply(started_s: float, told: Told) -> Reply:
    heard = str(told.data["text"])
    said = str(told.data.get("said") or heard)
    return Reply(started_s, told.at_s, bool(told.data["interrupted"]), heard, said)

"""What the audio thread tells: turns, interruptions, levels. Times are on `time.monotonic`'s clock."""

from dataclasses import dataclass

from discussion_helper.audio.frames import Samples
from discussion_helper.turn.turns import TurnEvent

__all__ = [
    "Attends",
    "Decided",
    "Ducked",
    "InterimWanted",
    "Level",
    "Muted",
    "Note",
    "Onset",
    "ProsodyWanted",
    "Resumed",
    "Turn",
    "WordsWanted",
]


@dataclass(frozen=True, slots=True)
class Turn:
    """Something about a turn, when it was decided, and the first and last voice so far."""

    event: TurnEvent
    decided_at_s: float
    started_at_s: float
    voiced_until_s: float
    own: bool = False
    """So far it is nothing but the agent's own voice, which the echo canceller left."""
    ignored: str = ""
    """Why it is no turn of the user's, though it was said over the agent: a listener's response, for one."""
    decided: bool = False
    """What it is was told already, by a `Decided`."""
    undecided: bool = False
    """The agent is turned down for it, and a `Decided` will say what it is."""
    level_dbfs: float = -120.0
    """Of the loudest 10 ms of the microphone in it, as it came."""
    over_echo_db: float = 0.0
    """The same above what was expected there if nobody spoke: echo and noise."""


@dataclass(frozen=True, slots=True)
class Onset:
    """The user is interrupting; so it was decided."""

    at_s: float
    voiced_s: float


@dataclass(frozen=True, slots=True)
class Ducked:
    """The agent is to be turned down and to keep its place in the reply `generation`."""

    at_s: float
    generation: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """The agent is to go on from where it was turned down."""

    at_s: float


@dataclass(frozen=True, slots=True)
class WordsWanted:
    """The words of the open turn are wanted: what was heard of it, 16 kHz, up to sample `end` of the microphone."""

    samples: Samples
    start: int
    end: int
    voiced_s: float


@dataclass(frozen=True, slots=True)
class InterimWanted:
    """The open turn may be read so that its words are seen while it goes on; as `WordsWanted`, but nothing comes of it.

    So no recording holds it.
    """

    samples: Samples
    start: int
    end: int
    voiced_s: float


@dataclass(frozen=True, slots=True)
class ProsodyWanted:
    """How complete the open turn sounds is wanted: what was heard of it, at most 8 s, up to sample `end`.

    `until`: the sample after its last voice. It is for the scorer, which the audio thread itself gives it to.
    """

    samples: Samples
    start: int
    end: int
    until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What a voice over the agent is, and why. Levels in dB.

    There is one for each time that the agent is turned down, unless another reply or the end of listening comes first.
    """

    at_s: float
    started_at_s: float
    """First voice, or first sound where none was a voice."""
    voiced_until_s: float
    """Last voice so far, or last sound."""
    what: str
    """"interruption" or "ignored"."""
    why: str
    voiced_s: float
    """Between the two; 0.0 where no voice was in it."""
    ducked_s: float
    """How long the agent was turned down before it was decided."""
    level_dbfs: float
    """Of the loudest 10 ms of the microphone since it was turned down."""
    over_echo_db: float
    """The same above the echo that was expected."""
    text: str = ""
    """The words that decided, if any."""
    doubt: float = 0.0
    """The recogniser's about them."""
    score: float = 0.0
    """Share of them that the agent had just said in the same order; 0.0 for fewer than four words."""
    again: bool = False
    """The voice was ignored before, has turned the agent down once more, and is ignored still."""


@dataclass(frozen=True, slots=True)
class Attends:
    """What is heard may become a turn from now on, or may not: see `turn.attention`."""

    at_s: float
    state: str
    """"awake", "asleep", "pressed", "released"; "refused" = the agent said the wake word itself."""
    why: str
    score: float = 0.0
    """Of the wake word, 0.0 to 1.0."""


@dataclass(frozen=True, slots=True)
class Level:
    """Root mean square of the last 100 ms at the microphone, in dBFS; -120 for silence."""

    dbfs: float


@dataclass(frozen=True, slots=True)
class Muted:
    """Nothing but zeros comes from the microphone; `on` false: something comes again."""

    on: bool


Note = Turn | Onset | Ducked | Resumed | WordsWanted | InterimWanted | ProsodyWanted | Decided | Attends | Level | Muted

"""The end of recorded turns: how many are cut off early, and how long the others wait, in virtual time.

`python -m benchmarks.endpointing` says how that is measured, and what it came to.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from discussion_helper.audio.analysis import percentile
from discussion_helper.bench.recorded_turns import (
    RATE,
    Pause,
    RecordedTurn,
    read_turns,
    recordings_in,
    save_turns,
    turns_of,
)
from discussion_helper.models import Store, load_manifest
from discussion_helper.policy import Policy
from discussion_helper.tuning import Tuning
from discussion_helper.turn.endpointing import Endpointer, OpenTurn, SilenceEndpointer, Verdict
from discussion_helper.turn.evidence import Evidence
from discussion_helper.turn.policy_endpointer import PolicyEndpointer
from discussion_helper.turn.smart_turn import SMART_TURN_MODEL, SmartTurn
from discussion_helper.voice.finishing import ASK_S

__all__ = [
    "EARLY_S",
    "LONGEST_S",
    "MEASURED",
    "REPLY_S",
    "SCORE_S",
    "STEP_S",
    "TEXT_AFTER_S",
    "TEXT_S",
    "TOLERANCE",
    "WAITS_S",
    "WAYS",
    "Delays",
    "EndpointingRow",
    "Point",
    "SmartTurnAlone",
    "Way",
    "latency_ms",
    "measured",
    "point_of",
    "rows_of",
    "turns_in",
]

WAITS_S = tuple(step / 20 for step in range(5, 25))
STEP_S = 0.01
LONGEST_S = 4.0
"""No way waits longer."""
SCORE_S, TEXT_S = 0.06, 0.25
"""From when a score is asked for, and from when reading begins."""
EARLY_S = Tuning().endpoint_early_s
"""Of silence, after which a talk begins to read the turn."""
TEXT_AFTER_S = EARLY_S + TEXT_S
REPLY_S = 0.45
"""From the end of a turn to the first audible sample of the reply."""
TOLERANCE = round(0.02 * RATE)
"""An end that is decided so shortly before the last voiced sample cuts nothing off."""


@dataclass(frozen=True, slots=True)
class Delays:
    """When something is known: a score so long after it was asked for, a text after so much silence."""

    score_s: float = SCORE_S
    text_s: float = TEXT_AFTER_S


MEASURED = Delays()


class SmartTurnAlone:
    """As it is published: asked once, after the silence; what it calls unfinished is waited for for 3 s."""

    def __init__(self, silence_s: float) -> None:
        self._silence_s = silence_s

    def verdict(self, turn: OpenTurn) -> Verdict:
        """END or GO_ON."""
        score = turn.evidence.prosody_at(turn.voiced_until)
        finished = score is not None and score >= 0.5
        return Verdict.END if turn.silence_s >= (self._silence_s if finished else 3.0) else Verdict.GO_ON


@dataclass(frozen=True, slots=True)
class Way:
    """To end turns, by how long it waits."""

    name: str
    endpointer: Callable[[float], Endpointer]


WAYS = (
    Way("silence", lambda wait_s: SilenceEndpointer(silence_s=wait_s, early_s=min(EARLY_S, wait_s))),
    Way("Smart Turn", SmartTurnAlone),
    Way("policy", lambda wait_s: PolicyEndpointer(silence_s=wait_s, early_s=min(EARLY_S, wait_s))),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointingRow:
    """One turn, ended in one way with one wait."""

    turn: str
    kind: str
    conversation: str
    way: str
    wait_s: float
    latency_ms: float | None
    """From the last voiced sample to the end of the turn; None = it is cut off."""
    heard: bool
    """Something of a reply would have been, before its speaker went on."""
    left: bool
    """It would not have been taken back."""


@dataclass(frozen=True, slots=True)
class Point:
    """What a way comes to with one wait: shares of turns in percent, and latencies in ms."""

    way: str
    wait_s: float
    cut_percent: float
    heard_percent: float
    left_percent: float
    mean_ms: float
    median_ms: float
    p95_ms: float


def turns_in(folder: Path, kept: Path | None = None, *, most: int | None = None) -> list[RecordedTurn]:
    """What is heard in the clips of a folder; read from the file `kept` where it is there, else written to it.

    `most`: of the recordings, None = all. Raises ModelError, AudioFileError.
    """
    if kept is not None and kept.exists():
        return read_turns(kept)
    prosody = SmartTurn(Store().path_of(load_manifest().model(SMART_TURN_MODEL)))
    turns = turns_of(recordings_in(folder)[:most], prosody)
    if kept is not None:
        save_turns(turns, kept)
    return turns


def measured(turns: Sequence[RecordedTurn], way: Way, wait_s: float, delays: Delays = MEASURED) -> Point:
    """Over these turns."""
    return point_of(rows_of(turns, way, wait_s, delays))


def rows_of(turns: Sequence[RecordedTurn], way: Way, wait_s: float, delays: Delays = MEASURED) -> list[EndpointingRow]:
    """What the way makes of each turn."""
    endpointer = way.endpointer(wait_s)
    return [
        _row(turn, way, wait_s, latency_ms(turn, endpointer, delays), _undone(turn, endpointer, delays))
        for turn in turns
    ]


def _row(
    turn: RecordedTurn, way: Way, wait_s: float, latency: float | None, undone: tuple[bool, bool]
) -> EndpointingRow:
    return EndpointingRow(
        turn=turn.name,
        kind=turn.kind,
        conversation=turn.conversation,
        way=way.name,
        wait_s=wait_s,
        latency_ms=None if latency is None else round(latency, 1),
        heard=undone[0],
        left=undone[1],
    )


def point_of(rows: Sequence[EndpointingRow]) -> Point:
    """Of one way with one wait, and one turn at least."""
    kept = [row.latency_ms for row in rows if row.latency_ms is not None] or [float("nan")]
    shares = [[row.latency_ms is None for row in rows], [row.heard for row in rows], [row.left for row in rows]]
    cut, heard, left = (100.0 * sum(share) / len(rows) for share in shares)
    way, wait_s = rows[0].way, rows[0].wait_s
    return Point(way, wait_s, cut, heard, left, fmean(kept), median(kept), percentile(kept, 95))


def latency_ms(turn: RecordedTurn, endpointer: Endpointer, delays: Delays) -> float | None:
    """From the last voiced sample to the end of the turn; None where it is cut off.

    Where that sample comes after the end, and no detector took it for a voice (of a whisper, or a sniff), it is from
    the last one that they did.
    """
    for pause in turn.pauses:
        decided = _decided(turn, pause, endpointer, delays)
        if decided is not None:
            last = turn.end if decided >= turn.end - TOLERANCE else pause.until
            return None if _is_cut(turn, pause, decided) else 1e3 * (decided - last) / RATE
    return None


def _is_cut(turn: RecordedTurn, pause: Pause, decided: int) -> bool:
    return pause.gap_s >= 0.0 and decided < turn.end - TOLERANCE


def _undone(turn: RecordedTurn, endpointer: Endpointer, delays: Delays) -> tuple[bool, bool]:
    """Whether something of a reply was heard before its speaker went on, and whether the turn stays cut."""
    heard = left = False
    for pause in turn.pauses:
        decided = _decided(turn, pause, endpointer, delays)
        if decided is not None and _is_cut(turn, pause, decided):
            after_s = pause.gap_s - (decided - pause.until) / RATE
            heard = heard or after_s > REPLY_S
            left = left or after_s > max(REPLY_S, Policy().reopen_s)
    return heard, left


def _decided(turn: RecordedTurn, pause: Pause, endpointer: Endpointer, delays: Delays) -> int | None:
    """The sample at which the turn is ended in this pause."""
    silence_s = 0.1
    while silence_s < (pause.gap_s if pause.gap_s >= 0.0 else LONGEST_S):
        now = pause.until + round(silence_s * RATE)
        evidence = _evidence(pause, silence_s, delays)
        view = OpenTurn(turn.started, pause.until, now, pause.voiced_s, evidence=evidence)
        if endpointer.verdict(view) is Verdict.END:
            return now
        silence_s += STEP_S
    return None


def _evidence(pause: Pause, silence_s: float, delays: Delays) -> Evidence:
    """What is known after so much silence."""
    asked = zip(ASK_S, pause.scores, strict=False)
    known = [score for ask_s, score in asked if silence_s >= ask_s + delays.score_s - 1e-9]
    read = pause.complete >= 0.0 and silence_s >= delays.text_s - 1e-9
    score, complete = known[-1] if known else None, pause.complete if read else None
    return Evidence(score, pause.until, complete, pause.until)

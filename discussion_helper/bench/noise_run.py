"""Noises: sounds that are no turn are made while the agent speaks, and it should go on."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle

from discussion_helper.audio.analysis import AUDIBLE_DBFS, SILENT_DBFS, first_above, longest_quiet
from discussion_helper.bench.barge_in_run import reply_span
from discussion_helper.bench.clips import Saying
from discussion_helper.bench.over_reply import resumed, said_over
from discussion_helper.bench.progress import Progress
from discussion_helper.bench.room import Room
from discussion_helper.bench.take import Reply, Take
from discussion_helper.bench.talk_handle import TalkHandle
from discussion_helper.bench.texts import TEXTS

__all__ = ["OFFSET_S", "RESUME_S", "NoiseRow", "noise_row", "run_noises"]

OFFSET_S = 1.5
RESUME_S = 2.0
"""A reply that a noise cut has to go on within this, else it counts as lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseRow:
    """One sound that was made over a reply."""

    clip: str
    kind: str
    level_dbfs: float
    interrupted: bool
    resume_ms: float | None
    """From the last sound of the cut reply to the first audible sample of the one that went on with it."""
    lost: bool
    """Interrupted, and not going on within 2 s."""
    longest_quiet_ms: float
    """Inside the reply, pauses of the speech included."""
    understood: str
    """What the sound was taken to say."""
    decisions: str
    correlation: float


def run_noises(room: Room, talk: TalkHandle, sayings: Sequence[Saying], progress: Progress) -> list[NoiseRow]:
    """Make each sound over a reply of its own. Raises DiscussionError."""
    rows: list[NoiseRow] = []
    for saying, text in zip(sayings, cycle(TEXTS), strict=False):
        rows.append(noise_row(said_over(room, talk, text, saying, OFFSET_S), saying))
        row = rows[-1]
        fate = "lost" if row.lost else "interrupted, went on" if row.interrupted else "went on"
        progress.step("noises", len(rows), len(sayings), f"{row.clip}: {fate}")
    return rows


def noise_row(take: Take, saying: Saying) -> NoiseRow:
    """Measure one take."""
    reply = take.replies[0]
    span = reply_span(take, reply)
    resume_ms = _resume_ms(take, reply) if reply.interrupted else None
    told = [f"{told.data.get('what')}: {told.data.get('why')}" for told in take.all_told("decision")]
    return NoiseRow(
        clip=saying.name,
        kind=saying.clip.kind,
        level_dbfs=round(saying.level_dbfs, 1),
        interrupted=reply.interrupted,
        resume_ms=resume_ms,
        lost=reply.interrupted and (resume_ms is None or resume_ms > RESUME_S * 1e3),
        longest_quiet_ms=take.ms(len(longest_quiet(take.loudspeaker, SILENT_DBFS, span))),
        understood=take.user_text,
        decisions="; ".join(told),
        correlation=take.correlation,
    )


def _resume_ms(take: Take, cut: Reply) -> float | None:
    again = resumed(take, cut)
    first = None if again is None else first_above(take.loudspeaker, AUDIBLE_DBFS, after=take.index(again.started_s))
    return None if first is None else take.ms(first - reply_span(take, cut).end)

"""Turns: clips of people are answered, and the delay is read off the recording."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from discussion_helper.audio.analysis import AUDIBLE_DBFS, Span, audible, first_above, holes, percentile
from discussion_helper.bench.clips import Saying
from discussion_helper.bench.lag import with_missed
from discussion_helper.bench.progress import Progress
from discussion_helper.bench.room import Room
from discussion_helper.bench.take import Reply, Take
from discussion_helper.bench.talk_handle import TalkHandle, Told
from discussion_helper.bench.usage import Usage, UsageMeter

__all__ = [
    "ANSWER_S",
    "CALM_S",
    "EARLY_TOLERANCE_S",
    "LONG_HOLE_S",
    "QUIET_S",
    "REPLY_S",
    "TurnRow",
    "Turns",
    "run_turns",
    "turn_row",
]

ANSWER_S = 12.0
REPLY_S = 8.0
"""A reply is interrupted after so long: by then its delay and its holes have shown."""
QUIET_S = 1.5
CALM_S = 40.0
LONG_HOLE_S = 0.25
"""Speakers pause for 150 to 250 ms at a full stop, and voices put that into what they say as digital silence."""
EARLY_TOLERANCE_S = 0.02
"""The clocks of recording and talk agree to a block of 10 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    """One clip that was said to the agent. Times in ms, None where there was nothing to measure."""

    clip: str
    speaker: str
    level_dbfs: float
    voice_s: float
    """From the first to the last voice of the clip."""
    transcript: str
    understood: str
    turns: int
    """User turns that the clip was taken for."""
    early: bool
    """A turn was taken to be over before the clip's last voice."""
    spoke_over: bool
    """The agent was audible while the user still spoke."""
    answered: bool
    voice_to_voice_ms: float | None
    endpoint_ms: float | None
    recognise_ms: float | None
    think_ms: float | None
    speak_ms: float | None
    ahead: bool = False
    """The reply was begun before the turn was over."""
    begun_ahead: int = 0
    """Replies that were, up to here in this talk; some were thrown away."""
    wasted_s: float = 0.0
    """Up to here in this talk, seconds in which the model or the voice worked on what was thrown away."""
    voice_end_ms: float | None
    """The last voice that the talk saw against the clip's: it counts from there, the bench from the clip's."""
    reply: str
    reply_s: float
    """Of the reply, from its first audible sample to its last one."""
    holes: int
    long_holes: int
    """Of the holes, those too long for a pause between two sentences."""
    hole_s: float
    decoding_s: float
    """Of the reply, how long the model was still decoding."""
    decoding_holes: int
    lag_p99_ms: float | None
    correlation: float


@dataclass(slots=True)
class Turns:
    """All turns, the event loop's lag while the models worked, and what it cost."""

    rows: list[TurnRow] = field(default_factory=list)
    lags_ms: list[float] = field(default_factory=list)
    usage: Usage | None = None


def run_turns(room: Room, talk: TalkHandle, sayings: Sequence[Saying], progress: Progress) -> Turns:
    """Say one clip after another, each when the reply to the one before is over. Raises DiscussionError."""
    turns = Turns()
    talk.lags()
    meter = UsageMeter(talk.pid)
    for saying in sayings:
        row, lags = _turn(room, talk, saying)
        turns.rows.append(row)
        turns.lags_ms += lags
        progress.step("turns", len(turns.rows), len(sayings), f"{row.clip}: {_fate(row)}")
    turns.usage = meter.read()
    return turns


def _fate(row: TurnRow) -> str:
    if row.voice_to_voice_ms is None:
        return "spoken over" if row.spoke_over else "no answer"
    return f"{row.voice_to_voice_ms:.0f} ms{', cut off early' * row.early}"


def _turn(room: Room, talk: TalkHandle, saying: Saying) -> tuple[TurnRow, list[float]]:
    mark = talk.mark
    with room.taking(talk, saying.name) as trial:
        trial.say(saying)
        talk.wait(lambda told: told.means("floor", floor="speaking"), since=mark, timeout=ANSWER_S)
        talk.calm(quiet_s=QUIET_S, reply_s=REPLY_S, timeout=CALM_S)
    lags = _while_models_work(trial.take, saying, talk.lags())
    return turn_row(trial.take, saying, lags), lags


def turn_row(take: Take, saying: Saying, lags_ms: Sequence[float] = ()) -> TurnRow:
    """Measure one take."""
    start, end = take.said_at + saying.start, take.said_at + saying.end
    over = first_above(take.loudspeaker[:end], AUDIBLE_DBFS, after=start) is not None
    first = first_above(take.loudspeaker, AUDIBLE_DBFS, after=end)
    heard = take.all_told("utterance", speaker="user")
    reply = _answering(take, first)
    span = _reply_span(take, end)
    gaps = holes(take.loudspeaker, take.rate, span)
    decoding = _decoding_until(take, span)
    return TurnRow(
        clip=saying.name,
        speaker=saying.clip.speaker,
        level_dbfs=round(saying.level_dbfs, 1),
        voice_s=round((saying.end - saying.start) / take.rate, 2),
        transcript=saying.clip.transcript,
        understood=take.user_text,
        turns=len(heard),
        early=any(take.index(told.data["decided_s"] + EARLY_TOLERANCE_S) < end for told in heard),
        spoke_over=over,
        answered=over or first is not None,
        voice_to_voice_ms=None if first is None or over else take.ms(first - end),
        **_stages(take, reply),
        **_ahead(take),
        voice_end_ms=_voice_end_ms(take, heard, end),
        reply=reply.said if reply is not None else "",
        reply_s=round(len(span) / take.rate, 2),
        holes=len(gaps),
        long_holes=sum(len(gap) >= LONG_HOLE_S * take.rate for gap in gaps),
        hole_s=round(sum(map(len, gaps)) / take.rate, 3),
        decoding_s=round(max(0, decoding - span.start) / take.rate, 2),
        decoding_holes=sum(gap.start < decoding for gap in gaps),
        lag_p99_ms=round(percentile(lags_ms, 99), 1) if lags_ms else None,
        correlation=take.correlation,
    )


def _answering(take: Take, first: int | None) -> Reply | None:
    """The reply that the first audible sample belongs to."""
    if first is None:
        return None
    before = [reply for reply in take.replies if reply.started_s < take.time_s(first) + 0.1]
    return before[-1] if before else None


def _voice_end_ms(take: Take, heard: Sequence[Told], end: int) -> float | None:
    return round((heard[-1].data["voiced_until_s"] - take.time_s(end)) * 1e3, 1) if heard else None


def _stages(take: Take, reply: Reply | None) -> dict[str, Any]:
    timings = [told for told in take.all_told("timing") if reply is not None and told.at_s >= reply.ended_s - 0.001]
    stages = ("endpoint", "recognise", "think", "speak")
    return {f"{stage}_ms": round(timings[0].data[f"{stage}_s"] * 1e3, 1) if timings else None for stage in stages}


def _ahead(take: Take) -> dict[str, Any]:
    """Of the last reply that was timed."""
    timings = take.all_told("timing")
    if not timings:
        return {}
    data, tally = timings[-1].data, timings[-1].data.get("speculation", {})
    wasted_s = float(tally.get("wasted_s", 0.0))
    return {"ahead": bool(data.get("ahead")), "begun_ahead": int(tally.get("begun", 0)), "wasted_s": wasted_s}


def _reply_span(take: Take, end: int) -> Span:
    """The audible stretch of the reply to the clip: until the next reply begins."""
    first = first_above(take.loudspeaker, AUDIBLE_DBFS, after=end)
    if first is None:
        return Span(end, end)
    later = [take.index(reply.started_s) for reply in take.replies if take.index(reply.started_s) > first]
    return audible(take.loudspeaker[: min(later, default=None)], after=first) or Span(end, end)


def _decoding_until(take: Take, span: Span) -> int:
    """The sample at which the model that was decoding during the span had finished, within the span."""
    ended = [take.index(told.at_s) for told in take.all_told("decoding", on=False)]
    return min((at for at in ended if at > span.start), default=span.start) if len(span) else span.start


def _while_models_work(take: Take, saying: Saying, lags: Sequence[tuple[float, float]]) -> list[float]:
    """The lags in ms from the end of the voice to the end of decoding, which spans recogniser, model and voice."""
    begin_s = take.time_s(take.said_at + saying.end)
    done: list[Told] = take.all_told("decoding", on=False)
    end_s = done[-1].at_s if done else begin_s
    return [lag * 1e3 for lag in with_missed([lag for at_s, lag in lags if begin_s <= at_s <= end_s])]

"""Barge-ins: people talk over the agent, and the time until it is silent is read off the recording."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from discussion_helper.audio.analysis import AUDIBLE_DBFS, SILENT_DBFS, Span, first_above, last_above, turned_down
from discussion_helper.audio.frames import Samples
from discussion_helper.bench.clips import Saying
from discussion_helper.bench.over_reply import OFFSETS_S, resumed, said_over
from discussion_helper.bench.progress import Progress
from discussion_helper.bench.room import Room
from discussion_helper.bench.take import Reply, Take
from discussion_helper.bench.talk_handle import TalkHandle
from discussion_helper.bench.texts import TEXTS

__all__ = ["BargeIn", "BargeInRow", "barge_in_row", "placed", "reply_span", "run_barge_ins"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BargeInRow:
    """One clip that was said over a reply. Times in ms from the clip's first voice at the microphone."""

    clip: str
    speaker: str
    level_dbfs: float
    offset_s: float
    """From the first audible sample of the reply to the first voice of the clip."""
    interrupted: bool
    turned_down_ms: float | None
    """Until the reply was at least 20 dB below its speech level for good."""
    stop_ms: float | None
    """Until nothing was left of it (-60 dBFS), for good."""
    resumed: bool
    """It went on afterwards, so that the agent had not been stopped."""
    understood: str
    heard: str
    """What the transcript says was heard of the reply."""
    heard_words: int
    played_words: int | None = None
    """What the recogniser finds in the played audio; its own mistakes count."""
    correlation: float


@dataclass(frozen=True, slots=True)
class BargeIn:
    """A row, and for counting words afterwards the text of the reply and what was played of it."""

    row: BargeInRow
    said: str
    played: Samples
    rate: int

    def counted(self, played_words: int) -> "BargeIn":
        """With the number of words in what was played."""
        return replace(self, row=replace(self.row, played_words=played_words))


def run_barge_ins(room: Room, talk: TalkHandle, sayings: Sequence[Saying], progress: Progress) -> list[BargeIn]:
    """Say each clip over a reply of its own. Raises DiscussionError."""
    found: list[BargeIn] = []
    for saying, text, offset_s in placed(sayings):
        found.append(barge_in_row(said_over(room, talk, text, saying, offset_s), saying, text))
        row = found[-1].row
        stop = f"silent after {row.stop_ms:.0f} ms" if row.stop_ms is not None else "not interrupted"
        progress.step("barge-ins", len(found), len(sayings), f"{row.clip}: {stop}")
    return found


def placed(sayings: Sequence[Saying]) -> Iterator[tuple[Saying, str, float]]:
    """The text that each is said over, and where: for the same clip another one each time, of 15 that there are."""
    times = Counter[str]()
    for saying in sayings:
        times[saying.name] += 1
        turn = list(times).index(saying.name) + times[saying.name] - 1
        yield saying, TEXTS[turn % len(TEXTS)], OFFSETS_S[turn % len(OFFSETS_S)]


def barge_in_row(take: Take, saying: Saying, text: str) -> BargeIn:
    """Measure one take."""
    reply, start = take.replies[0], take.said_at + saying.start
    span = reply_span(take, reply)
    again, down = resumed(take, reply), turned_down(take.loudspeaker, take.rate, span, after=start)
    row = BargeInRow(
        clip=saying.name,
        speaker=saying.clip.speaker,
        level_dbfs=round(saying.level_dbfs, 1),
        offset_s=round((start - span.start) / take.rate, 2),
        interrupted=reply.interrupted,
        turned_down_ms=take.ms(down - start) if reply.interrupted else None,
        stop_ms=take.ms(span.end - start) if reply.interrupted else None,
        resumed=again is not None,
        understood=take.user_text,
        heard=reply.heard,
        heard_words=len(reply.heard.split()),
        correlation=take.correlation,
    )
    return BargeIn(row, text, take.loudspeaker[span.start : span.end], take.rate)


def reply_span(take: Take, reply: Reply) -> Span:
    """From the first audible sample of a reply to the last one that is not silent, before the next one begins."""
    later = [take.index(other.started_s) for other in take.replies if other.started_s > reply.started_s]
    sound = take.loudspeaker[: min(later, default=None)]
    first = first_above(sound, AUDIBLE_DBFS, after=take.index(reply.started_s))
    last = last_above(sound, SILENT_DBFS, after=first or 0)
    return Span(first, last + 1) if first is not None and last is not None else Span(len(sound), len(sound))

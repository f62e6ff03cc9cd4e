"""Measure what people and sounds over the agent do to it, in the simulated room: duck, decide, stop or go on.

    python -m benchmarks.overlap [--quick] [--clips FOLDER] [--rows FILE] [--delay SECONDS]

The whole of a talk but its devices runs: the canceller, the detectors, the rules, the recogniser (tiny.en), the
session; the agent speaks with pieces of the default voice at -22 dBFS. Each clip is said over a reply, 2.5 s after it
began. Times are from a clip's first voiced sample at the microphone, at the loudspeaker, in ms. The recogniser is
charged 0.3 s a call, as it takes while the machine has other things to do. Loudspeaker and microphone have a latency of
20 and 10 ms. The rooms have 0.25 s of reverberation and noise at -65 dBFS.
"""

import argparse
import csv
import math
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import anyio
import numpy as np
from rich.console import Console
from rich.table import Table

from discussion_helper.audio.analysis import percentile
from discussion_helper.audio.clips import Clip, load_clips
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.resample import resample
from discussion_helper.bench.clips import BARGE_IN_S, Saying, barge_ins, noises, transcribed
from discussion_helper.bench.texts import TEXTS
from discussion_helper.events import Event, Subscription
from discussion_helper.models import Store, load_manifest
from discussion_helper.session import Session
from discussion_helper.stt.whisper import WhisperRecogniser
from discussion_helper.testing.room import After, CutSynthesiser, Echo, InlineRecogniser, Room, Scene, run_in_room
from discussion_helper.tts.piper import PiperSynthesiser
from discussion_helper.types import Message

__all__ = ["main"]

RATE = 48_000
OFFSET_S = 2.5
AGENT_DBFS = -22.0
SETTLED_S = 2.5
"""After a clip's end its turn has ended, was recognised and decided."""
SELF_S = 60.0
ECHOES = (Echo(0.0, None), Echo(0.0, -20.0, 0.05), Echo(0.0, -10.0, 0.1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One clip over one reply."""

    kind: str
    clip: str
    dbfs: float
    echo: str
    ducked_ms: float | None
    silent_ms: float | None
    interrupted: bool
    turned_down_s: float
    """In all, until it was decided."""
    decisions: str
    understood: str


class Nothing:
    """A responder that says nothing."""

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:  # noqa: ARG002 - the port's
        """No sentence."""
        for _ in ():
            yield ""

    async def aclose(self) -> None:
        """Nothing to release."""


def main() -> None:
    """Run everything, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="every fourth clip")
    parser.add_argument("--clips", type=Path, default=Path("audio"), help="folder of the recorded clips")
    parser.add_argument("--rows", type=Path, help="write every row there, as CSV")
    parser.add_argument("--delay", type=float, default=0.3, help="seconds that the recogniser takes")
    given = parser.parse_args()
    bench = Bench(anyio.run(_agent), load_clips(given.clips), given.delay, 4 if given.quick else 1)
    rows = [row for echo in ECHOES for row in bench.rows(echo)]
    console = Console()
    console.print(_people(rows))
    console.print(_sounds(rows))
    console.print(bench.selves())
    if given.rows:
        _write(given.rows, rows)


async def _agent() -> Samples:
    synthesiser = PiperSynthesiser(Store().path_of(load_manifest().model("joe-medium")), steady=True)
    pieces = [resample((await synthesiser.synthesise(text)).samples, synthesiser.rate, RATE) for text in TEXTS]
    await synthesiser.aclose()
    return np.concatenate(pieces)


class Bench:
    """The clips, and how they are said."""

    def __init__(self, agent: Samples, clips: Sequence[Clip], delay_s: float, every: int) -> None:
        self._agent, self._delay_s = agent, delay_s
        count = len({clip.path for clip in transcribed(clips, "en") if clip.duration_s <= BARGE_IN_S})
        self._people = barge_ins(clips, "en", 3 * count)[::every]
        self._sounds = noises(clips, len(clips))[::every]

    def rows(self, echo: Echo) -> list[Row]:
        """Everybody and everything over one echo."""
        return [*self._run(echo, self._people), *self._run(echo, self._sounds)]

    def selves(self) -> Table:
        """What the agent does to itself."""
        table = Table(title=f"nobody speaks, in {SELF_S:.0f} s of speech")
        for column in ("echo", "turned down", "interrupted", "turns"):
            table.add_column(column)
        for gain in (-20.0, -10.0, -6.0, 0.0):
            for delay_s in (0.02, 0.1, 0.4):
                found = self._self(Echo(0.0, gain, delay_s))
                table.add_row(f"{gain:.0f} dB, {1e3 * delay_s:.0f} ms", *map(str, found))
        return table

    def _session(self, room: Room) -> Session:
        model = WhisperRecogniser(Store().path_of(load_manifest().model("tiny.en")), language="en")
        recogniser = InlineRecogniser(model, delay_s=self._delay_s)
        voice = CutSynthesiser(rate=RATE, voice=self._agent, dbfs=AGENT_DBFS)
        return room.session(responder=Nothing(), recogniser=recogniser, synthesiser=voice)

    def _run(self, echo: Echo, sayings: Sequence[Saying]) -> list[Row]:
        ordered = list(enumerate(sayings, 1))

        async def hold(room: Room) -> list[Row]:
            session = self._session(room)
            async with session.events("decision", "utterance") as events:
                session.start()
                return [await _over_a_reply(room, session, events, saying, number) for number, saying in ordered]

        return run_in_room(hold, Room(Scene(echo=echo)))

    def _self(self, echo: Echo) -> tuple[int, int, int]:
        async def hold(room: Room) -> tuple[int, int, int]:
            session = self._session(room)
            async with session.events("decision", "utterance") as events:
                session.start()
                await session.speak(" ".join(TEXTS * 3))
                await room.reached("reply")
                await room.until(lambda: room.now_s > SELF_S, within_s=SELF_S + 1.0)
                told = await _drained(events)
            turned_down = sum("ducked_s" in event.data for event in told)
            cut = sum(event.data.get("what") == "interruption" for event in told)
            return turned_down, cut, sum(event.data.get("speaker") == "user" for event in told)

        return run_in_room(hold, Room(Scene(echo=echo)))


async def _over_a_reply(room: Room, session: Session, events: Subscription[Event], saying: Saying, number: int) -> Row:
    """One reply, and what is said over it. Replies and lines are counted alike: one of each a time."""
    before = len(session.discussion.conversation.utterances)
    await session.speak(TEXTS[number % len(TEXTS)])
    room.say(saying.samples, after=After("reply", number, OFFSET_S), dbfs=None)
    ended = await room.reached("line_end", number)
    await room.until(lambda: room.now_s > ended.at_s + SETTLED_S)
    await room.quiet(1.0)
    told = await _drained(events)
    agent = next(u for u in session.discussion.conversation.utterances[before:] if u.speaker == "agent")
    tape, voice_s = room.recording, room.recording.mark("line", number).at_s + saying.start / RATE
    decided = [event.data for event in told if "ducked_s" in event.data]
    user = [event.data["text"] for event in told if event.data.get("speaker") == "user" and event.data["text"]]
    return Row(
        kind=saying.clip.kind,
        clip=saying.name,
        dbfs=round(saying.level_dbfs),
        echo=_named(room.scene.echoes[0]),
        ducked_ms=_ms(tape.ducked_s(voice_s)) if agent.interrupted else None,
        silent_ms=_ms(tape.silent_s(voice_s)) if agent.interrupted else None,
        interrupted=agent.interrupted,
        turned_down_s=round(sum(data["ducked_s"] for data in decided), 2),
        decisions="; ".join(f"{data['what']}: {data['why']}" for data in decided),
        understood=" ".join(user),
    )


async def _drained(events: Subscription[Event]) -> list[Event]:
    return [await anext(events) for _ in range(len(events))]


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(1e3 * seconds, 1)


def _named(echo: Echo) -> str:
    return "none" if echo.gain_db is None else f"{echo.gain_db:.0f} dB, {1e3 * echo.delay_s:.0f} ms"


# -- tables


def _people(rows: Sequence[Row]) -> Table:
    people = [row for row in rows if row.kind == "speech"]
    table = Table(title="people over the agent, ms, median / P95")
    for column in ("echo", "dBFS", "n", "20 dB down", "silent", "missed"):
        table.add_column(column)
    for echo, dbfs in dict.fromkeys((row.echo, row.dbfs) for row in people):
        here = [row for row in people if (row.echo, row.dbfs) == (echo, dbfs)]
        missed = sum(not row.interrupted for row in here)
        spreads = (_spread(row.ducked_ms for row in here), _spread(row.silent_ms for row in here))
        table.add_row(echo, f"{dbfs:.0f}", str(len(here)), *spreads, str(missed))
    missed = sum(not row.interrupted for row in people)
    spreads = (_spread(row.ducked_ms for row in people), _spread(row.silent_ms for row in people))
    table.add_row("all", "", str(len(people)), *spreads, str(missed))
    return table


def _spread(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None and math.isfinite(value)]
    return f"{median(known):.0f} / {percentile(known, 95):.0f}" if known else "-"


def _sounds(rows: Sequence[Row]) -> Table:
    table = Table(title="sounds over the agent")
    for column in ("echo", "kind", "n", "lost", "turned down, s, median / most", "why"):
        table.add_column(column)
    sounds = [row for row in rows if row.kind != "speech"]
    for echo, kind in dict.fromkeys((row.echo, row.kind) for row in sounds):
        here = [row for row in sounds if (row.echo, row.kind) == (echo, kind)]
        down = [row.turned_down_s for row in here]
        why = Counter(row.decisions.rpartition(": ")[2] or "not turned down" for row in here)
        told = ", ".join(f"{count} {reason}" for reason, count in why.most_common())
        lost = sum(row.interrupted for row in here)
        table.add_row(echo, kind, str(len(here)), str(lost), f"{median(down):.2f} / {max(down):.2f}", told)
    return table


def _write(path: Path, rows: Sequence[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(asdict(rows[0])))
        writer.writeheader()
        writer.writerows(map(asdict, rows))


if __name__ == "__main__":
    main()

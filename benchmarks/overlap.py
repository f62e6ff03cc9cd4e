"""Measure what people and sounds over the agent do to it, in the simulated room: duck, decide, stop or go on.

    python -m benchmarks.overlap [--quick] [--only people|sounds|selves] [--clips FOLDER] [--sounds FOLDER]
                                 [--rooms N] [--rows FILE] [--plot FILE] [--delay SECONDS] [--second SECONDS]

The whole of a talk but its devices runs: the canceller, the detectors, the rules, the recogniser (tiny.en), the
session; the agent speaks with pieces of the default voice at -22 dBFS. Each clip is said over a reply, 2.5 s after it
began. Times are from a clip's first voiced sample at the microphone, at the loudspeaker, in ms. The recogniser is
charged 0.3 s a call, as it takes while the machine has other things to do. Loudspeaker and microphone have a latency of
20 and 10 ms. The rooms have 0.25 s of reverberation and noise at -65 dBFS; those of `--rooms` differ in both. With
`--second` a second opinion is had of base (`stt/second_opinion.py`), which is charged so much.

Sounds are those of `benchmarks.sounds`: the clips', of `--sounds` too (kinds backchannel, noise, music and singing; its
clips of kind speech are people), and babble. The last table judges what the recogniser said of all of them again with
other bars of doubt; `--plot` draws it.
"""

import argparse
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import product
from pathlib import Path

import anyio
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.overlap_rows import Row, curve, draw, people_table, sounds_table, write
from benchmarks.sounds import babbles, people, sounds
from discussion_helper.audio.clips import Clip, load_clips
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Call, Item
from discussion_helper.audio.resample import resample
from discussion_helper.bench.clips import Saying
from discussion_helper.bench.texts import TEXTS
from discussion_helper.events import Event, Subscription
from discussion_helper.models import Store, load_manifest
from discussion_helper.policy import Policy
from discussion_helper.session import Session
from discussion_helper.stt.second_opinion import SecondOpinion
from discussion_helper.stt.whisper import WhisperRecogniser
from discussion_helper.testing.room import After, CutSynthesiser, Echo, InlineRecogniser, Room, Scene, run_in_room
from discussion_helper.tts.piper import PiperSynthesiser
from discussion_helper.types import Message
from discussion_helper.voice.words import Words

__all__ = ["main"]

RATE = 48_000
OFFSET_S = 2.5
AGENT_DBFS = -22.0
SETTLED_S = 2.5
"""After a clip's end its turn has ended, was recognised and decided."""
SELF_S = 60.0
ECHOES = (Echo(0.0, None), Echo(0.0, -20.0, 0.05), Echo(0.0, -10.0, 0.1))


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
    parser.add_argument("--only", choices=("people", "sounds", "selves"), help="a part of it")
    parser.add_argument("--clips", type=Path, default=Path("audio"), help="folder of the recorded clips")
    parser.add_argument("--sounds", type=Path, help="folder of more of them")
    parser.add_argument("--rooms", type=int, default=1, help="so many rooms: other reverberation and noise")
    parser.add_argument("--rows", type=Path, help="write every row there, as CSV")
    parser.add_argument("--plot", type=Path, help="draw the curve over the bar of doubt there, as PNG")
    parser.add_argument("--delay", type=float, default=0.3, help="seconds that the recogniser takes")
    parser.add_argument("--second", type=float, help="seconds that base takes for a second opinion; without it: none")
    given = parser.parse_args()
    clips = [*load_clips(given.clips), *(load_clips(given.sounds) if given.sounds else ())]
    bench = Bench(anyio.run(_agent), given.delay, given.second)
    console = Console()
    if given.only in (None, "people", "sounds"):
        said = _said(clips, given.only)[:: 4 if given.quick else 1]
        rooms = product(range(1, given.rooms + 1), ECHOES)
        _tell(console, [row for seed, echo in rooms for row in bench.rows(echo, said, seed)], given.rows, given.plot)
    if given.only in (None, "selves"):
        console.print(bench.selves())


def _tell(console: Console, rows: Sequence[Row], path: Path | None, plot: Path | None) -> None:
    console.print(people_table(rows), sounds_table(rows), curve(rows))
    if path:
        write(path, rows)
    if plot:
        draw(plot, rows)


def _said(clips: Sequence[Clip], only: str | None) -> list[Saying]:
    """Everybody at three levels; every sound once."""
    who = people(clips, "en") if only != "sounds" else []
    return [*who, *(() if only == "people" else (*sounds(clips), *babbles(clips)))]


async def _agent() -> Samples:
    synthesiser = PiperSynthesiser(Store().path_of(load_manifest().model("joe-medium")), steady=True)
    pieces = [resample((await synthesiser.synthesise(text)).samples, synthesiser.rate, RATE) for text in TEXTS]
    await synthesiser.aclose()
    return np.concatenate(pieces)


class Looks:
    """What the recogniser made of what is said over a reply: all that the audio thread is told of it."""

    def __init__(self) -> None:
        self._words: list[Words] = []

    def add(self, item: Item | None, now_s: float) -> None:  # noqa: ARG002 - a tap's
        """A `Tap`."""
        if isinstance(item, Call) and isinstance(item.about, Words):
            self._words.append(item.about)

    def taken(self) -> tuple[Words, ...]:
        """Those since the last time."""
        words, self._words = tuple(self._words), []
        return words


class Bench:
    """The agent, and how things are said over it."""

    def __init__(self, agent: Samples, delay_s: float, second_s: float | None = None) -> None:
        self._agent, self._delay_s, self._second_s = agent, delay_s, second_s

    def rows(self, echo: Echo, sayings: Sequence[Saying], seed: int) -> list[Row]:
        """Everybody and everything over one echo, in the room of that seed."""
        looks = Looks()

        async def hold(room: Room) -> list[Row]:
            session = self._session(room)
            async with session.events("decision", "utterance") as events:
                session.start()
                return [
                    await _over_a_reply(room, session, events, saying, number, looks.taken)
                    for number, saying in enumerate(sayings, 1)
                ]

        return run_in_room(hold, Room(Scene(echo=echo, seed=seed), tap=looks.add, limit_s=30.0 * (1 + len(sayings))))

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
        first = _recogniser("tiny.en", self._delay_s)
        recogniser = first if self._second_s is None else SecondOpinion(first, _recogniser("base", self._second_s))
        voice = CutSynthesiser(rate=RATE, voice=self._agent, dbfs=AGENT_DBFS)
        quiet = Policy(say_not_understood=False)  # who is never answered is not told so, which would be a reply
        return room.session(responder=Nothing(), recogniser=recogniser, synthesiser=voice, policy=quiet)

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


def _recogniser(name: str, delay_s: float) -> InlineRecogniser:
    model = WhisperRecogniser(Store().path_of(load_manifest().model(name)), language="en")
    return InlineRecogniser(model, delay_s=delay_s)


async def _over_a_reply(
    room: Room,
    session: Session,
    events: Subscription[Event],
    saying: Saying,
    number: int,
    looks: Callable[[], tuple[Words, ...]],
) -> Row:
    """One reply, and what is said over it. Replies and lines are counted alike: one of each a time."""
    before = len(session.discussion.conversation.utterances)
    await session.speak(TEXTS[number % len(TEXTS)])
    room.say(saying.samples, after=After("reply", number, OFFSET_S), dbfs=None)
    ended = await room.reached("line_end", number)
    await room.until(lambda: room.now_s > ended.at_s + SETTLED_S)
    replies = [it for it in session.discussion.conversation.utterances[before:] if it.speaker == "agent"]
    interrupted = any(reply.interrupted for reply in replies)
    tape, voice_s = room.recording, room.recording.mark("line", number).at_s + saying.start / RATE
    await session.interrupt()  # what it would say from here on is of no interest
    await room.quiet(1.0)
    told = await _drained(events)
    decided = [event.data for event in told if "ducked_s" in event.data]
    user = [event.data["text"] for event in told if event.data.get("speaker") == "user" and event.data["text"]]
    return Row(
        kind=saying.clip.kind,
        clip=saying.name,
        dbfs=round(saying.level_dbfs),
        echo=_named(room.scene.echoes[0]),
        ducked_ms=_ms(tape.ducked_s(voice_s)) if interrupted else None,
        silent_ms=_ms(tape.silent_s(voice_s)) if interrupted else None,
        interrupted=interrupted,
        longest_s=max((data["ducked_s"] for data in decided), default=0.0),
        decisions=tuple(f"{data['what']}: {data['why']}" for data in decided),
        understood=" ".join(user),
        looks=looks(),
    )


async def _drained(events: Subscription[Event]) -> list[Event]:
    return [await anext(events) for _ in range(len(events))]


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(1e3 * seconds, 1)


def _named(echo: Echo) -> str:
    return "none" if echo.gain_db is None else f"{echo.gain_db:.0f} dB, {1e3 * echo.delay_s:.0f} ms"


if __name__ == "__main__":
    main()

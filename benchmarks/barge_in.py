"""Measure the onset rule in sample time: how soon people are heard over the agent, and what is wrongly heard.

    python -m benchmarks.barge_in [VOICE] [--quick] [--clips FOLDER]

The agent is the default voice (or the .onnx file or folder given), the people and noises are the recorded clips, the
room is simulated; the canceller, the detectors and the rule are the real ones. No device is needed and nothing waits.
Onsets are counted in ms from a clip's first voice at the microphone; a clip whose onset does not come while it
lasts is missed. `--quick` takes every fourth clip and a third of the rooms.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import anyio
import numpy as np
from rich.console import Console
from rich.table import Table

from discussion_helper.audio.analysis import at_level, percentile, voiced
from discussion_helper.audio.clips import load_clips
from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.audio.resample import resample
from discussion_helper.bench.texts import TEXTS
from discussion_helper.models import Store, load_manifest
from discussion_helper.testing.sample_room import RATE, Echo, SampleRoom
from discussion_helper.tts.piper import PiperSynthesiser
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.turn.turns import TurnSegmenter
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector
from discussion_helper.voice.barge_in import OnsetRule
from discussion_helper.voice.hearing import Hearing

__all__ = ["Mark", "agent_voice", "laid", "main", "rooms", "starting_at"]

CANDIDATES = (0.064, 0.096, 0.128, 0.16, 0.192, 0.256)
"""The judge hears frames of 32 ms."""
LEVELS = (-18.0, -24.0, -30.0)
SOUND_LEVEL = -26.0
LONGEST_S = 8.0
GAP_S = 2.0
"""Between two clips, so that every one is a turn of its own."""
ECHOES = (Echo(0.0, None), Echo(0.0, -20.0, 0.05), Echo(0.0, -10.0, 0.1), Echo(0.0, 0.0, 0.05))
CHANGE_S = 13.3
SELF_S = 20.0
STARTS_S = (0.0, 21.0, 50.0)
"""Where in what the agent says a self-test begins."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a clip's voice is on the timeline of the microphone."""

    start_s: float
    end_s: float


class Recorder(OnsetRule):
    """Records what the rule is asked, for replaying it with every candidate."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[float, bool]] = []

    def step(self, voiced_s: float, *, own: bool = False) -> bool:
        """Never an onset, so that everything is judged to the end."""
        self.asked.append((voiced_s, own))
        self.voiced_s = voiced_s
        return False


@dataclass(slots=True)
class Onsets:
    """What one candidate heard of many clips."""

    after_ms: list[float] = field(default_factory=list)
    missed: int = 0

    def __str__(self) -> str:
        if not self.after_ms:
            return f"missed {self.missed}"
        late = percentile(self.after_ms, 95)
        return f"{median(self.after_ms):.0f} / {late:.0f}" + (f", {self.missed} missed" if self.missed else "")


def main() -> None:
    """Run everything and print three tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("voice", nargs="?", type=Path, help="an .onnx file or its folder")
    parser.add_argument("--quick", action="store_true", help="a small part of it")
    parser.add_argument("--clips", type=Path, default=Path("audio"), help="folder of the recorded clips")
    given = parser.parse_args()
    agent = anyio.run(agent_voice, given.voice or Store().path_of(load_manifest().model("joe-medium")))
    console = Console()
    console.print(_people(agent, given.clips, 4 if given.quick else 1))
    console.print(_sounds(agent, given.clips, 4 if given.quick else 1))
    console.print(_selves(agent, 3 if given.quick else 1))


async def agent_voice(voice: Path) -> Samples:
    synthesiser = PiperSynthesiser(voice, steady=True)
    pieces = [resample((await synthesiser.synthesise(text)).samples, synthesiser.rate, RATE) for text in TEXTS]
    await synthesiser.aclose()
    return np.concatenate([np.pad(piece, (0, RATE // 3)) for piece in pieces])


def _people(agent: Samples, folder: Path, every: int) -> Table:
    clips = [clip for clip in load_clips(folder) if clip.kind == "speech" and clip.duration_s <= LONGEST_S]
    paths = [clip.path for clip in clips if "whisper" not in clip.path.name][::every]
    table = _table(f"{len(paths)} people, onset in ms, median / P95", "echo", "people")
    for echo in ECHOES:
        for level in LEVELS:
            said, marks = laid(paths, level)
            asked = _asked(SampleRoom(echoes=(echo,)), starting_at(agent, 0.0, len(said)), said)
            table.add_row(_named(echo), f"{level:.0f} dBFS", *(str(_onsets(asked, marks, c)) for c in CANDIDATES))
    return table


def _sounds(agent: Samples, folder: Path, every: int) -> Table:
    paths = [clip.path for clip in load_clips(folder) if clip.kind in ("noise", "backchannel")][::every]
    table = _table(f"{len(paths)} sounds that are no turn, onsets", "echo", "sounds")
    for echo in (ECHOES[0], ECHOES[2]):
        for level in (SOUND_LEVEL, None):
            said, marks = laid(paths, level)
            asked = _asked(SampleRoom(echoes=(echo,)), starting_at(agent, 0.0, len(said)), said)
            told = [str(len(_onsets(asked, marks, c).after_ms)) for c in CANDIDATES]
            table.add_row(_named(echo), f"{level:.0f} dBFS" if level else "as recorded", *told)
    return table


def _selves(agent: Samples, every: int) -> Table:
    table = _table("nobody speaks, onsets: with the check for the own voice (without)", "room", "runs")
    silent = np.zeros(round(SELF_S * RATE), np.float32)
    for name, found in rooms().items():
        runs = [_asked(r, starting_at(agent, at_s, len(silent)), silent) for r in found for at_s in STARTS_S[::every]]
        counts = [[sum(len(_told(asked, c, guarded=g)) for asked in runs) for g in (True, False)] for c in CANDIDATES]
        table.add_row(name, str(len(runs)), *(f"{checked} ({unchecked})" for checked, unchecked in counts))
    return table


def rooms() -> dict[str, list[SampleRoom]]:
    """Levels and delays; then what goes wrong in the middle of a talk, in a cable and in two rooms."""
    places = [(0.0, 0.1), (0.05, 0.25), (0.08, 0.25)]
    steady = [
        SampleRoom(echoes=(Echo(0.0, gain, delay),)) for gain in (0.0, -10.0, -20.0) for delay in (0.02, 0.1, 0.4)
    ]

    def changing(first: Echo, then: Echo) -> list[SampleRoom]:
        return [SampleRoom(echoes=(first, then), wetness=wet, reverberation_s=rev) for wet, rev in places]

    usual = (Echo(0.0, -10.0, 0.1),)
    return {
        "0 to -20 dB, 20 to 400 ms": steady,
        "echo switched on, -10 dB": changing(Echo(0.0, None), Echo(CHANGE_S, -10.0, 0.1)),
        "echo switched on, -20 dB": changing(Echo(0.0, None), Echo(CHANGE_S, -20.0, 0.2)),
        "turned up by 6 dB": changing(Echo(0.0, -16.0, 0.1), Echo(CHANGE_S, -10.0, 0.1)),
        "turned up by 12 dB": changing(Echo(0.0, -18.0, 0.05), Echo(CHANGE_S, -6.0, 0.05)),
        "60 ms later": changing(Echo(0.0, -10.0, 0.05), Echo(CHANGE_S, -10.0, 0.11)),
        "300 ms later": changing(Echo(0.0, -10.0, 0.05), Echo(CHANGE_S, -10.0, 0.35)),
        "blocks lost": [SampleRoom(echoes=usual, lost={1000, *range(1500, 1505)})],
        "stamps 20 ms wrong": [SampleRoom(echoes=usual, wrong_from_s=CHANGE_S, wrong_s=s) for s in (0.02, -0.02)],
        "stamps 40 ms wrong": [SampleRoom(echoes=usual, wrong_from_s=CHANGE_S, wrong_s=0.04)],
    }


# -- running


def _asked(room: SampleRoom, played: Samples, said: Samples) -> list[tuple[float, bool]]:
    """What the rule was asked in every 10 ms."""
    recorder = Recorder()
    tracker = ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector())
    segmenter = TurnSegmenter(tracker, SilenceEndpointer())
    hearing = Hearing(RATE, segmenter=segmenter, echo=EchoPath(), onset=recorder)
    for item in room.items(played, said):
        hearing.played(item) if isinstance(item, Played) else hearing.captured(item)
    return recorder.asked


def _told(asked: Sequence[tuple[float, bool]], min_speech_s: float, *, guarded: bool = True) -> list[float]:
    """When the rule says that this is an interruption."""
    rule = OnsetRule(min_speech_s=min_speech_s)
    steps = (rule.step(voiced_s, own=own and guarded) for voiced_s, own in asked)
    return [number / 100 for number, told in enumerate(steps, 1) if told]


def _onsets(asked: Sequence[tuple[float, bool]], marks: Sequence[Mark], min_speech_s: float) -> Onsets:
    told, onsets = _told(asked, min_speech_s), Onsets()
    for mark in marks:
        first = next((at_s for at_s in told if mark.start_s < at_s < mark.end_s), None)
        if first is None:
            onsets.missed += 1
        else:
            onsets.after_ms.append(1e3 * (first - mark.start_s))
    return onsets


def laid(paths: Sequence[Path], level: float | None) -> tuple[Samples, list[Mark]]:
    """The clips one after the other."""
    pieces, marks, at = [np.zeros(2 * RATE, np.float32)], [], 2 * RATE
    for path in paths:
        samples = load(path, RATE).samples
        voice = voiced(samples, RATE)
        samples = samples if level is None else at_level(samples, voice.level_dbfs, level)
        pieces.append(np.pad(samples, (0, round(GAP_S * RATE))))
        marks.append(Mark((at + voice.start) / RATE, max((at + voice.end) / RATE, (at + voice.start) / RATE + 0.5)))
        at += len(pieces[-1])
    return np.concatenate(pieces), marks


def starting_at(agent: Samples, start_s: float, count: int) -> Samples:
    return np.resize(np.roll(agent, -round(start_s * RATE)), count)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title)
    for column in (*columns, *_seconds(CANDIDATES)):
        table.add_column(column)
    return table


def _seconds(values: Sequence[float]) -> Iterator[str]:
    return (f"{value:g} s" for value in values)


def _named(echo: Echo) -> str:
    return "none" if echo.gain_db is None else f"{echo.gain_db:.0f} dB, {1e3 * echo.delay_s:.0f} ms"


if __name__ == "__main__":
    main()

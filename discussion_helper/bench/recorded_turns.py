"""The turns of recorded people: where they pause, and what is known in each pause."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import anyio
import numpy as np

from discussion_helper.audio.analysis import voiced
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.models import Store, load_manifest
from discussion_helper.stt.whisper import WhisperRecogniser
from discussion_helper.turn.activity import ActivityTracker, VoiceStarted
from discussion_helper.turn.completeness import Completeness, completeness_languages
from discussion_helper.turn.prosody import Prosody
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector
from discussion_helper.voice.finishing import ASK_S, HEARD_S
from discussion_helper.voice.tail import with_tail

__all__ = [
    "AFTER_S",
    "BEFORE_S",
    "BLOCK",
    "PREROLL_S",
    "RATE",
    "TAIL_S",
    "Pause",
    "RecordedTurn",
    "Recording",
    "read_turns",
    "recordings_in",
    "save_turns",
    "turns_of",
]

RATE = 16_000
BLOCK = RATE // 100
BEFORE_S, AFTER_S = 0.5, 3.0
"""Faint noise around a turn, at the level of its quietest moments."""
_SERIES = len("ami_EN2001")
"""The letter behind it numbers the meetings of one series."""
PREROLL_S, TAIL_S = 0.3, 0.05
"""Around the voice, as the segmenter gives a turn to the recogniser."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One turn of one person: `dialogue`, or `read`."""

    name: str
    kind: str
    language: str
    samples: Samples


@dataclass(frozen=True, slots=True)
class Pause:
    """The voice stopped at sample `until`; after `gap_s` it was certain that it went on, -1.0 = it did not.

    `scores`: of the prosody after each of `ASK_S`, as far as it was silent for so long; `complete`: of the text, -1.0 =
    unknown. What a recogniser makes of half a turn it makes with all that came before.
    """

    until: int
    gap_s: float
    voiced_s: float
    scores: tuple[float, ...]
    complete: float


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """From its first voice at sample `started` to the sample after its last, `end`, by the sound's own level."""

    name: str
    kind: str
    started: int
    end: int
    pauses: tuple[Pause, ...]

    @property
    def conversation(self) -> str:
        """What is left out together: the meetings of the same people, a scene, the read clips of one collection."""
        path = PurePosixPath(self.name)
        if self.kind == "read":
            return path.name.partition("_")[0]
        return path.name[:_SERIES] if path.name.startswith("ami_") else path.parent.name


def recordings_in(folder: Path) -> list[Recording]:
    """Clips of one person, one turn each, and of meetings with timed words those turns in which nobody else speaks."""
    with (folder / "manifest.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return [recording for row in rows for recording in _recordings(folder, row)]


def _recordings(folder: Path, row: Mapping[str, str]) -> Iterator[Recording]:
    kind, labels = row["kind"], row.get("labels", "")
    if kind == "dialogue" and labels.endswith(".json"):
        words = json.loads((folder / labels).read_text("utf-8"))
        yield from _meeting(row["file"], load(folder / row["file"], RATE).samples, words)
    elif kind == "speech" or (kind == "dialogue" and row.get("transcript_kind", "").startswith("script")):
        name = "dialogue" if kind == "dialogue" else "read"
        yield Recording(row["file"], name, row["language"], load(folder / row["file"], RATE).samples)


def _meeting(file: str, samples: Samples, labels: Mapping[str, Any]) -> Iterator[Recording]:
    length_s = len(samples) / RATE
    for turn in labels["turns"]:
        others = [word for word in labels["words"] if word["speaker"] != turn["speaker"]]
        alone = all(it["end"] <= turn["start"] + 0.05 or it["start"] >= turn["end"] - 0.05 for it in others)
        if not alone or turn["end"] > length_s - 0.5:
            continue
        next_s = min((it["start"] for it in others if it["start"] >= turn["end"] - 0.05), default=length_s)
        start, end = max(0.0, turn["start"] - PREROLL_S), min(turn["end"] + 0.15, next_s)
        yield Recording(f"{file}@{turn['start']:.2f}", "dialogue", "en", samples[int(start * RATE) : int(end * RATE)])


def turns_of(recordings: Sequence[Recording], prosody: Prosody) -> list[RecordedTurn]:
    """Hear and read them all, with tiny.en what is English and with base what else there are words for."""
    return anyio.run(_turns, recordings, prosody)


async def _turns(recordings: Sequence[Recording], prosody: Prosody) -> list[RecordedTurn]:
    readers: dict[str, WhisperRecogniser] = {}
    found = []
    for recording in recordings:
        language = recording.language.split("-")[0].split(" ")[0]
        if language in completeness_languages() and language not in readers:
            model = load_manifest().model("tiny.en" if language == "en" else "base")
            readers[language] = WhisperRecogniser(Store().path_of(model), language=language)
        turn = await _turn(recording, prosody, readers.get(language), Completeness(language))
        found += [turn] if turn.pauses else []
    return found


async def _turn(
    recording: Recording, prosody: Prosody, reader: WhisperRecogniser | None, judge: Completeness
) -> RecordedTurn:
    sound = _in_a_quiet_room(recording)
    end = voiced(recording.samples, RATE).end + round(BEFORE_S * RATE)
    changes = list(_changes(sound))
    first = max(0, changes[0][1] - round(PREROLL_S * RATE)) if changes else 0
    pauses = []
    for at, (started, until, _, voiced_s) in enumerate(changes):
        if started:
            continue
        following = changes[at + 1] if at + 1 < len(changes) else None
        gap_s = -1.0 if following is None else (following[2] - until) / RATE
        ends = [until + round(ask_s * RATE) for ask_s in ASK_S if gap_s < 0.0 or ask_s < gap_s]
        heard = [sound[first:ask] for ask in ends]
        scores = tuple(round(prosody.score(it[-round(HEARD_S * RATE) :]), 3) for it in heard)
        complete = None
        if reader is not None and scores:
            read = await reader.recognise(with_tail(sound[first : until + round(TAIL_S * RATE)]), voiced_s=voiced_s)
            doubt = read.no_speech_probability - read.average_logprob
            complete = judge.of(read.text, doubt=doubt) if read.text else None
        pauses.append(Pause(until, round(gap_s, 3), round(voiced_s, 3), scores, -1.0 if complete is None else complete))
    return RecordedTurn(recording.name, recording.kind, first, end, tuple(pauses))


def _in_a_quiet_room(recording: Recording) -> Samples:
    blocks = recording.samples[: len(recording.samples) // BLOCK * BLOCK].reshape(-1, BLOCK)
    quiet = float(np.percentile(np.sqrt(np.square(blocks).mean(axis=1)), 5)) if len(blocks) else 0.0
    dice, level = np.random.default_rng(0), min(max(quiet, 1e-5), 1e-3)
    before, after = (dice.normal(0.0, level, round(seconds * RATE)) for seconds in (BEFORE_S, AFTER_S))
    return np.concatenate((before, recording.samples, after)).astype(np.float32)


def _changes(sound: Samples) -> Iterator[tuple[bool, int, int, float]]:
    """Whether a voice started or stopped, where, when that was known, and the seconds of voice until then."""
    tracker = ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector())
    for start in range(0, len(sound) - BLOCK + 1, BLOCK):
        for change in tracker.feed(sound[start : start + BLOCK]):
            yield isinstance(change, VoiceStarted), change.sample, start + BLOCK, tracker.voiced_s


def save_turns(turns: Sequence[RecordedTurn], path: Path) -> None:
    """As JSON, one turn a line."""
    lines = ",\n".join(json.dumps(asdict(turn), separators=(",", ":")) for turn in turns)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def read_turns(path: Path) -> list[RecordedTurn]:
    """What `save_turns` wrote."""
    found = []
    for values in json.loads(path.read_text("utf-8")):
        pauses = tuple(Pause(**{**pause, "scores": tuple(pause["scores"])}) for pause in values.pop("pauses"))
        found.append(RecordedTurn(**values, pauses=pauses))
    return found

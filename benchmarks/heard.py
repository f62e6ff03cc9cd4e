"""Measure how well the words that were heard of a cut reply are told.

    python -m benchmarks.heard [VOICE] [--cuts N]

A voice (default: the store's; an .onnx file or its folder) reads sentences with numbers, abbreviations, names, marks
and addresses; each is cut at random places, and as many words as are then stored are compared with as many as were
played. That is known independently: a recogniser (whisper `base`, with word timestamps) hears the whole audio, its
words are matched with the sentence's by their letters, and how each written word is said was written down by hand. A
word was played when three quarters of what the recogniser takes for it were. Its mistakes count, but sentences of which
it does not get 90 % of the letters are left out. Its words begin and end some 70 ms early, a quarter of a word.

The second table needs no recogniser: sentences with many marks are cut in the middle of every silence of the audio, so
that the words before the mark were played and no others. Sentences with more or fewer silences than marks are left out.
German, French and Spanish are read by the same network with the phonemiser's rules for them: with too much of an accent
for a recogniser, but with the same pauses.
"""

import argparse
import json
import random
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from rich.console import Console
from rich.table import Table

from discussion_helper.audio.analysis import percentile
from discussion_helper.audio.resample import resample
from discussion_helper.models import Store, load_manifest
from discussion_helper.reply import estimate_heard
from discussion_helper.tts.alignment import align
from discussion_helper.tts.base import Speech
from discussion_helper.tts.heard import HEARD_SHARE, heard_of, heard_words
from discussion_helper.tts.piper import PiperSynthesiser
from discussion_helper.tts.speakable import speakable
from discussion_helper.tts.voice_files import find_voice

__all__ = ["main"]

# A written word that is not said as it stands is followed by how it is: "$3.50{three dollars fifty}".
TEXTS = (
    "I would be glad to help you with your trip to the mountains next week if you tell me more.",
    "The ticket costs $3.50{three dollars fifty} and the train leaves at 14:30{fourteen thirty} from platform "
    "7{seven}.",
    "Dr.{doctor} Smith paid 120{one hundred and twenty} dollars for the 5{five} km{kilometers} ride, which is "
    "12%{twelve percent} less than in 1999{nineteen ninety nine}.",
    "One of the things that you can do in the city is to go to the museum. It is open on most of the days!",
    "It is 22.5{twenty two point five} °C{degrees Celsius} in Paris today, and 18{eighteen} °C{degrees Celsius} "
    "in Berlin.",
    "Please visit https://www.example.com/help{example dot com} for more, or ask Mrs.{missus} Johnson about it.",
    "The **second** option is *cheaper*, e.g.{for example} you could take the bus instead of a taxi.",
    "Maria and Jonathan will meet you at the station on May 3,{third} at about half past two.",
    "About 50%{fifty percent} of the people agree with you; the others would rather wait until tomorrow morning.",
    "Don't worry, I'm sure that it's going to be all right, and we'll find out what they've done with it.",
    "Washington was the first president of the U.S.{us} and he lived in Virginia until he died in "
    "1799{seventeen ninety nine}.",
    "You need 2{two} eggs, 250{two hundred and fifty} g{grams} of flour, and 1/2{a half} of a lemon. Mix them.",
    "Well, yes. No, not quite. It depends on the weather, I think, and on how much time you have.",
    "The answer is 3{three} x{times} 4{four} ={equals} 12,{twelve} as you have probably learned at school.",
    "See [the long report of the city](https://example.org/report) for all of the details about the new bridge.",
    "Mr.{mister} Brown and Prof.{professor} Lee wrote chapter 12{twelve} of it, vs.{versus} only 3{three} pages by "
    "the others.",
)
PAUSING = {
    "en": (
        "Well, yes, but no; it depends on the weather, I think, and on 22.5 °C, or so, at half past two, perhaps.",
        "One, two of the three, four in the box, $3.50 for it, Dr. Smith, or 12% of the rest, then five, six, seven.",
    ),
    "de": (
        "Es hat heute 22,1 °C, wenn ich mich nicht irre, und morgen, am Dienstag, wird es wärmer, sagt man.",
        "Der Zug, der um 14:30 fährt, kostet 25 €, glaube ich, z.B. nach München, oder, besser, nach Hamburg.",
    ),
    "fr": (
        "Les enfants, qui sont allés à la plage, avec leurs amis, ont aimé l'eau, le soleil, et les vacances.",
        "Le billet coûte 12,50 €, je crois, et le train part à 8 h 30, ou peut-être vers midi, dit-on.",
    ),
    "es": (
        "El Sr. García, que vive en una casa grande, tiene tres hijos, dos perros, y, a veces, un gato.",
        "El billete cuesta 12 €, creo, y el tren sale a las 8, o, quizás, a las 9, de la mañana.",
    ),
}
PAUSE_S = 0.12
SILENT = 10 ** (-55 / 20)
"""RMS over 5 ms, full scale 1.0."""
READINGS = 4
ESPEAK = {"de": "de", "fr": "fr", "es": "es"}

METHODS = ("phoneme durations", "estimate by letters", "speaking rate")
UNDERSTOOD = 0.9
COLUMNS = 120
"""Of the tables, which a pipe would else have in 80, with their cells broken."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Read:
    """A sentence that was read out, and when each of its words was heard, in seconds."""

    speech: Speech
    spans: list[tuple[float, float]]
    understood: float
    """Share of the letters that the recogniser got right."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Words told less words played, by method."""

    language: str
    errors: tuple[int, ...]


def main() -> None:
    """Read the command line, measure, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "voice", nargs="?", type=Path, help="an .onnx file or its folder; the default voice if left out"
    )
    parser.add_argument("--cuts", type=int, default=200, help="cuts at random places")
    given = parser.parse_args()
    voice = given.voice or Store().path_of(load_manifest().model("joe-medium"))
    reads = anyio.run(_read_all, voice)
    known = [read for read in reads if read.understood >= UNDERSTOOD]
    title = f"{find_voice(voice).name}: words told less words played, {len(known)} of {len(reads)} sentences"
    console = Console(width=COLUMNS)
    console.print(_table(list(_random_cuts(known, given.cuts)), f"{title}, cut anywhere"))
    pausing = anyio.run(_read_pausing, voice)
    silences = [(language, speech, _silences(speech)) for language, speech in pausing]
    fitting = [found for found in silences if len(found[2]) == len(_marked(found[1].text))]
    title = f"Words told less words played, {len(fitting)} of {len(silences)} sentences, cut in silences"
    console.print(_table([cut for found in fitting for cut in _cuts_in_silences(*found)], title))
    console.print(_edge_table([edge for _, speech, found in fitting for edge in _edges(speech, found)]))


# -- reading and recognising


async def _read_all(voice: Path) -> list[Read]:
    from faster_whisper import WhisperModel

    path = Store().path_of(load_manifest().model("base"))
    recogniser = WhisperModel(str(path), device="cpu", compute_type="int8", cpu_threads=2)
    synthesiser = PiperSynthesiser(voice)
    reads: list[Read] = []
    for text in TEXTS:
        written, said = _written_and_said(text)
        reads.append(_recognised(await synthesiser.synthesise(" ".join(written)), said, recogniser))
    await synthesiser.aclose()
    return reads


async def _read_pausing(voice: Path) -> list[tuple[str, Speech]]:
    found: list[tuple[str, Speech]] = []
    with tempfile.TemporaryDirectory() as folder:
        for language, texts in PAUSING.items():
            synthesiser = PiperSynthesiser(_voice_of(voice, language, Path(folder)), language=language)
            found += [(language, await synthesiser.synthesise(text)) for text in texts for _ in range(READINGS)]
            await synthesiser.aclose()
    return found


def _voice_of(voice: Path, language: str, folder: Path) -> Path:
    """The same network, described as one that speaks another language."""
    if language not in ESPEAK:
        return voice
    files = find_voice(voice)
    model = folder / language / files.model.name
    model.parent.mkdir()
    shutil.copyfile(files.model, model)
    description = dict(files.description) | {"espeak": {"voice": ESPEAK[language]}}
    model.with_name(f"{model.name}.json").write_text(json.dumps(description), encoding="utf-8")
    return model


def _written_and_said(text: str) -> tuple[list[str], list[str]]:
    written, said = [], []
    for word in _words(text):
        form, _, spoken = word.partition("{")
        written.append(form)
        said.append(_letters(spoken if spoken else _unmarked(form)))
    return written, said


def _words(text: str) -> Iterator[str]:
    """The words of a text, the braces after a word with it."""
    held: list[str] = []
    for part in text.split():
        held.append(part)
        joined = " ".join(held)
        if joined.count("{") == joined.count("}"):
            yield joined
            held = []


def _unmarked(word: str) -> str:
    """A link's address is not said."""
    return word.partition("](")[0]


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.lower()))


def _recognised(speech: Speech, said: Sequence[str], recogniser: Any) -> Read:
    """From when to when each word was heard, by the recogniser."""
    sound = np.concatenate([resample(speech.samples, speech.rate, 16_000), np.zeros(8_000, np.float32)])
    segments, _ = recogniser.transcribe(sound, language="en", beam_size=5, word_timestamps=True)
    letters: list[str] = []
    times: list[tuple[float, float]] = []
    for word in (word for segment in segments for word in segment.words):
        own = _letters(speakable(word.word))
        letters += own
        times += pairwise(np.linspace(word.start, word.end, len(own) + 1).tolist())
    expected = "".join(said)
    found = align(expected, letters)
    right = sum(index >= 0 and letters[index] == letter for letter, index in zip(expected, found, strict=True))
    return Read(speech, _spans(said, found, times), right / len(expected))


def _spans(
    said: Sequence[str], found: Sequence[int], times: Sequence[tuple[float, float]]
) -> list[tuple[float, float]]:
    spans: list[tuple[float, float]] = []
    first = 0
    for end in accumulate(map(len, said)):
        own = [times[index] for index in found[first:end] if index >= 0]
        before = spans[-1][1] if spans else 0.0
        spans.append((own[0][0], own[-1][1]) if own else (before, before))
        first = end
    return spans


# -- cutting


def _random_cuts(reads: Sequence[Read], count: int) -> Iterator[Cut]:
    chance = random.Random(1)
    for _ in range(count):
        read = chance.choice(reads)
        played = chance.randrange(1, len(read.speech.samples))
        seconds = played / read.speech.rate
        truth = sum(start + HEARD_SHARE * (stop - start) <= seconds for start, stop in read.spans)
        yield _cut("en", read.speech, played, truth)


def _cuts_in_silences(language: str, speech: Speech, silences: Sequence[Span]) -> Iterator[Cut]:
    for (start, stop), words in zip(silences, _marked(speech.text), strict=True):
        yield _cut(language, speech, (start + stop) // 2, words)


def _cut(language: str, speech: Speech, played: int, truth: int) -> Cut:
    seconds = played / speech.rate
    told = (
        heard_of(speech.text, speech.words or (), played),
        heard_words(speech.text, seconds, len(speech.samples) / speech.rate, language=language),
        estimate_heard(speech.text, seconds),
    )
    return Cut(language, tuple(len(text.split()) - truth for text in told))


def _marked(text: str) -> list[int]:
    """How many words there are up to each mark, but for the last."""
    return [count for count, word in enumerate(text.split()[:-1], 1) if word[-1] in ",;"]


def _silences(speech: Speech) -> list[Span]:
    """Where the audio is silent for longer than within words, its end left out, in samples."""
    window = speech.rate // 200
    whole = speech.samples[: len(speech.samples) // window * window].reshape(-1, window)
    loud = np.flatnonzero(np.mean(np.square(whole), axis=1) > SILENT**2)
    gaps = ((int(last) + 1, int(first)) for last, first in pairwise(loud))
    return [(last * window, first * window) for last, first in gaps if (first - last) * window > PAUSE_S * speech.rate]


def _edges(speech: Speech, silences: Sequence[Span]) -> Iterator[tuple[float, float]]:
    """When each silence begins and ends, less when the words around it end and begin, in ms."""
    words = speech.words or ()
    by_count = {len(speech.text[: word.end].split()): (word, after) for word, after in pairwise(words)}
    for (start, stop), count in zip(silences, _marked(speech.text), strict=True):
        if count in by_count:
            word, after = by_count[count]
            yield 1000 * (start - word.stop) / speech.rate, 1000 * (stop - after.start) / speech.rate


# -- tables


def _table(cuts: Sequence[Cut], title: str) -> Table:
    table = Table("language", "method", "cuts", "median", "P95", "worst", "bias", "within one word", title=title)
    for language in dict.fromkeys(cut.language for cut in cuts):
        for place, method in enumerate(METHODS):
            errors = [cut.errors[place] for cut in cuts if cut.language == language]
            sizes = sorted(map(abs, errors))
            table.add_row(
                language,
                method,
                str(len(errors)),
                f"{statistics.median(sizes):g}",
                f"{percentile(sizes, 95):.1f}",
                str(sizes[-1]),
                f"{statistics.fmean(errors):+.2f}",
                f"{sum(size <= 1 for size in sizes) / len(sizes):.0%}",
            )
    return table


def _edge_table(edges: Sequence[tuple[float, float]]) -> Table:
    table = Table("the audio less the words' times, in ms", "silences", "median", "P5", "P95")
    for name, values in zip(
        ("silence begins, word ends", "silence ends, word begins"), zip(*edges, strict=True), strict=True
    ):
        table.add_row(name, str(len(values)), *(f"{percentile(values, percent):.0f}" for percent in (50, 5, 95)))
    return table


if __name__ == "__main__":
    main()

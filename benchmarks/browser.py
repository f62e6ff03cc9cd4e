"""Measure a talk in a browser: voice to voice, and how soon a person who talks over the agent is heard.

    python -m benchmarks.browser [--turns N] [--barge-ins N] [--clips FOLDER] [--output FOLDER]

A headless Chromium whose microphone is a file with recorded people talks to a server on this machine through the page,
with the models of a talk: the page's own capture with the browser's echo canceller, the socket, the audio core, and
the page's player. Both voices are the page's recording, whose channels share the clock of its audio context; there is
no echo, and the time of the devices themselves is not in it. Voice to voice is from a clip's last voice to the first
audible sample of the reply. Over the agent each clip is said 5 to 6.5 s after the one before it, over the reply to
that; its times are from its first voice until the reply is 20 dB down, and until nothing is left of it (-60 dBFS).

Needs `chromium`, and the models. `--output` keeps the recordings and a row for each clip.
"""

import argparse
import csv
import os
import re
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import cycle
from pathlib import Path

import anyio
import numpy as np
import soundfile
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream
from playwright.async_api import Page, async_playwright
from rich.console import Console

from discussion_helper.audio.analysis import (
    AUDIBLE_DBFS,
    SILENT_DBFS,
    Span,
    first_above,
    last_above,
    percentile,
    turned_down,
)
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.resample import resample
from discussion_helper.bench.clips import RATE, Saying, barge_ins, load_all, turns

__all__ = ["main"]

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    *("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"),
)
FIRST_S = 12.0
"""Before the first clip: the models are loaded meanwhile."""
TURN_GAP_S = 12.0
OVER_S = (5.0, 5.5, 6.0, 6.5)
"""From the end of one clip to the next one over its reply, in turn."""
LAST_S = 6.0
PEOPLE = Path(__file__).parents[1] / "audio"


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one clip. Times in ms; None where the reply was not there, or did not end."""

    clip: str
    voice_to_voice_ms: float | None = None
    turned_down_ms: float | None = None
    stop_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """Both channels of a page's recording, and where each clip is in it."""

    user: Samples
    agent: Samples
    rate: int
    places: list[Span]

    def ms(self, samples: int) -> float:
        """How long they are."""
        return round(1000.0 * samples / self.rate, 1)


def laid_out(sayings: Sequence[Saying], gaps_s: Sequence[float]) -> tuple[Samples, list[int]]:
    """One microphone signal with a gap after each clip, and where the clips begin in it."""
    noise = np.random.default_rng(1).normal(0.0, 1e-4, 1)
    parts, places, length = [_quiet(FIRST_S)], [], round(FIRST_S * RATE)
    for saying, gap_s in zip(sayings, cycle(gaps_s), strict=False):
        places.append(length)
        parts += [saying.samples, _quiet(gap_s)]
        length += len(saying.samples) + len(parts[-1])
    parts.append(_quiet(LAST_S + 30.0))  # the file begins again only when nobody listens any more
    return np.concatenate(parts) + np.float32(noise[0]), places


def _quiet(seconds: float) -> Samples:
    return np.random.default_rng(1).normal(0.0, 1e-4, round(seconds * RATE)).astype(np.float32)


def located(user: Samples, rate: int, sayings: Sequence[Saying], places: Sequence[int]) -> list[Span]:
    """Where each clip's voice is in what the page heard, by correlation near to where the first one says it is."""
    spans: list[Span] = []
    shift = None
    for saying, place in zip(sayings, places, strict=True):
        clip = resample(saying.samples, RATE, rate)
        start = round(place / RATE * rate) + (shift or 0)
        around = (FIRST_S + 5.0 if shift is None else 0.5) * rate
        low = max(0, round(start - around))
        found = low + _best(user[low : round(start + around) + len(clip)], clip)
        shift = found - round(place / RATE * rate)
        spans.append(Span(found + round(saying.start / RATE * rate), found + round(saying.end / RATE * rate)))
    return spans


def _best(within: Samples, clip: Samples) -> int:
    size = 1 << (len(within) + len(clip)).bit_length()
    spectrum = np.fft.rfft(within, size) * np.conj(np.fft.rfft(clip, size))
    return int(np.argmax(np.fft.irfft(spectrum, size)[: max(1, len(within) - len(clip) // 2)]))


def turn_rows(recorded: Recorded, sayings: Sequence[Saying]) -> Iterator[Row]:
    """How long each clip waited for its answer."""
    for saying, span in zip(sayings, recorded.places, strict=True):
        first = first_above(recorded.agent, AUDIBLE_DBFS, after=span.end)
        before = recorded.agent[span.start : span.end]
        spoken_over = len(before) and first_above(before, AUDIBLE_DBFS) is not None
        late = first is None or first - span.end > TURN_GAP_S * recorded.rate
        yield Row(saying.name, None if late or spoken_over or first is None else recorded.ms(first - span.end))


def over_rows(recorded: Recorded, sayings: Sequence[Saying]) -> Iterator[Row]:
    """What each clip but the first did to the reply it was said over."""
    places = recorded.places
    for saying, before, span, after in zip(
        sayings[1:], places[:-1], places[1:], [*places[2:], Span(len(recorded.agent), 0)], strict=True
    ):
        begun = first_above(recorded.agent, AUDIBLE_DBFS, after=before.end)
        if begun is None or begun > span.start - recorded.rate // 2:
            yield Row(saying.name)
            continue
        yield _cut(recorded, saying, Span(begun, after.start), span)


def _cut(recorded: Recorded, saying: Saying, reply: Span, said: Span) -> Row:
    """The reply ends where it is silent for half a second, or it was not cut; the next reply is another one."""
    agent, step = recorded.agent, recorded.rate // 2
    end = said.start
    while (last := last_above(agent[end : end + step], SILENT_DBFS)) is not None and end + last + 1 < reply.end:
        end += last + 1
    cut = Span(reply.start, end)
    if end > said.end + 2 * recorded.rate:
        return Row(saying.name)
    down = turned_down(agent, recorded.rate, cut, after=said.start) - said.start
    return Row(saying.name, None, recorded.ms(down), recorded.ms(end - said.start))


@asynccontextmanager
async def _served(*flags: str) -> AsyncIterator[str]:
    """A server in a process of its own, and the link to its page."""
    token = secrets.token_urlsafe(16)
    environment = {**os.environ, "DISCUSSION_HELPER_TOKEN": token}
    command = [sys.executable, "-m", "benchmarks.browser_server", *flags]
    async with await anyio.open_process(command, env=environment, stderr=None) as process:
        try:
            yield f"http://127.0.0.1:{await _port(process)}/?token={token}"
        finally:
            with anyio.CancelScope(shield=True):
                process.send_signal(signal.SIGTERM)
                await process.wait()


async def _port(process: Process) -> int:
    assert process.stdout is not None
    text = ""
    async for piece in TextReceiveStream(process.stdout):
        text += piece
        if text.endswith("\n"):
            return int(text)
    raise RuntimeError("The server ended at once.")


async def _talk(link: str, file: Path, seconds: float, output: Path) -> None:
    """Talk for so long in a page whose microphone hears the file, and keep what it recorded."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*FLAGS, f"--use-file-for-fake-audio-capture={file}"]
        )
        page = await browser.new_page()
        await page.goto(link)
        await page.click("#open-browser")
        await page.locator("#audio-state", has_text="Connected").wait_for()
        await page.check("#record")
        await anyio.sleep(seconds)
        await _save(page, output)
        await browser.close()


async def _save(page: Page, output: Path) -> None:
    async with page.expect_download() as saving:
        await page.click("#save-wav")
    await (await saving.value).save_as(output)


async def _measured(sayings: Sequence[Saying], gaps_s: Sequence[float], output: Path, *flags: str) -> Recorded:
    signal_, places = laid_out(sayings, gaps_s)
    file = output.with_suffix(".microphone.wav")
    soundfile.write(file, signal_, RATE, subtype="PCM_16")
    spoken_s = places[-1] / RATE + sayings[-1].duration_s + LAST_S + TURN_GAP_S / 2
    async with _served(*flags) as link:
        await _talk(link, file, spoken_s, output)
    both, rate = soundfile.read(output, dtype="float32", always_2d=True)
    return Recorded(both[:, 0], both[:, 1], rate, located(both[:, 0], rate, sayings, places))


def _show(console: Console, name: str, times: Sequence[float | None]) -> None:
    known = [time for time in times if time is not None]
    figures = f"median {percentile(known, 50):.0f} ms, P95 {percentile(known, 95):.0f} ms"
    console.print(f"{name}: {len(known)} of {len(times)}: {figures}")


def _keep(rows: Sequence[Row], file: Path) -> None:
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, [*asdict(rows[0])])
        writer.writeheader()
        writer.writerows(map(asdict, rows))


def _run(arguments: argparse.Namespace, folder: Path, console: Console) -> None:
    clips = load_all(arguments.clips)
    if arguments.turns:
        said = turns(clips, "en", arguments.turns)
        rows = list(turn_rows(anyio.run(_measured, said, (TURN_GAP_S,), folder / "turns.wav"), said))
        _keep(rows, folder / "turns.csv")
        _show(console, "voice to voice", [row.voice_to_voice_ms for row in rows])
    if arguments.barge_ins:
        over = barge_ins(clips, "en", arguments.barge_ins + 1)
        heard = anyio.run(partial(_measured), over, OVER_S, folder / "barge-ins.wav", "--texts")
        rows = list(over_rows(heard, over))
        _keep(rows, folder / "barge_ins.csv")
        _show(console, "20 dB down", [row.turned_down_ms for row in rows])
        _show(console, "silence", [row.stop_ms for row in rows])


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print. Raises DiscussionError."""
    parser = argparse.ArgumentParser(description=re.split(r"\n\n", __doc__ or "")[0])
    parser.add_argument("--turns", type=int, default=16, metavar="N")
    parser.add_argument("--barge-ins", type=int, default=30, metavar="N")
    parser.add_argument("--clips", type=Path, default=PEOPLE, metavar="FOLDER")
    parser.add_argument("--output", type=Path, metavar="FOLDER")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.output or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        _run(arguments, folder, Console())
    return 0


if __name__ == "__main__":
    sys.exit(main())

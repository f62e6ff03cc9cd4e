"""Measures: the rows of a run summed up, beside the goals and the figures of the best open framework."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from discussion_helper.audio.analysis import percentile
from discussion_helper.bench.endpointing import WAYS
from discussion_helper.bench.no_speech import PIECE_S
from discussion_helper.bench.results import Results
from discussion_helper.bench.turns_run import TurnRow
from discussion_helper.bench.words import words_of
from discussion_helper.tuning import Tuning

__all__ = ["Measure", "measures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One line of the result. Of a distribution there are a median and a 95th percentile, else there is one `value`.

    `goal` and `other` are for reading: what the project wants, and what pipecat 1.14.0 was measured at with the same
    models on such a machine.
    """

    key: str
    title: str
    unit: str
    n: int
    median: float | None = None
    p95: float | None = None
    value: float | None = None
    goal: str = ""
    other: str = ""


def measures(results: Results) -> list[Measure]:
    """Those of what was measured."""
    found = [*_start(results), *_delay(results), *_alone(results), *_speech(results), *_barge_in(results)]
    found += [*_false(results), *_cost(results), *_health(results), *_recognition(results), *_words(results)]
    return [measure for measure in found if measure.n]


def _spread(
    key: str, title: str, values: Iterable[float | None], *, unit: str = "ms", goal: str = "", other: str = ""
) -> Measure:
    known = [value for value in values if value is not None and not math.isnan(value)]
    median, p95 = (round(percentile(known, at), 3) if known else None for at in (50, 95))
    return Measure(key=key, title=title, unit=unit, n=len(known), median=median, p95=p95, goal=goal, other=other)


def _count(key: str, title: str, hits: Iterable[bool], *, goal: str = "", other: str = "") -> Measure:
    found = list(hits)
    return Measure(key=key, title=title, unit="of n", n=len(found), value=sum(found), goal=goal, other=other)


def _start(results: Results) -> Iterator[Measure]:
    yield _spread("start_listening", "Start to listening", (row.listening_s for row in results.starts), unit="s")
    yield _spread("start_warm", "Start to all models loaded", (row.warm_s for row in results.starts), unit="s")
    yield _spread("shutdown", "Ctrl-C to exit", (row.shutdown_s for row in results.idle), unit="s", goal="<= 2")


def _clean(rows: Sequence[TurnRow]) -> list[TurnRow]:
    """Turns that ended when the user had: one that was cut short would look fast."""
    return [row for row in rows if not row.early and not row.spoke_over]


def _delay(results: Results) -> Iterator[Measure]:
    rows = results.turns.rows
    whole = _clean(rows)
    yield _spread(
        "voice_to_voice",
        "Voice to voice",
        (row.voice_to_voice_ms for row in whole),
        goal="<= 700 / <= 1200",
        other="1419 / 3491",
    )
    yield _spread("endpoint", "  end of turn decided", (row.endpoint_ms for row in whole))
    yield _spread("recognise", "  recognised", (row.recognise_ms for row in whole))
    yield _spread("think", "  first clause thought", (row.think_ms for row in whole))
    yield _spread("speak", "  first sample spoken", (row.speak_ms for row in whole))
    yield _count("ahead", "Replies begun ahead of time", (row.ahead for row in whole if row.answered))
    begun = max((row.begun_ahead for row in rows), default=0)
    wasted_s = round(max((row.wasted_s for row in rows), default=0.0), 3)
    yield Measure(key="wasted", title="  work for nothing", unit="s", n=begun, value=wasted_s)
    yield _count("early", "Turns cut off early", (row.early for row in rows), goal="<= 10 %", other="12.1 %")
    yield _count("split", "Clips taken for several turns", (row.turns > 1 for row in rows))
    yield _count("unanswered", "Clips without an answer", (not row.answered for row in rows), goal="0")
    lags = results.turns.lags_ms
    yield Measure(
        key="loop_lag_p99",
        title="Event loop lag while models work, p99",
        unit="ms",
        n=len(lags),
        value=round(percentile(lags, 99), 1) if lags else None,
        goal="< 20",
    )


def _alone(results: Results) -> Iterator[Measure]:
    """What the delays are to be seen beside."""
    for part in dict.fromkeys(row.part for row in results.speeds):
        rows = [row for row in results.speeds if row.part == part]
        title = f"{part.capitalize()} alone, 1 s of speech"
        yield _spread(f"alone_{part.replace(' ', '_')}", title, (row.ms_per_s for row in rows))
        yield _spread(f"alone_{part.replace(' ', '_')}_first", "  its first words", (row.first_ms for row in rows))


def _speech(results: Results) -> Iterator[Measure]:
    rows = [row for row in results.turns.rows if row.reply_s]
    yield _rate("holes", "Holes per second of speech", [(row.holes, row.reply_s) for row in rows])
    long = [(row.long_holes, row.reply_s) for row in rows]
    yield _rate("long_holes", "  longer than a full stop (250 ms)", long, goal="0")
    decoding = [(row.decoding_holes, row.decoding_s) for row in rows if row.decoding_s]
    yield _rate("decoding_holes", "Holes per second while decoding", decoding, goal="0", other="1")
    yield _spread("reply_words", "Words in a reply", (len(row.reply.split()) for row in rows), unit="")


def _rate(key: str, title: str, pairs: Sequence[tuple[int, float]], *, goal: str = "", other: str = "") -> Measure:
    seconds = sum(seconds for _, seconds in pairs)
    value = round(sum(count for count, _ in pairs) / seconds, 3) if seconds else None
    return Measure(key=key, title=title, unit="1/s", n=len(pairs), value=value, goal=goal, other=other)


def _barge_in(results: Results) -> Iterator[Measure]:
    rows = [one.row for one in results.barge_ins]
    yield _spread("duck", "Barge-in to 20 dB down", (row.turned_down_ms for row in rows), goal="P95 <= 100")
    yield _spread(
        "stop", "Barge-in to silence", (row.stop_ms for row in rows), goal="<= 250 / <= 350", other="314 / 368"
    )
    yield _count("missed", "Barge-ins not heard", (not row.interrupted for row in rows), goal="0")
    yield _count("unstopped", "Barge-ins after which it went on", (row.resumed for row in rows), goal="0")
    errors = [abs(row.heard_words - row.played_words) for row in rows if row.played_words is not None]
    yield _spread(
        "heard", "Words stored against words played", errors, unit="words", goal="P95 <= 1", other="0 of 32 right"
    )


def _false(results: Results) -> Iterator[Measure]:
    for kind, title, other in (("noise", "noise, music", "10 of 27"), ("backchannel", "short sounds", "9 of 13")):
        rows = [row for row in results.noises if (row.kind == "backchannel") == (kind == "backchannel")]
        yield _count(f"{kind}_cut", f"Replies interrupted by {title}", (row.interrupted for row in rows), other=other)
        yield _count(f"{kind}_lost", "  and not going on within 2 s", (row.lost for row in rows), goal="<= 2 %")
    resumes = [row.resume_ms for row in results.noises]
    yield _spread("resume", "Silence until a reply goes on", resumes, goal="<= 2000")
    echo = results.echo
    yield _count(
        "echo_cut",
        "Replies interrupted by their echo",
        (row.interruptions > 0 for row in echo),
        goal="0",
        other="5 of 5",
    )
    turns = sum(row.user_turns for row in echo)
    yield Measure(
        key="echo_turns", title="User turns made of echo", unit="", n=len(echo), value=turns, goal="0", other="up to 16"
    )


def _cost(results: Results) -> Iterator[Measure]:
    for row in results.idle:
        yield _one("idle_cpu", "Idle, one core = 100 %", "%", row.cpu_percent, goal="<= 10", other="9-13")
        if row.daemon_percent is not None:
            yield _one("daemon_cpu", "  the sound server beside it", "%", row.daemon_percent)
    usage = results.turns.usage
    if usage is not None:
        yield _one("talk_cpu", "In a talk, one core = 100 %", "%", usage.cpu_percent, goal="<= 60", other="27-76")
    if results.peaks_mb:
        most = max(results.peaks_mb.values())
        yield _one("peak_memory", "Peak memory with all models", "MB", most, goal="<= 900", other="1100-1600")


def _health(results: Results) -> Iterator[Measure]:
    """Of the worst talk, and of all together."""
    rows = results.health
    blocks = sum(row.blocks for row in rows)
    for key, title, goal in (
        ("woken_p99", "Audio thread begins with a block, p99", "< 3"),
        ("late_p99", "  and is done with it, p99", "< 10"),
        ("late_worst", "  worst", ""),
    ):
        most = max((getattr(row, f"{key}_ms") for row in rows), default=None)
        yield Measure(key=f"audio_{key}", title=title, unit="ms", n=blocks, value=most, goal=goal)
    for key, title in (("dropped", "Blocks dropped"), ("overflows", "Overflows"), ("underflows", "Underflows")):
        total = sum(getattr(row, key) for row in rows)
        yield Measure(key=key, title=title, unit="", n=blocks, value=total, goal="0" if key == "dropped" else "")


def _one(key: str, title: str, unit: str, value: float, *, goal: str = "", other: str = "") -> Measure:
    return Measure(key=key, title=title, unit=unit, n=1, value=value, goal=goal, other=other)


def _recognition(results: Results) -> Iterator[Measure]:
    rows = results.recognition
    words = sum(row.words for row in rows)
    for name, title in (("ours", "this project's"), ("stock", "30 s window")):
        errors = sum(getattr(row, f"{name}_errors") for row in rows)
        yield Measure(
            key=f"{name}_word_errors",
            title=f"Word error rate, {title}",
            unit="%",
            n=len(rows),
            value=round(100.0 * errors / words, 1) if words else None,
        )
        yield _spread(f"{name}_recognition", f"  time, {title}", (getattr(row, f"{name}_ms") for row in rows))


def _words(results: Results) -> Iterator[Measure]:
    """Of what needs no devices."""
    yield _count("onsets", "First words that are there", (row.there for row in results.onsets), goal="all")
    one_words = results.one_words
    yield _count("one_words", "One-word answers taken", (row.taken for row in one_words), goal="all")
    known = [row for row in one_words if row.said]
    yield _count("one_words_right", "  and read right", (words_of(row.text) == words_of(row.said) for row in known))
    found = results.no_speech
    minutes = found.pieces * PIECE_S / 60.0
    title = f"Turns in {minutes:g} min without speech"
    yield Measure(key="no_speech_turns", title=title, unit="", n=found.pieces, value=len(found.turns), goal="0")
    title = "  speech between, heard"
    yield Measure(key="no_speech_heard", title=title, unit="of n", n=found.spoken, value=found.heard)
    usual_s = Tuning().endpoint_silence_s
    for way in WAYS:
        rows = [row for row in results.endpointing if (row.way, row.wait_s) == (way.name, usual_s)]
        key = way.name.lower().replace(" ", "_")
        yield _count(f"curve_cut_{key}", f"Clips cut off early, {way.name}", (row.latency_ms is None for row in rows))
        yield _spread(
            f"curve_ms_{key}", f"  wait of the others, from {usual_s:g} s on", (row.latency_ms for row in rows)
        )

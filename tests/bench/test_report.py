"""The measures, the table, the document, the rows and the plot."""

import csv
import dataclasses
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from discussion_helper.bench.barge_in_run import BargeIn, BargeInRow
from discussion_helper.bench.curve_plot import draw_curve
from discussion_helper.bench.echo_run import EchoRow
from discussion_helper.bench.endpointing import EndpointingRow
from discussion_helper.bench.health_rows import HealthRow
from discussion_helper.bench.idle_run import IdleRow, StartRow
from discussion_helper.bench.machine import Machine
from discussion_helper.bench.measures import Measure, measures
from discussion_helper.bench.no_speech_run import NoSpeech, NoSpeechRow
from discussion_helper.bench.noise_run import NoiseRow
from discussion_helper.bench.one_word import WordRow
from discussion_helper.bench.onset_run import OnsetRow
from discussion_helper.bench.plot import draw
from discussion_helper.bench.recognition import RecognitionRow
from discussion_helper.bench.report import document, lists, rows_in, table, write_rows
from discussion_helper.bench.results import Results
from discussion_helper.bench.speed_rows import SpeedRow
from discussion_helper.bench.turns_run import TurnRow, Turns
from discussion_helper.bench.usage import Usage


def filled(row: type[Any], **values: Any) -> Any:
    """A row with something in each field."""
    plain = {"str": "words", "int": 1, "float": 1.5, "bool": False, "float | None": 250.0, "int | None": 2}
    return row(
        **{f.name: values.get(f.name, plain[getattr(f.type, "__name__", str(f.type))]) for f in dataclasses.fields(row)}
    )


def turn(delay_ms: float | None, **values: Any) -> TurnRow:
    found: TurnRow = filled(TurnRow, voice_to_voice_ms=delay_ms, answered=delay_ms is not None, turns=1, **values)
    return found


@pytest.fixture
def results() -> Results:
    rows = [
        turn(600.0),
        turn(700.0),
        turn(800.0),
        turn(20.0, early=True, clip="jfk.wav"),
        turn(None, clip="whisper.wav"),
    ]
    cut = filled(BargeInRow, interrupted=True, stop_ms=240.0, heard_words=5, played_words=3)
    missed = filled(BargeInRow, stop_ms=None, turned_down_ms=None, played_words=None)
    return Results(
        machine=Machine("Linux", "3.11.7", 2, 0.1),
        starts=[filled(StartRow)],
        idle=[filled(IdleRow, cpu_percent=7.25)],
        turns=Turns(rows, [1.0] * 99 + [30.0], Usage(60.0, 41.0, 712.0)),
        barge_ins=[BargeIn(row, "", np.zeros(0, np.float32), 48_000) for row in (cut, missed)],
        noises=[filled(NoiseRow, kind="music", lost=True, interrupted=True, clip="burp.flac")],
        echo=[filled(EchoRow, interruptions=0, user_turns=0)] * 5,
        endpointing=[
            filled(EndpointingRow, kind=kind, way=way, wait_s=wait_s, latency_ms=latency_ms, turn=f"{kind} {way}")
            for way in ("silence", "Smart Turn", "policy")
            for kind, wait_s, latency_ms in (("dialogue", 0.5, None), ("read", 0.5, 560.0), ("read", 0.6, 660.0))
        ],
        health=[
            filled(
                HealthRow, run="turns", blocks=100, late_p99_ms=2.5, late_worst_ms=80.0, woken_p99_ms=1.5, dropped=0
            ),
            filled(HealthRow, run="echo", blocks=50, late_p99_ms=3.5, late_worst_ms=9.0, woken_p99_ms=1.0, dropped=4),
        ],
        peaks_mb={"turns": 712.0, "echo": 650.0},
        speeds=[
            filled(SpeedRow, part="recogniser", ms_per_s=20.0, first_ms=None),
            filled(SpeedRow, part="recogniser", ms_per_s=40.0, first_ms=None),
            filled(SpeedRow, part="language model", ms_per_s=60.0, first_ms=200.0),
        ],
        recognition=[filled(RecognitionRow, words=10, ours_errors=1, stock_errors=2, clip="ami_1.wav")],
        onsets=[filled(OnsetRow, there=True), filled(OnsetRow, there=False, clip="whisper.wav")],
        one_words=[filled(WordRow, said="no", text="No.", taken=True), filled(WordRow, said="", name="five@1.20")],
        no_speech=NoSpeech(
            600,
            60,
            [
                filled(NoSpeechRow, kind="music", name="song", text="Go."),
                filled(NoSpeechRow, kind="breath", text="", refused="no speech"),
                *(filled(NoSpeechRow, kind="speech", piece=piece) for piece in (10, 10, 21)),
            ],
        ),
    )


def by_key(results: Results) -> dict[str, Measure]:
    return {measure.key: measure for measure in measures(results)}


def test_delays_leave_out_turns_that_were_cut_off_early_and_count_them_apart(results: Results) -> None:
    found = by_key(results)
    assert (found["voice_to_voice"].median, found["voice_to_voice"].p95, found["voice_to_voice"].n) == (700.0, 790.0, 3)
    assert (found["early"].value, found["early"].n) == (1, 5)
    assert (found["unanswered"].value, found["unanswered"].n) == (1, 5)


def test_each_run_has_its_measures(results: Results) -> None:
    found = by_key(results)
    values = {
        key: found[key].value for key in ("idle_cpu", "talk_cpu", "peak_memory", "missed", "echo_cut", "noise_lost")
    }
    assert values == {
        "idle_cpu": 7.25, "talk_cpu": 41.0, "peak_memory": 712.0, "missed": 1, "echo_cut": 0, "noise_lost": 1
    }  # fmt: skip
    assert (found["stop"].median, found["stop"].n, found["heard"].median) == (240.0, 1, 2.0)
    assert (found["ours_word_errors"].value, found["stock_word_errors"].value) == (10.0, 20.0)
    assert [1.5, 3.5, 80.0] == [found[f"audio_{key}"].value for key in ("woken_p99", "late_p99", "late_worst")]
    assert (found["dropped"].value, found["underflows"].value, found["dropped"].n) == (4, 2, 150)
    assert (found["onsets"].value, found["onsets"].n) == (1, 2)
    assert [(found[key].value, found[key].n) for key in ("one_words", "one_words_right")] == [(1, 2), (1, 1)]
    assert [(found[key].value, found[key].n) for key in ("no_speech_turns", "no_speech_heard")] == [(1, 600), (2, 60)]
    assert [(found[key].value, found[key].n) for key in ("curve_cut_policy", "curve_cut_silence")] == [(1, 2), (1, 2)]
    assert (found["curve_ms_policy"].median, found["curve_ms_policy"].n) == (560.0, 1)
    assert [30.0, 60.0] == [found[f"alone_{part}"].median for part in ("recogniser", "language_model")]
    assert (200.0, False) == (found["alone_language_model_first"].median, "alone_recogniser_first" in found)
    assert found["loop_lag_p99"].value == pytest.approx(1.3)
    assert found["holes"].value == found["long_holes"].value == pytest.approx(1 / 1.5, abs=0.001)


def test_what_was_not_measured_has_no_measure() -> None:
    assert measures(Results()) == []
    assert lists(Results()) == {}


def test_the_table_holds_every_measure_and_fits_on_a_screen(results: Results) -> None:
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with console.file:
        console.print(table(results))
    text = console.export_text()
    assert all(measure.title.strip() in text for measure in measures(results))
    assert "pipecat 1.14.0" in text
    assert "…" not in text


def test_the_table_shows_what_is_no_number_as_missing(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Measure(key="key", title="title", unit="ms", n=1, value=math.nan)
    monkeypatch.setattr("discussion_helper.bench.report.measures", lambda _: [missing])
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(table(results))
    assert "-" in console.export_text()


def test_the_document_is_json_and_names_what_to_listen_to(results: Results) -> None:
    results.problems.append("echo: The talk ended.")
    found = json.loads(json.dumps(document(results), allow_nan=False))
    assert found["machine"]["cores"] == 2
    assert {measure["key"] for measure in found["measures"]} == set(by_key(results))
    assert found["lists"] == {
        "cut off early": ["jfk.wav at 2 dBFS"],
        "not answered": ["whisper.wav at 2 dBFS"],
        "barge-ins not heard": ["words at 2 dBFS"],
        "replies lost to": ["burp.flac"],
        "words wrong by set, here and with the 30 s window": ["ami 10 and 20 %"],
        "first words missing": ["whisper.wav at 2 dBFS"],
        "one-word answers not taken": ["five@1.20 at 2 dBFS"],
        "turns where nobody spoke": ["song: Go."],
        "could not be measured": ["echo: The talk ended."],
    }


def test_every_row_is_written(results: Results, tmp_path: Path) -> None:
    files = write_rows(results, tmp_path)
    assert files == rows_in(results, tmp_path)
    assert {file.stem for file in files} == {
        "starts",
        "idle",
        "turns",
        "barge_ins",
        "noises",
        "echo",
        "speeds",
        "recognition",
        "recognition_sets",
        "onsets",
        "one_words",
        "no_speech",
        "endpointing",
        "health",
    }
    with (tmp_path / "turns.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["voice_to_voice_ms"] for row in rows] == ["600.0", "700.0", "800.0", "20.0", ""]


def test_the_plot_is_a_picture_of_whatever_there_is(results: Results, tmp_path: Path) -> None:
    assert draw(Results(), tmp_path / "none.png") == []
    for part in (
        results,
        Results(turns=results.turns),
        Results(barge_ins=results.barge_ins),
        Results(echo=results.echo),
    ):
        (path,) = draw(part, tmp_path / "bench.png")
        assert path.read_bytes().startswith(b"\x89PNG")


def test_the_curve_is_a_picture_of_its_own(results: Results, tmp_path: Path) -> None:
    assert draw_curve([], tmp_path / "none.png") == []
    for rows in (results.endpointing, [row for row in results.endpointing if row.kind == "read"]):
        (path,) = draw_curve(rows, tmp_path / "endpointing.png")
        assert path.read_bytes().startswith(b"\x89PNG")


def test_no_legend_lies_over_what_it_explains(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = []

    def drawn(figure: Figure, *_: Any, **__: Any) -> None:
        figure.draw_without_rendering()
        figures.append(figure)

    monkeypatch.setattr(Figure, "savefig", drawn)
    draw(results, tmp_path / "bench.png")
    boxes = [
        (axes.bbox, legend.get_window_extent()) for axes in figures[0].axes if (legend := axes.get_legend()) is not None
    ]
    assert len(boxes) == 3
    assert all(legend.y1 < axes.y0 for axes, legend in boxes)
    assert all(legend.y0 >= 0.0 for _, legend in boxes)

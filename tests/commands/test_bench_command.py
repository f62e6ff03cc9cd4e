"""`discussion-helper bench`: what it refuses, and one short run of everything."""

import argparse
import csv
import json
from pathlib import Path

import pytest

from discussion_helper.bench.suite import RUNS as SUITE_RUNS
from discussion_helper.commands import bench
from discussion_helper.errors import AudioFileError, DeviceError, DiscussionError, ModelMissing, SettingError

FOLDER = Path(__file__).parents[2] / "audio"


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    bench.add_parser(parser.add_subparsers())
    return parser.parse_args(["bench", *words])


def run(*words: str) -> int:
    arguments = parsed(*words)
    return int(arguments.run(arguments))


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")


@pytest.fixture
def models_here(monkeypatch: pytest.MonkeyPatch, linux: None) -> None:
    monkeypatch.setattr(bench, "_check_models", lambda: None)


def test_the_runs_of_the_command_are_those_of_the_suite() -> None:
    assert tuple(SUITE_RUNS) == bench.RUNS


def test_an_unknown_run_is_refused_by_the_parser(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--only", "latency")
    assert "barge-ins" in capsys.readouterr().err


def test_where_there_are_no_virtual_devices_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    for words in ((), ("--only", "onsets", "turns")):
        with pytest.raises(DeviceError, match=r"only for Linux.* or with --only .*no-speech"):
            run(*words)


def test_what_needs_no_devices_is_measured_without_them(
    monkeypatch: pytest.MonkeyPatch, models_here: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there are none, and where what is measured cannot be: the rest goes on, and the exit code says so."""
    monkeypatch.setattr("sys.platform", "darwin")
    (tmp_path / "clips").mkdir()
    header, *rows = (FOLDER / "manifest.csv").read_text(encoding="utf-8").splitlines()
    noise = next(row for row in rows if ",noise," in row)
    (tmp_path / "clips" / "manifest.csv").write_text(f"{header}\n{noise}\n", encoding="utf-8")
    (tmp_path / "clips" / "noise").mkdir()
    (tmp_path / "clips" / noise.partition(",")[0]).write_bytes((FOLDER / noise.partition(",")[0]).read_bytes())

    code = run("--only", *bench.IN_PROCESS, "--output", str(tmp_path), "--clips", str(tmp_path / "clips"), "--quick")

    assert 1 == code
    told = capsys.readouterr()
    for name in ("onsets", "recognition", "no-speech"):
        assert f"{name}: There is no clip of kind" in told.err
    assert "one-word: " in told.err
    assert "clips holds no turns." in told.err
    assert "could not be measured" in told.out


ONSETS = {"onsets": (3, 3)}
WORDS = {"one_words": (8, 8), "one_words_right": (4, 4)}
WAYS = ("silence", "smart_turn", "policy")
NO_SPEECH = {"no_speech_turns": (0, 10), "no_speech_heard": (1, 1)}


@pytest.mark.models
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("onsets", ONSETS),
        pytest.param("one-word", WORDS, marks=pytest.mark.slow),
        pytest.param("no-speech", NO_SPEECH, marks=pytest.mark.slow),
        pytest.param("endpointing", {f"curve_cut_{way}": (0, 4) for way in WAYS}, marks=pytest.mark.slow),
    ],
)
def test_what_needs_no_devices_has_rows_and_measures(
    name: str, expected: dict[str, tuple[int, int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == run("--only", name, "--quick", "--json", "--output", str(tmp_path), "--clips", str(FOLDER))

    summary = json.loads(capsys.readouterr().out)
    counted = [measure for measure in summary["measures"] if measure["value"] is not None]
    found = {measure["key"]: (measure["value"], measure["n"]) for measure in counted}
    assert {} == summary["lists"]
    assert expected == found
    (rows,) = tmp_path.glob("*.csv")
    assert len(rows.read_text(encoding="utf-8").splitlines()) > 1


@pytest.mark.usefixtures("linux")
def test_a_missing_extra_is_named_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "find_spec", lambda name: None if name == "jiwer" else object())
    with pytest.raises(DiscussionError, match=r"needs jiwer\. In a checkout: make bench\. .*\[bench\]"):
        run()


@pytest.mark.usefixtures("linux")
def test_missing_models_are_named_before_anything_is_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    with pytest.raises(ModelMissing):
        run("--output", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "words", [("--turns", "19"), ("--barge-ins", "3"), ("--noises", "14"), ("--quick", "--turns", "0")]
)
@pytest.mark.usefixtures("models_here")
def test_too_few_for_a_percentile_are_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=words[-2].lstrip("-")):
        run("--output", str(tmp_path), *words)


@pytest.mark.usefixtures("models_here")
def test_an_output_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingError, match=r"--output: .*file"):
        run("--output", str(tmp_path / "file"))


@pytest.mark.usefixtures("models_here")
def test_a_folder_without_clips_is_named(tmp_path: Path) -> None:
    with pytest.raises(AudioFileError, match=r"manifest\.csv"):
        run("--output", str(tmp_path), "--clips", str(tmp_path / "none"))


@pytest.mark.usefixtures("models_here")
@pytest.mark.parametrize("name", bench.RUNS)
def test_a_manifest_without_a_clip_is_refused_before_anything_is_measured(name: str, tmp_path: Path) -> None:
    header = (FOLDER / "manifest.csv").read_text(encoding="utf-8").partition("\n")[0]
    (tmp_path / "manifest.csv").write_text(f"{header}\n", encoding="utf-8")
    with pytest.raises(AudioFileError, match=r"manifest\.csv lists no clips\..*--clips FOLDER"):
        run("--only", name, "--output", str(tmp_path / "out"), "--clips", str(tmp_path))


@pytest.mark.usefixtures("models_here")
def test_an_installed_copy_says_where_clips_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DISCUSSION_HELPER_CLIPS", raising=False)
    monkeypatch.setattr("discussion_helper.__file__", str(tmp_path / "site-packages" / "package" / "__init__.py"))
    with pytest.raises(AudioFileError, match=r"An installed copy has no clips .* --clips FOLDER"):
        run("--output", str(tmp_path / "out"))


@pytest.mark.devices
@pytest.mark.models
@pytest.mark.slow
@pytest.mark.timeout(420)
def test_a_quick_bench_measures_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run("--quick", "--json", "--recordings", "--output", str(tmp_path), "--clips", str(FOLDER))
    summary = json.loads(capsys.readouterr().out)
    assert (code, summary["lists"].get("could not be measured")) == (0, None)
    found = {measure["key"]: measure for measure in summary["measures"]}
    assert {
        "start_listening",
        "idle_cpu",
        "early",
        "stop",
        "noise_cut",
        "echo_cut",
        "ours_word_errors",
        "onsets",
    } <= set(found)
    assert found["voice_to_voice"]["n"] >= 1
    assert 100.0 < found["voice_to_voice"]["median"] < 20_000.0
    with (tmp_path / "turns.csv").open(encoding="utf-8", newline="") as lines:
        assert all(float(row["correlation"]) > 0.9 for row in csv.DictReader(lines))
    assert len(list((tmp_path / "recordings").glob("*.flac"))) == 4 + 3 + 3 + 1
    assert (tmp_path / "bench.png").stat().st_size > 10_000

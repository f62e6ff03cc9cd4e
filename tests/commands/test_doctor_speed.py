"""How fast the models are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from discussion_helper.commands import doctor_speed
from discussion_helper.commands.doctor_speed import LIMITS, Speed, measure_speeds
from discussion_helper.settings import Settings


def test_a_part_is_too_slow_beyond_its_limit() -> None:
    assert not Speed("voice", "v", took_s=1.0, lasts_s=2.0).too_slow
    assert Speed("voice", "v", took_s=1.1, lasts_s=2.0).too_slow
    assert Speed("voice", "v", took_s=30.0, gave_up=True).too_slow
    assert not Speed("voice", "v", failed="It is corrupt.").too_slow


def test_a_busy_machine_is_known() -> None:
    assert Speed("voice", "v", load=2.5).disturbed
    assert not Speed("voice", "v", load=0.4).disturbed
    assert not Speed("voice", "v").disturbed


def test_a_model_elsewhere_is_not_asked() -> None:
    settings = Settings(llm="model@http://127.0.0.1:9/v1")

    assert [] == measure_speeds(settings, speaks=False, answers=True)


def test_what_cannot_be_loaded_is_told(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    voice, model = measure_speeds(Settings(), speaks=True, answers=True)

    assert "models pull" in voice.failed
    assert "models pull" in model.failed


@pytest.mark.parametrize(
    ("library", "look"),
    [
        ("xllamacpp", "from discussion_helper.doctor import examine, Settings; examine(Settings())"),
        ("sounddevice", "from discussion_helper.audio.devices import portaudio; portaudio()"),
    ],
)
def test_whoever_loads_openmp_first_does_it_as_a_talk_does(library: str, look: str, tmp_path: Path) -> None:
    """Its threads would else spin for long: on a busy machine the language model then takes 30 s for a sentence."""
    (tmp_path / f"{library}.py").write_text("import os\nSPINS = os.environ.get('GOMP_SPINCOUNT')\n")
    usual = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    tell = f"import os, {library}; print({library}.SPINS, os.environ.get('GOMP_SPINCOUNT'))"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{look}; {tell}",
        ],
        env={**usual, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )

    assert "1000 None" == done.stdout.strip(), done.stderr


@pytest.mark.models
def test_the_models_are_timed_on_the_same_sentence() -> None:
    speeds = measure_speeds(Settings(), speaks=True, answers=True)

    assert list(LIMITS) == [speed.part for speed in speeds]
    assert all(speed.factor and not speed.failed for speed in speeds), speeds
    assert speeds[0].lasts_s == pytest.approx(speeds[1].lasts_s, abs=0.1)


@pytest.mark.models
def test_a_model_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_speed, "_PATIENCE_S", 0.001)
    speeds = measure_speeds(Settings(), speaks=True, answers=False)

    assert [("voice", True)] == [(speed.part, speed.too_slow) for speed in speeds]

"""The recogniser keeps every rule of its port, with a model that is played and with the real one."""

import threading
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.models import Store, load_manifest
from discussion_helper.stt.reading import Decoded
from discussion_helper.stt.whisper import WhisperRecogniser
from discussion_helper.testing.conformance import Limits, check_recogniser

pytestmark = pytest.mark.anyio


class Played:
    """Takes 5 ms for a window; or, once `held`, as long as that is."""

    def __init__(self, held: threading.Event | None = None) -> None:
        self.held = held or threading.Event()
        self.steps_s = 0.005 if held is None else 60.0

    def encode(self, samples: Samples, frames: int) -> object:
        self.held.wait(self.steps_s)
        return object()

    def decode(self, encoded: object, *, language: str, seconds: float, timestamps: bool, hints: str = "") -> Decoded:
        return Decoded(" Hello there.", " Hello there.", seconds, True, -1.0, 4, 0.1)

    def detect(self, encoded: object) -> tuple[str, float]:
        return "en", 0.8

    def knows(self, language: str) -> bool:
        return True

    def close(self) -> None: ...


def played(held: threading.Event | None = None) -> Any:
    return Played(held)


def broken(path: Path, threads: int) -> Any:
    raise RuntimeError("unsupported model binary version")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("config.json", "model.bin", "tokenizer.json"):
        (tmp_path / name).touch()
    return tmp_path


async def test_the_recogniser_conforms_around_its_model(folder: Path) -> None:
    held = threading.Event()
    try:
        report = await check_recogniser(
            lambda: WhisperRecogniser(folder, load=lambda path, threads: played()),
            make_dead=lambda: WhisperRecogniser(folder, load=broken),
            make_slow=lambda: WhisperRecogniser(folder, load=lambda path, threads: played(held)),
            limits=Limits(patience_s=0.3, blocked_s=1.0),
        )
    finally:
        held.set()
    assert () == report.unchecked


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.timeout(300)  # a minute on a busy machine
async def test_the_real_model_conforms(folder: Path) -> None:
    path = Store().path_of(load_manifest().model("tiny.en"))
    report = await check_recogniser(
        lambda: WhisperRecogniser(path, language="en"),
        make_dead=lambda: WhisperRecogniser(folder),
        limits=Limits(patience_s=1.0, let_go_s=2.0, close_s=2.0, blocked_s=1.0, call_s=60.0),
    )
    assert ["recogniser.slow-can-be-left"] == [finding.rule.name for finding in report.unchecked]

"""The recogniser around its model: one at a time, off the loop, cancelled, closed. The model is a fake."""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import ModelCorrupt, ModelMissing, RecogniserError, SettingError
from discussion_helper.stt import ctranslate
from discussion_helper.stt.base import TimedWord
from discussion_helper.stt.reading import Decoded, Decoder
from discussion_helper.stt.whisper import WhisperRecogniser

pytestmark = pytest.mark.anyio

VOICE = np.full(16_000, 0.1, np.float32)


class Model:
    """Says what it is told, and can be held up while it encodes."""

    def __init__(self) -> None:
        self.says = " Hello there."
        self.logprob = -1.0
        self.error: Exception | None = None
        self.steps: list[str] = []
        self.closed = 0
        self.inside = 0
        self.most_inside = 0
        self.entered = threading.Event()
        self.hold = threading.Event()
        self.hold.set()

    def encode(self, samples: Samples, frames: int) -> object:
        self.inside += 1
        self.most_inside = max(self.inside, self.most_inside)
        self.entered.set()
        try:
            assert self.hold.wait(30)
        finally:
            self.inside -= 1
        self.steps.append("encode")
        if self.error:
            raise self.error
        return object()

    def decode(self, encoded: object, *, language: str, seconds: float, timestamps: bool, hints: str = "") -> Decoded:
        self.steps.append(f"decode {language}")
        return Decoded(self.says, self.says, 1.0, True, self.logprob, 4, 0.1)

    def times(self, encoded: object, ids: tuple[int, ...], *, language: str, seconds: float) -> list[TimedWord]:
        return []

    def detect(self, encoded: object) -> tuple[str, float]:
        return "fr", 0.8

    def knows(self, language: str) -> bool:
        return language in ("en", "fr")

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("config.json", "model.bin", "tokenizer.json"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.fixture
def recogniser(model: Model, folder: Path) -> WhisperRecogniser:
    return WhisperRecogniser(folder, language="en", load=loading(model))


def loading(model: Model) -> Callable[[Path, int], Decoder]:
    return lambda path, threads: model


async def reached(event: threading.Event) -> None:
    assert await anyio.to_thread.run_sync(event.wait, 30, abandon_on_cancel=True)


async def test_what_is_said_becomes_text(recogniser: WhisperRecogniser, model: Model) -> None:
    heard = await recogniser.recognise(VOICE, voiced_s=0.9)

    assert (heard.text, heard.language, heard.refused) == ("Hello there.", "en", "")
    assert heard.average_logprob == -0.25
    assert heard.no_speech_probability == 0.1
    assert model.steps == ["encode", "decode en"]


@pytest.mark.parametrize(
    ("samples", "voiced_s"),
    [(np.zeros(0, np.float32), None), (VOICE[:1_000], None), (VOICE, 0.05), (np.zeros(16_000, np.float32), 0.9)],
)
async def test_without_a_voice_nothing_is_computed(
    recogniser: WhisperRecogniser, model: Model, samples: Samples, voiced_s: float | None
) -> None:
    heard = await recogniser.recognise(samples, voiced_s=voiced_s)

    assert (heard.text, heard.refused) == ("", "no voice")
    assert model.steps == []


async def test_a_text_that_is_not_believed_is_not_given(recogniser: WhisperRecogniser, model: Model) -> None:
    model.logprob = -8.0

    heard = await recogniser.recognise(VOICE, voiced_s=0.9)

    assert (heard.text, heard.refused) == ("", "no speech")


async def test_warming_up_runs_the_model_once(recogniser: WhisperRecogniser, model: Model) -> None:
    await recogniser.warmup()

    assert model.steps == ["encode", "decode en"]


async def test_the_language_of_the_last_believed_turn_is_kept(folder: Path, model: Model) -> None:
    recogniser = WhisperRecogniser(folder, load=loading(model))
    assert recogniser.language == ""

    await recogniser.recognise(VOICE, voiced_s=0.9)

    assert recogniser.language == "fr"
    assert model.steps[-1] == "decode fr"


@pytest.mark.parametrize("language", ["en", "en-GB", "EN_us"])
async def test_a_language_tag_is_understood(folder: Path, model: Model, language: str) -> None:
    recogniser = WhisperRecogniser(folder, language=language, load=loading(model))

    assert (await recogniser.recognise(VOICE)).language == "en"


async def test_a_language_that_the_model_does_not_know_is_named(folder: Path, model: Model) -> None:
    recogniser = WhisperRecogniser(folder, language="de", load=loading(model))

    with pytest.raises(SettingError, match=r"language: .* does not know de\. Choose a multilingual model"):
        await recogniser.warmup()


async def test_the_loop_goes_on_and_one_works_at_a_time(recogniser: WhisperRecogniser, model: Model) -> None:
    model.hold.clear()
    texts: list[str] = []

    async def one() -> None:
        texts.append((await recogniser.recognise(VOICE)).text)

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(one)
        await reached(model.entered)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        assert texts == []
        model.hold.set()

    assert texts == ["Hello there."] * 5
    assert model.most_inside == 1


async def test_a_cancelled_call_returns_at_once_and_its_thread_takes_no_further_step(
    recogniser: WhisperRecogniser, model: Model
) -> None:
    model.hold.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recogniser.recognise, VOICE)
        await reached(model.entered)
        tasks.cancel_scope.cancel()  # the group ends although the thread is held

    assert model.inside == 1
    model.entered.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recogniser.recognise, VOICE)
        model.hold.set()

    assert model.steps == ["encode", "encode", "decode en"]
    assert model.most_inside == 1


async def test_what_the_model_raises_is_wrapped(recogniser: WhisperRecogniser, model: Model) -> None:
    model.error = RuntimeError("out of memory")

    with pytest.raises(RecogniserError, match=r"The recogniser failed \(out of memory\)"):
        await recogniser.recognise(VOICE)

    model.error = None
    assert (await recogniser.recognise(VOICE)).text == "Hello there."


async def test_errors_of_ours_come_through(folder: Path) -> None:
    def load(path: Path, threads: int) -> Decoder:
        raise ModelCorrupt(f"{path} is damaged.")

    with pytest.raises(ModelCorrupt, match="is damaged"):
        await WhisperRecogniser(folder, load=load).warmup()


async def test_closing_releases_the_model_once(recogniser: WhisperRecogniser, model: Model) -> None:
    await recogniser.warmup()
    await recogniser.aclose()
    await recogniser.aclose()

    assert model.closed == 1
    with pytest.raises(RuntimeError, match="closed"):
        await recogniser.recognise(VOICE)


async def test_closing_without_ever_loading(recogniser: WhisperRecogniser, model: Model) -> None:
    await recogniser.aclose()

    assert model.closed == 0


async def test_closing_ends_what_is_being_recognised(recogniser: WhisperRecogniser, model: Model) -> None:
    model.hold.clear()
    failures: list[str] = []

    async def one() -> None:
        try:
            await recogniser.recognise(VOICE)
        except RecogniserError as error:
            failures.append(error.what)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one)
        await reached(model.entered)
        tasks.start_soon(one)
        tasks.start_soon(recogniser.aclose)
        await anyio.lowlevel.checkpoint()
        model.hold.set()

    assert failures == ["The recogniser was closed before it had the text."] * 2
    assert model.steps == ["encode"]
    assert model.closed == 1


async def test_closing_does_not_wait_for_a_long_step(recogniser: WhisperRecogniser, model: Model) -> None:
    model.hold.clear()

    async def one() -> None:
        with pytest.raises(RecogniserError, match="was closed"):
            await recogniser.recognise(VOICE)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one)
        await reached(model.entered)
        with anyio.fail_after(2):  # it takes 0.3 s; the machine may be busy
            await recogniser.aclose()
        assert model.closed == 0
        model.hold.set()

    assert model.closed == 1


@pytest.mark.parametrize("name", ["config.json", "model.bin", "tokenizer.json"])
async def test_a_missing_file_is_named_at_once(folder: Path, name: str) -> None:
    (folder / name).unlink()

    with pytest.raises(ModelMissing, match=rf"{name} does not exist.*models pull {folder.name}"):
        WhisperRecogniser(folder)


async def test_no_threads_are_too_few(folder: Path) -> None:
    with pytest.raises(SettingError, match="threads: 0"):
        WhisperRecogniser(folder, threads=0)


def test_its_threads_spin_longer_than_the_others_and_nobody_elses_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The library reads how long when it is loaded."""
    line = "import os; SPINS = os.environ.get('GOMP_SPINCOUNT')"
    (tmp_path / "ctranslate2.py").write_text(line, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    del sys.modules["ctranslate2"]
    monkeypatch.setattr(ctranslate, "check_files", lambda _: None)
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(ModelCorrupt):  # there is none
        ctranslate.WhisperDecoder(tmp_path, 2)

    assert sys.modules["ctranslate2"].SPINS == "3000"
    assert "GOMP_SPINCOUNT" not in os.environ

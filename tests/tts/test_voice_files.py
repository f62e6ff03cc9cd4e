"""The files of a voice."""

import json
import threading
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import pytest
from anyio.lowlevel import current_token

from discussion_helper.errors import ModelCorrupt, ModelMissing, SettingError, SynthesisError
from discussion_helper.tts.network import Network
from discussion_helper.tts.piper import PiperSynthesiser
from discussion_helper.tts.voice_files import find_voice

DESCRIPTION: dict[str, Any] = {"audio": {"sample_rate": 22050}, "espeak": {"voice": "en-us"}, "inference": {}}


def voice(folder: Path, description: object = DESCRIPTION, name: str = "a") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.onnx").write_bytes(b"no network")
    (folder / f"{name}.onnx.json").write_text(json.dumps(description))
    return folder / f"{name}.onnx"


def test_a_voice_is_found_by_its_folder_and_by_its_file(tmp_path: Path) -> None:
    path = voice(tmp_path)
    assert find_voice(tmp_path).model == find_voice(path).model == path
    assert (find_voice(path).rate, find_voice(path).language, find_voice(path).speakers) == (22050, "en-us", 1)


@pytest.mark.parametrize("missing", ["folder", "model", "description"])
@pytest.mark.parametrize("name", ["joe-medium", "mine"])
def test_what_is_missing_is_told_with_the_command_that_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, name: str
) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    path = voice(tmp_path / name)
    if missing == "folder":
        path.unlink()
        path = path.parent
    elif missing == "model":
        path.unlink()
    else:
        path.with_name("a.onnx.json").unlink()
    with pytest.raises(ModelMissing) as caught:
        PiperSynthesiser(path)
    ours = name != "mine"  # what nobody can pull is not to be pulled
    assert caught.value.fix.startswith(f"Run: discussion-helper models pull {name}" if ours else "Name a Piper voice")


def test_several_voices_in_a_folder_are_not_guessed_between(tmp_path: Path) -> None:
    voice(tmp_path, name="a")
    voice(tmp_path, name="b")
    with pytest.raises(SettingError, match=r"a\.onnx, b\.onnx"):
        find_voice(tmp_path)


@pytest.mark.parametrize(
    "description",
    [
        [],
        {},
        {"audio": {"sample_rate": "x"}, "espeak": {"voice": "en"}},
        {"audio": {"sample_rate": 0}, "espeak": {"voice": "en"}},
        {"audio": None, "espeak": {"voice": "en"}},
        {**DESCRIPTION, "inference": {"noise_scale": "much"}},
        {**DESCRIPTION, "inference": 3},
    ],
)
def test_a_description_that_is_none_is_told(tmp_path: Path, description: object) -> None:
    with pytest.raises(ModelCorrupt, match=r"a\.onnx\.json"):
        find_voice(voice(tmp_path, description))


def test_a_description_that_is_not_json_is_told(tmp_path: Path) -> None:
    path = voice(tmp_path)
    path.with_name("a.onnx.json").write_bytes(b"\xff{")
    with pytest.raises(ModelCorrupt, match=r"a\.onnx\.json"):
        find_voice(path)


def test_a_voice_for_another_phonemiser_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="pinyin"):
        find_voice(voice(tmp_path, {**DESCRIPTION, "phoneme_type": "pinyin"}))


@pytest.mark.parametrize(
    "wrong", [{"speed": 0}, {"speed": 9.0}, {"speed": float("nan")}, {"threads": 0}, {"speaker": 1}]
)
def test_a_setting_out_of_range_is_named(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=next(iter(wrong))):
        PiperSynthesiser(voice(tmp_path), **wrong)


@pytest.mark.anyio
async def test_a_network_that_is_none_is_told_by_the_first_call(tmp_path: Path) -> None:
    synthesiser = PiperSynthesiser(voice(tmp_path))
    with pytest.raises(ModelCorrupt, match=r"a\.onnx cannot be loaded .* Name a Piper voice, FILE\.onnx"):
        await synthesiser.synthesise("Hello.")
    await synthesiser.aclose()


@pytest.mark.anyio
async def test_closing_does_not_wait_until_the_network_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading, loaded, loop = anyio.Event(), threading.Event(), current_token()

    def load(*_: object, **__: object) -> Any:
        anyio.from_thread.run_sync(loading.set, token=loop)
        assert loaded.wait(30)
        return Network(FakeVoice(), None)  # type: ignore[arg-type]

    monkeypatch.setattr("discussion_helper.tts.piper.load_voice", load)
    synthesiser = PiperSynthesiser(voice(tmp_path))

    async def speak() -> None:
        with pytest.raises(SynthesisError, match="closed while it spoke"):
            await synthesiser.synthesise("Hello.")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speak)
        await loading.wait()
        with anyio.fail_after(2):  # it takes 0.3 s; the machine may be busy
            await synthesiser.aclose()
        loaded.set()


class FakeVoice:
    """Would speak, if it were asked to."""

    session = None

    def phonemize(self, text: str) -> list[list[str]]:
        return [list(text)]

    def phonemes_to_ids(self, phonemes: list[str]) -> list[int]:
        return list(range(len(phonemes)))


@pytest.mark.anyio
async def test_nothing_to_say_needs_no_network(tmp_path: Path) -> None:
    speech = await PiperSynthesiser(voice(tmp_path)).synthesise("**")
    assert (speech.text, speech.samples.size, speech.rate) == ("**", 0, 22050)

"""The composition root: what is wrong with settings is told before anything is loaded or opened."""

import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.app import model_names, open_talk
from discussion_helper.errors import AudioFileError, DiscussionError, ModelMissing, ResponderError, SettingError
from discussion_helper.recorder.recorder import RecordTo
from discussion_helper.recorder.take import takes_in
from discussion_helper.recorder.trials import heeded_by
from discussion_helper.settings import Settings
from discussion_helper.tuning import Tuning
from discussion_helper.types import Message, Utterance

pytestmark = pytest.mark.anyio


async def told_of(settings: Settings) -> DiscussionError:
    with pytest.raises(DiscussionError) as told:
        async with open_talk(settings):
            pass
    return told.value


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (Settings(language="de"), "language: tiny.en knows English only, not de.*--stt base"),
        (Settings(stt="joe-medium"), "stt: there is no recogniser 'joe-medium'.*tiny.en"),
        (Settings(voice="tiny.en"), "voice: there is no voice 'tiny.en'.*joe-medium.*FILE.onnx"),
        (Settings(stt="nonsense"), "stt: there is no recogniser 'nonsense'"),
        (Settings(llm="nonsense"), "llm names neither a model file nor an endpoint"),
        (Settings(llm="model.onnx"), "llm: model.onnx is not a model that can answer.*GGUF"),
        (Settings(llm="."), "llm: . is not a model that can answer.*GGUF"),
        (Settings(llm="gone.gguf"), "llm: The language model gone.gguf cannot be read.*FILE.gguf"),
        (Settings(voice="gone.onnx"), "voice: The voice gone.onnx is not on this machine.*FILE.onnx.json"),
    ],
)
async def test_settings_that_do_not_fit_are_told_with_the_fix(
    settings: Settings, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))  # no model is there: that is not what to tell first

    with pytest.raises(SettingError, match=told) as error:
        async with open_talk(settings):
            pass
    assert "models pull" not in str(error.value) or "--stt base" in str(error.value)


@pytest.mark.parametrize(("field", "name"), [("llm", "model.gguf"), ("voice", "voice.onnx")])
async def test_a_file_of_another_kind_is_told_with_its_path(field: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"no model")
    path.with_name(f"{name}.json").write_text("no description")
    settings: dict[str, Any] = {field: str(path)}
    error = await told_of(Settings(**settings))

    assert isinstance(error, SettingError)
    assert str(error).startswith(f"{field}: ")
    assert str(path) in str(error)
    assert "models pull" not in str(error)


async def test_missing_models_are_one_line_with_one_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    error = await told_of(Settings())

    assert isinstance(error, ModelMissing)
    assert str(error) == (
        f"The models tiny.en, joe-medium and SmolLM2-135M are not on this machine (looked in {tmp_path}). "
        "Run: discussion-helper models pull tiny.en joe-medium SmolLM2-135M"
    )


@pytest.mark.models
@pytest.mark.parametrize("field", ["microphone", "loudspeaker"])
async def test_a_device_that_is_not_there_is_told_by_its_field(field: str) -> None:
    settings: dict[str, Any] = {field: "no such device"}
    error = await told_of(Settings(**settings))

    assert isinstance(error, SettingError)
    assert str(error).startswith(f"{field}: ")
    assert error.fix


def test_only_the_models_that_are_needed_are_asked_for() -> None:
    assert ["tiny.en", "joe-medium", "SmolLM2-135M"] == model_names(Settings())
    assert ["tiny.en", "joe-medium"] == model_names(Settings(llm="llama3.2@http://127.0.0.1:11434/v1"))


class Dictionary:
    """A responder of one's own."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.closed = False

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        self.heard.append(messages[-1]["content"])
        yield "Ten meters."

    async def aclose(self) -> None:
        self.closed = True


async def test_who_answers_with_a_responder_of_ones_own_needs_no_language_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    with pytest.raises(ModelMissing, match=r"The models tiny\.en and joe-medium are not"):
        async with open_talk(Settings(), responder=Dictionary()):
            pass
    wrong: Any = object()
    with pytest.raises(SettingError, match="responder: object has no reply"):
        async with open_talk(Settings(), responder=wrong):
            pass


@pytest.mark.models
async def test_the_tuning_reaches_what_hears_and_what_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Tuning | None] = []

    def hearing(*_: Any, tuning: Tuning | None = None, **__: Any) -> Any:
        heard.append(tuning)

    monkeypatch.setattr("discussion_helper.app.hearing_with", hearing)
    clip = Path(__file__).parents[1] / "audio" / "speech" / "sphinx_goforward.wav"
    tuning = Tuning(vad_threshold=0.6)
    settings = Settings(inputs=(clip,), output=tmp_path / "talk.wav", tuning=tuning)
    async with open_talk(settings, responder=Dictionary(), record=RecordTo(tmp_path / "talk")):
        pass
    (take,) = takes_in(tmp_path / "talk")

    assert heard
    assert {tuning} == set(heard)
    assert tuning == heeded_by(take.header).tuning


@pytest.mark.models
@pytest.mark.parametrize("trouble", ["output", "responder"])
async def test_a_talk_that_cannot_be_opened_leaves_no_recording(
    trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = Path(__file__).parents[1] / "audio" / "speech" / "sphinx_goforward.wav"
    output = tmp_path / ("missing/talk.wav" if trouble == "output" else "talk.wav")

    def refuse(*_: Any) -> Any:
        raise ResponderError("It cannot be built.")

    monkeypatch.setattr("discussion_helper.app.responder_for", refuse)
    with pytest.raises((AudioFileError, ResponderError)):
        async with open_talk(Settings(inputs=(clip,), output=output), record=RecordTo(tmp_path / "talk")):
            pass
    assert [] == os.listdir(tmp_path)


@pytest.mark.models
async def test_a_responder_and_a_thread_of_ones_own_on_real_ears_and_voice(tmp_path: Path) -> None:
    clip = Path(__file__).parents[1] / "audio" / "speech" / "sphinx_goforward.wav"
    own, stored = Dictionary(), list[Utterance]()

    class Stored:
        async def append(self, utterance: Utterance) -> None:
            stored.append(utterance)

    settings = Settings(inputs=(clip,), output=tmp_path / "talk.wav")
    async with open_talk(settings, responder=own, thread=Stored()) as talk:
        events = talk.session.events("utterance")
        talk.session.start()
        assert talk.files is not None
        talk.files.say(0)
        said = [await anext(events)]
        while said[-1].data["speaker"] == "user" or said[-1].data["interrupted"]:
            said.append(await anext(events))  # a machine that loses sound in mid-clip hears who goes on with a turn

    *_, user, agent = said
    assert ["user", "agent"] == [utterance.speaker for utterance in stored[-2:]]
    assert user.data["text"] == own.heard[-1]
    assert ("Ten meters.", True, "Dictionary") == (agent.data["text"], own.closed, talk.responder)

"""What the settings choose of what is on this machine."""

import os
import re
import struct
from pathlib import Path

import pytest

from discussion_helper.choices import (
    LLM_MODEL,
    SECOND_MODEL,
    check_tools,
    choose,
    choose_llm,
    describe_llm,
    model_names,
    recogniser_of,
    second_of,
    wake_word_of,
)
from discussion_helper.errors import ModelMissing, SettingError
from discussion_helper.models import Model, Store
from discussion_helper.policy import Policy
from discussion_helper.responder.base import EndpointChoice
from discussion_helper.responder.gguf import chat_templates_in
from discussion_helper.settings import Settings
from discussion_helper.stt.languages import LANGUAGES

ENDPOINT = Settings(llm="m@http://127.0.0.1:9/v1")


def test_an_endpoint_needs_nothing_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    choice = choose_llm(ENDPOINT)

    assert isinstance(choice, EndpointChoice)
    assert "m at http://127.0.0.1:9/v1" == describe_llm(choice, ENDPOINT)


def test_the_model_that_answers_is_asked_for_without_ears_and_a_voice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    with pytest.raises(ModelMissing) as missing:
        choose_llm(Settings())

    assert f"The model {LLM_MODEL} is not on this machine (looked in {tmp_path})." == missing.value.what
    assert f"Run: discussion-helper models pull {LLM_MODEL}" == missing.value.fix


@pytest.mark.models
def test_the_languages_are_those_of_the_recognisers_library() -> None:
    from faster_whisper.tokenizer import _LANGUAGE_CODES

    assert set(_LANGUAGE_CODES) == LANGUAGES


@pytest.mark.parametrize("model", ["tiny.en", "base"])
def test_a_code_that_is_no_language_sends_nobody_to_another_model(model: str) -> None:
    with pytest.raises(SettingError, match="language: no recogniser here knows 'xx'"):
        recogniser_of(Settings(stt=model, language="xx"))
    assert model == recogniser_of(Settings(stt=model, language="EN" if model == "base" else "en")).name


def test_a_language_is_found_out_by_a_model_that_knows_several() -> None:
    assert recogniser_of(Settings(stt="base", language="auto")).name == "base"
    with pytest.raises(SettingError, match=r"tiny\.en knows English only, and cannot find out the language.*stt base"):
        recogniser_of(Settings(language="auto"))


def test_the_default_model_is_one_file() -> None:
    choice = choose_llm(Settings())

    assert isinstance(choice, Path)
    assert ".gguf" == choice.suffix
    assert f"{LLM_MODEL} in this process" == describe_llm(choice, Settings())


def test_a_second_opinion_is_asked_for_where_it_is_here_and_no_language_model_is_beside_it(tmp_path: Path) -> None:
    folder = Store().path / SECOND_MODEL

    assert folder == second_of(Settings(), Store(), beside=False)
    assert second_of(Settings(), Store(), beside=True) is None
    assert second_of(Settings(stt=SECOND_MODEL), Store(), beside=False) is None
    assert second_of(Settings(), Store(tmp_path), beside=False) is None


@pytest.mark.parametrize(("settings", "asked"), [(ENDPOINT, True), (Settings(), False)])
def test_the_talk_has_one_beside_an_endpoint(settings: Settings, asked: bool) -> None:
    assert asked is (choose(settings).second is not None)


def test_a_second_model_that_was_fetched_in_part_is_not_asked(tmp_path: Path) -> None:
    (tmp_path / SECOND_MODEL).mkdir()
    (tmp_path / SECOND_MODEL / "model.bin").write_bytes(b"broken")

    assert second_of(Settings(), Store(tmp_path), beside=False) is None


# -- tools


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module with a tool in the working folder, and no model on this machine: that is not what to tell first."""
    (tmp_path / "tools_of_a_test.py").write_text("def weather(city: str) -> str:\n    return city\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    return "tools_of_a_test:weather"


def gguf(file: Path, template: str | None) -> str:
    """A model file with a description, and nothing else."""
    key = b"tokenizer.chat_template"
    pair = b"" if template is None else struct.pack("<Q", len(key)) + key + struct.pack("<IQ", 8, len(template))
    file.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, bool(pair)) + pair + (template or "").encode())
    return str(file)


def test_tools_are_refused_where_the_default_model_would_have_to_call_them(tools: str) -> None:
    with pytest.raises(SettingError, match=rf"tools: {LLM_MODEL}, .*calls none.*--llm"):
        choose(Settings(tools=tools))


def test_tools_are_refused_where_the_template_of_a_file_has_no_word_of_them(tools: str, tmp_path: Path) -> None:
    plain = gguf(tmp_path / "plain.gguf", "{{ messages }}")
    with pytest.raises(SettingError, match=r"tools: the chat template of plain\.gguf knows none.*--llm"):
        choose(Settings(tools=tools, llm=plain))


def test_tools_that_cannot_be_loaded_are_told_before_any_model(tools: str) -> None:
    with pytest.raises(SettingError, match="tools: there is no nonsense in tools_of_a_test"):
        choose(Settings(tools="tools_of_a_test:nonsense"))


def test_tools_are_taken_by_who_may_call_them(tools: str, tmp_path: Path) -> None:
    able = gguf(tmp_path / "able.gguf", "{% if tools %}{{ tools }}{% endif %}{{ messages }}")
    unknown = tmp_path / "unknown.gguf"
    unknown.write_bytes(b"GGUF of a later version")
    for llm in (able, str(unknown), ENDPOINT.llm):
        check_tools(Settings(tools=tools, llm=llm))
    check_tools(Settings())


@pytest.mark.models
def test_the_default_model_has_no_word_of_tools() -> None:
    file = choose_llm(Settings())

    assert isinstance(file, Path)
    templates = chat_templates_in(file)
    assert templates
    assert not any("tools" in text for text in templates)


def test_a_wake_word_may_be_a_file_beside_the_usual_words_networks(tmp_path: Path) -> None:
    word = tmp_path / "Computer.TFLITE"

    def choose_word(name: str) -> Model | None:
        return wake_word_of(Settings(policy=Policy(turn_policy="wake_word", wake_word=name)))

    for content, says in ((None, "cannot be read (No such file or directory)"), (b"", "is empty")):
        if content is not None:
            word.write_bytes(content)
        with pytest.raises(SettingError, match=re.escape(f"wake_word: {word} {says}")) as refused:
            choose_word(str(word))
        assert "FILE.onnx or FILE.tflite" in refused.value.fix
    word.unlink()
    os.mkfifo(word)  # nobody writes into it, and opening it would wait for that
    with pytest.raises(SettingError, match=re.escape(f"wake_word: {word} cannot be read (It is no file)")):
        choose_word(str(word))
    word.unlink()
    word.write_bytes(b"a network")
    found = choose_word(str(word))
    assert found is not None
    assert "okay_nabu" == found.name
    assert "okay_nabu" in model_names(Settings(policy=Policy(turn_policy="wake_word", wake_word=str(word))))
    with pytest.raises(SettingError, match=r"no wake word 'computer'.*or a FILE\.onnx or FILE\.tflite"):
        choose_word("computer")


def test_a_pipe_is_no_language_model(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    with pytest.raises(SettingError, match=re.escape(f"llm: The language model {pipe} cannot be read (It is no file)")):
        choose_llm(Settings(llm=str(pipe)))

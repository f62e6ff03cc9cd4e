"""What the settings choose of what is on this machine."""

from pathlib import Path

import pytest

from discussion_helper.choices import (
    LLM_MODEL,
    SECOND_MODEL,
    choose,
    choose_llm,
    describe_llm,
    recogniser_of,
    second_of,
)
from discussion_helper.errors import ModelMissing, SettingError
from discussion_helper.models import Store
from discussion_helper.responder.base import EndpointChoice
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

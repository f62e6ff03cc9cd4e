"""The composition root: what is wrong with settings is told before anything is loaded or opened."""

import pytest

from discussion_helper.app import model_names, open_talk
from discussion_helper.errors import SettingError
from discussion_helper.settings import Settings

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (Settings(language="de"), "tiny.en knows English only, not de.*--stt base"),
        (Settings(stt="joe-medium"), "stt: there is no recogniser 'joe-medium'.*tiny.en"),
        (Settings(voice="tiny.en"), "voice: there is no voice 'tiny.en'.*joe-medium"),
        (Settings(stt="nonsense"), "stt: there is no recogniser 'nonsense'"),
    ],
)
async def test_settings_that_do_not_fit_are_told_with_the_fix(settings: Settings, told: str) -> None:
    with pytest.raises(SettingError, match=told):
        async with open_talk(settings):
            pass


def test_only_the_models_that_are_needed_are_asked_for() -> None:
    assert ["tiny.en", "joe-medium", "SmolLM2-135M"] == model_names(Settings())
    assert ["tiny.en", "joe-medium"] == model_names(Settings(llm="llama3.2@http://127.0.0.1:11434/v1"))

"""Which recogniser takes the place of the chosen one on a machine that is late."""

from pathlib import Path
from typing import Any

import pytest

from discussion_helper.choices import smaller_of
from discussion_helper.errors import ModelMissing
from discussion_helper.settings import AUTO, Settings


class Holding:
    """A store that holds these models."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def path_of(self, model: Any) -> Path:
        if model.name not in self._names:
            raise ModelMissing(model.name)
        return Path(model.name)


@pytest.mark.parametrize(
    ("settings", "held", "smaller"),
    [
        (Settings(stt="base", language="en"), ["base", "tiny.en"], Path("tiny.en")),
        (Settings(stt="base", language="en"), ["base"], None),
        (Settings(stt="base", language="de"), ["base", "tiny.en"], None),
        (Settings(stt="base", language=AUTO), ["base", "tiny.en"], None),
        (Settings(stt="tiny.en"), ["base", "tiny.en"], None),
    ],
)
def test_the_smaller_one_is_here_and_knows_the_language(
    settings: Settings, held: list[str], smaller: Path | None
) -> None:
    store: Any = Holding(*held)
    assert smaller == smaller_of(settings, store)

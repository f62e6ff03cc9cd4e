"""The start of a talk: what takes a while to import keeps the event loop from nothing."""

import sys
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from discussion_helper import app
from discussion_helper.errors import ModelCorrupt
from discussion_helper.settings import Settings
from discussion_helper.types import Message

pytestmark = [pytest.mark.anyio, pytest.mark.models]


class Nothing:
    """Says nothing."""

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        for _ in messages[:0]:
            yield ""

    async def aclose(self) -> None:
        pass


def files(folder: Path) -> Settings:
    clip = Path(__file__).parents[1] / "audio" / "speech" / "sphinx_goforward.wav"
    return Settings(inputs=(clip,), output=folder / "talk.wav")


async def test_what_hears_is_imported_by_a_worker_before_the_event_loop_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[bool, bool]] = []
    hearing_with: Any = app.__dict__["hearing_with"]
    loops_own = threading.get_ident()

    def noted(*given: Any, **more: Any) -> Any:
        before = "onnxruntime" in sys.modules
        hearing = hearing_with(*given, **more)
        made.append((threading.get_ident() == loops_own, before))
        return hearing

    monkeypatch.setattr(app, "hearing_with", noted)
    async with app.open_talk(files(tmp_path), responder=Nothing()) as talk:
        assert [False] == [on_the_loop for on_the_loop, _ in made]
        async with talk.session.events("device") as events:
            talk.session.start()
            await anext(events)
        assert (True, True) == made[-1]
        assert talk.session.health is not None
        assert talk.health().blocks <= talk.session.health().blocks


async def test_a_detector_that_is_damaged_is_told_before_a_device_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(*given: Any, **more: Any) -> Any:
        raise ModelCorrupt("The voice detector is damaged.")

    monkeypatch.setattr(app, "hearing_with", damaged)
    with pytest.raises(ModelCorrupt, match="voice detector"):
        async with app.open_talk(files(tmp_path), responder=Nothing()):
            pytest.fail("it was opened")
    assert not (tmp_path / "talk.wav").exists()

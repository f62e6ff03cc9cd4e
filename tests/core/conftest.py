"""The core runs on both event loops, on virtual time."""

from collections.abc import Callable
from typing import Any

import pytest

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Policy, Utterance


@pytest.fixture
def anyio_backend(virtual_backend: Any) -> Any:
    """asyncio and trio, both with a clock that jumps."""
    return virtual_backend


@pytest.fixture
def session_of() -> Callable[..., Session]:
    """A session of fakes: `session_of(*turns, sentences=, delay_s=, sentence_s=, first_audio_s=, onset_s=, ...)`."""

    def make(
        *turns: str | Utterance,
        sentences: int = 1,
        delay_s: float = 0.0,
        sentence_s: float = 0.05,
        first_audio_s: float = 0.0,
        onset_s: float | None = None,
        pace_s: float = 0.0,
        stays_open: bool = False,
        **policy: Any,
    ) -> Session:
        return Session(
            ScriptedListener(turns, interrupt_after_s=onset_s, pace_s=pace_s, stays_open=stays_open),
            EchoResponder(sentences, delay_s),
            SilentVoice(sentence_s, first_audio_s),
            Policy(**policy),
        )

    return make

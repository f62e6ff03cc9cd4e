"""A room to talk in, and voices for it."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.testing import VirtualTimeLoop

SPEECH = Path(__file__).parents[2] / "audio" / "speech"


@pytest.fixture
def anyio_backend() -> Any:
    """A clock that jumps, and lets rooms step beside it."""
    return "asyncio", {"loop_factory": VirtualTimeLoop}


@cache
def _clip(name: str) -> Frame:
    return load(SPEECH / name, 48_000)


@pytest.fixture
def goforward() -> Frame:
    """ "Go forward ten meters.", at 48 kHz; the voice begins after half a second."""
    return _clip("sphinx_goforward.wav")


@pytest.fixture
def bobby() -> Frame:
    """Another one who speaks: a sentence of two seconds, at 48 kHz."""
    return _clip("sphinx_cards_002.wav")


@pytest.fixture
def agent() -> Samples:
    """A recorded voice to speak with, at 48 kHz."""
    return _clip("mfa_acoustic_corpus.wav").samples

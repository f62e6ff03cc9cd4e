"""What is said to somebody whose words were not recognised, and when."""

from typing import Any

import numpy as np
import pytest

from discussion_helper.audio.frames import silence
from discussion_helper.stt.base import Recognised
from discussion_helper.stt.sticky import Detection, SessionLanguage
from discussion_helper.turn.turns import TurnEnded
from discussion_helper.voice import lexicon
from discussion_helper.voice.not_understood import apologies_in, apologies_of, listed, why_unclear
from discussion_helper.voice.notes import Turn


def turn(voiced_s: float = 1.0, **more: bool | str) -> Turn:
    return Turn(TurnEnded(np.asarray(silence(1.0, 16_000)), 0, 16_000, voiced_s), 2.0, 0.5, 1.5, **more)  # type: ignore[arg-type]


def test_every_language_of_the_lexicon_has_both_texts() -> None:
    assert set(lexicon.listed()) == set(listed())
    assert all(set(texts) == {"unclear", "unanswered"} and all(texts.values()) for texts in listed().values())


@pytest.mark.parametrize(
    ("language", "code"), [("de-AT", "de"), ("DE", "de"), ("xx", "en"), ("", "en"), ("pt_BR", "pt")]
)
def test_the_texts_are_in_the_sessions_language(language: str, code: str) -> None:
    assert listed()[code]["unclear"] == apologies_in(language)("unclear")


def test_the_language_that_the_recogniser_keeps_is_asked_for_each_time() -> None:
    session = SessionLanguage()

    class Keeps:
        @property
        def session_language(self) -> str:
            return session.language

    recogniser: Any = Keeps()
    text, said = apologies_of(recogniser, "auto"), []
    for language in ("", "de", "fr", "fr"):
        if language:
            session.take(Detection(language, 0.9, 2.0))
        said.append(text("unclear"))
    assert [listed()[code]["unclear"] for code in ("en", "de", "de", "fr")] == said


def test_a_recogniser_that_keeps_none_leaves_the_language_that_was_given() -> None:
    recogniser: Any = object()
    assert listed()["de"]["unanswered"] == apologies_of(recogniser, "de")("unanswered")


@pytest.mark.parametrize("refused", ["not understood", "repeats itself", "more words than voice"])
def test_garbled_speech_is_unclear(refused: str) -> None:
    assert refused == why_unclear(Recognised("", refused=refused), turn())


@pytest.mark.parametrize(
    ("result", "note"),
    [
        (Recognised("Hello."), turn()),
        (Recognised("", refused="no words"), turn()),
        (Recognised("", refused="no voice"), turn()),
        (Recognised("", refused="no speech", no_speech_probability=0.9), turn()),
        (Recognised("", refused="no speech"), turn(0.7)),
        (Recognised("", refused="not understood"), turn(0.3)),
        (Recognised("", refused="not understood"), turn(own=True)),
        (Recognised("", refused="not understood"), turn(ignored="a listener's response")),
        (Recognised("", refused="not understood"), turn(decided=True)),
    ],
)
def test_a_noise_a_response_and_the_agent_itself_are_not(result: Recognised, note: Turn) -> None:
    assert "" == why_unclear(result, note)


def test_words_of_the_agents_are_none_however_late_they_come() -> None:
    assert "" == why_unclear(Recognised("tomorrow at nine on Monday"), turn())

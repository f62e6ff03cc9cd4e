"""Which turn was somebody's though no words came of it, and what is said then, by language."""

import tomllib
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from discussion_helper.not_understood import SLOW_S, Kind
from discussion_helper.stt.base import Recognised, Recogniser
from discussion_helper.voice.notes import Turn
from discussion_helper.voice.session_language import language_of

__all__ = ["ECHO_S", "LEAST_VOICED_S", "OWN_WORDS", "SLOW", "apologies_in", "apologies_of", "listed", "why_unclear"]

OWN_WORDS = "the agent's own words"
SLOW = f"what was said has not been read within {SLOW_S:g} s"
ECHO_S = 0.5
"""After the agent's last sound nothing is its echo any more: the latest that is looked for comes 0.4 s after it."""

LEAST_VOICED_S = 0.5
"""Of voice that was somebody's who is waited for: a syllable, a cough or a listener's response is shorter, mostly."""
_SURELY_S = 1.0
_SPEECH = 0.3
_GARBLED = ("not understood", "more words than voice", "repeats itself")
"""Reasons of a recogniser that heard speech and did not believe its own words; noise is refused for others."""


@cache
def listed() -> dict[str, dict[str, str]]:
    """By language the texts by kind."""
    return tomllib.loads(files("discussion_helper.voice").joinpath("not_understood.toml").read_text("utf-8"))


def apologies_in(language: str) -> Callable[[Kind], str]:
    """The texts of a language, such as "en" or "de-AT"; English for one that is not known."""
    code = language.replace("_", "-").split("-")[0].lower()
    return listed().get(code, listed()["en"]).__getitem__


def apologies_of(recogniser: Recogniser, language: str) -> Callable[[Kind], str]:
    """The texts in the language that the session has when they are said: see `language_of`."""
    found = language_of(recogniser, language)
    return lambda kind: apologies_in(found())(kind)


def why_unclear(result: Recognised, note: Turn) -> str:
    """Why a turn in which nothing was heard of the agent has no text, in a few words; "" if it may be a noise.

    One that is left out for its words, which were the agent's, is never one: a television that comes 3 s late would
    hear the agent apologise to itself, and that again.
    """
    voiced_s = getattr(note.event, "voiced_s", 0.0)
    if note.own or note.decided or note.ignored or voiced_s < LEAST_VOICED_S:
        return ""
    if result.text or result.no_speech_probability >= _SPEECH:
        return ""
    garbled = result.refused in _GARBLED
    return result.refused if garbled or (result.refused == "no speech" and voiced_s >= _SURELY_S) else ""

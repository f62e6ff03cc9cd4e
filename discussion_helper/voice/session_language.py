"""The language of a session, as the turns that were heard change it."""

from collections.abc import Callable
from typing import Any

from discussion_helper.stt.base import KeepsLanguage, Recognised, Recogniser, TellsLanguage

__all__ = ["LANGUAGE", "language_change", "language_of"]

LANGUAGE = "clearly spoken in several turns"


def language_of(recogniser: Recogniser, language: str) -> Callable[[], str]:
    """Gives the language that the session has when it is called, which its recogniser may find out.

    `language` where the recogniser cannot say it, or has found none yet.
    """

    def found() -> str:
        return (recogniser.session_language if isinstance(recogniser, TellsLanguage) else "") or language

    return found


def language_change(recogniser: Recogniser, turn: Recognised) -> dict[str, Any]:
    """The turn is over: what to tell if the session goes on in another language; {} if not."""
    before = recogniser.turn_over(turn) if isinstance(recogniser, KeepsLanguage) else ""
    return {"what": "language", "why": LANGUAGE, "language": turn.language, "before": before} if before else {}

"""The language of a session, as the turns that were heard change it."""

from typing import Any

from discussion_helper.stt.base import KeepsLanguage, Recognised, Recogniser

__all__ = ["LANGUAGE", "language_change"]

LANGUAGE = "clearly spoken in several turns"


def language_change(recogniser: Recogniser, turn: Recognised) -> dict[str, Any]:
    """The turn is over: what to tell if the session goes on in another language; {} if not."""
    before = recogniser.turn_over(turn) if isinstance(recogniser, KeepsLanguage) else ""
    return {"what": "language", "why": LANGUAGE, "language": turn.language, "before": before} if before else {}

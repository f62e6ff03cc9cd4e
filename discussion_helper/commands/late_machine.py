"""What a talk does without because its machine is late, in words."""

from collections.abc import Iterable, Mapping
from typing import Any

from discussion_helper.events import Event

__all__ = ["FIX", "change_line", "without_line"]

FIX = "Close other programs that keep the processor busy."
_WHAT = {
    "interim": "words shown while you speak",
    "speculation": "answers begun ahead of time",
    "second_opinion": "a second opinion on what is unclear",
    "recogniser": "the larger recogniser",
}
_WHY = {
    "detectors": "what the microphone heard was looked at {late} late",
    "interim": "reading what was said so far took {late}",
    "final": "what you said was text only {late} after its end",
    "first_token": "the answer took {late} to begin",
    "synthesis": "the voice had to wait {late} for its next words",
    "loop": "the program noticed what happened {late} late",
    "playback": "{late} of sound came too late for the loudspeaker",
}
"""What was late, and by how much."""
_NOTHING_TO_DO = "You need not do anything; if it lasts, close other programs that keep the processor busy."


def change_line(event: Event) -> str:
    """What a `shed` event says."""
    data = event.data
    what = _WHAT.get(data["what"], data["what"])
    if data["state"] == "restored":
        return f"The machine is fast enough again: the talk has {what} again."
    return (
        f"The machine is too slow at the moment: {_late(data)}. Until it is fast enough again the talk goes on without "
        f"{what}. {_NOTHING_TO_DO}"
    )


def _late(data: Mapping[str, Any]) -> str:
    why = _WHY.get(data["why"], f"{data['why']} took {{late}}").format(late=f"{data['late_s']:.2f} s")
    return f"{why}, and {data['budget_s']:.2f} s would still be in time" if data["budget_s"] else why


def without_line(sheds: Iterable[str]) -> str:
    """While some are shed."""
    without = " and ".join(_WHAT.get(what, what) for what in sheds)
    return f"This machine is too slow at the moment, and the talk goes on without {without}. {FIX}"

"""What a talk does without because its machine is late, in words."""

from collections.abc import Iterable

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
    "detectors": "hearing",
    "interim": "reading a turn",
    "final": "recognition",
    "first_token": "the answer",
    "synthesis": "the voice",
    "loop": "the event loop",
    "playback": "the loudspeaker",
}


def change_line(event: Event) -> str:
    """What a `shed` event says."""
    data = event.data
    what, why = _WHAT.get(data["what"], data["what"]), _WHY.get(data["why"], data["why"])
    if data["state"] == "restored":
        return f"In time again: with {what}."
    return f"Late ({why}: {data['late_s']:.2f} s): without {what}."


def without_line(sheds: Iterable[str]) -> str:
    """While some are shed."""
    return f"This machine is late: without {' and '.join(_WHAT.get(what, what) for what in sheds)}. {FIX}"

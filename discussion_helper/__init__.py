"""Conversations that people hold with a machine: a session listens, answers and speaks as a background task."""

from discussion_helper.lazy import lazy_names

TYPE_CHECKING = False  # the name that type checkers know; `typing` would take longer than all else here
if TYPE_CHECKING:
    from discussion_helper.discussion import Discussion
    from discussion_helper.errors import DiscussionError
    from discussion_helper.events import Event
    from discussion_helper.parts import Listener, Responder, Voice
    from discussion_helper.policy import Policy
    from discussion_helper.session import Session, Sessions, utterance_of
    from discussion_helper.types import Conversation, Floor, SpokenSentence, TurnTiming, Utterance

__all__ = [
    "Conversation",
    "Discussion",
    "DiscussionError",
    "Event",
    "Floor",
    "Listener",
    "Policy",
    "Responder",
    "Session",
    "Sessions",
    "SpokenSentence",
    "TurnTiming",
    "Utterance",
    "Voice",
    "utterance_of",
]

_HOMES = {
    "discussion": ("Discussion",),
    "errors": ("DiscussionError",),
    "events": ("Event",),
    "parts": ("Listener", "Responder", "Voice"),
    "policy": ("Policy",),
    "session": ("Session", "Sessions", "utterance_of"),
    "types": ("Conversation", "Floor", "SpokenSentence", "TurnTiming", "Utterance"),
}
"""Loaded at the first use: the command line passes through here, and has to be able to take Ctrl-C at once."""

if not TYPE_CHECKING:  # for a type checker it would stand for any name
    __getattr__ = lazy_names(__name__, _HOMES)

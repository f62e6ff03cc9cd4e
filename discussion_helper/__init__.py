"""Conversations that people hold with a machine: a session listens, answers and speaks as a background task."""

from discussion_helper.discussion import Discussion
from discussion_helper.errors import DiscussionError
from discussion_helper.events import Event
from discussion_helper.parts import Listener, Responder, Voice
from discussion_helper.session import Session, Sessions, utterance_of
from discussion_helper.types import Conversation, Floor, Policy, SpokenSentence, TurnTiming, Utterance

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

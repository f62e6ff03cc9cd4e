"""Sessions of the public fakes, for demonstrations and tests."""

from discussion_helper.parts import Responder
from discussion_helper.session import Session
from discussion_helper.testing.fakes import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.web.wish import Wish

__all__ = ["echo_responder", "fake_session"]


def fake_session(wish: Wish) -> Session:
    """Hears the turns of the wish, and ends; without any it stays open for what is typed."""
    listener = ScriptedListener(wish.turns, stays_open=not wish.turns)
    return Session(listener, EchoResponder(), SilentVoice(), wish.policy, thread=wish.thread)


def echo_responder(_: Wish) -> Responder:
    """Gives back what was said."""
    return EchoResponder()

"""A client of `discussion-helper serve`: sessions are opened, followed, spoken to and ended from a program."""

from discussion_helper.client.client import Client
from discussion_helper.client.errors import NotLetIn, Refused, ServerError, ServerUnreachable, TooOften
from discussion_helper.client.following import Following
from discussion_helper.client.link import Link
from discussion_helper.client.server_events import ServerEvent
from discussion_helper.client.values import Accepted, SessionState, StoredThread, StoredTurn, ThreadHead, Transcript

__all__ = [
    "Accepted",
    "Client",
    "Following",
    "Link",
    "NotLetIn",
    "Refused",
    "ServerError",
    "ServerEvent",
    "ServerUnreachable",
    "SessionState",
    "StoredThread",
    "StoredTurn",
    "ThreadHead",
    "TooOften",
    "Transcript",
]

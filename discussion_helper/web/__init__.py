"""Sessions over HTTP: open, follow, speak to and end them; for the machine's own user, behind a token."""

from discussion_helper.web.app import create_app
from discussion_helper.web.limits import Limits
from discussion_helper.web.opening import OpenFake, OpenRemote, OpenResponder, OpenVoice
from discussion_helper.web.server import Server, bound_socket
from discussion_helper.web.wish import Wish

__all__ = [
    "Limits",
    "OpenFake",
    "OpenRemote",
    "OpenResponder",
    "OpenVoice",
    "Server",
    "Wish",
    "bound_socket",
    "create_app",
]

"""What goes wrong between a client and its server.

ServerError                the server cannot do what was asked, or what it answered is no answer
├── ServerUnreachable      nobody answers there
└── Refused                it answered with an error
    ├── NotLetIn           the token is missing, wrong, or was rotated (401)
    └── TooOften           requests come too fast (429)
"""

from discussion_helper.errors import DiscussionError

__all__ = ["NotLetIn", "Refused", "ServerError", "ServerUnreachable", "TooOften"]


class ServerError(DiscussionError):
    """The server cannot do what was asked, or what it answered is no answer."""


class ServerUnreachable(ServerError):
    """Nobody answers there."""


class Refused(ServerError):
    """The server answered with an error, in its own words. `status` is that of HTTP."""

    def __init__(self, status: int, what: str, *, fix: str = "") -> None:
        super().__init__(what, fix=fix)
        self.status = status


class NotLetIn(Refused):
    """The token is missing, wrong, or was rotated."""

    def __init__(self, what: str) -> None:
        super().__init__(401, what, fix="Take the token, or the whole link, that the server printed last.")


class TooOften(Refused):
    """Requests come too fast. `after_s`: when the server wants to be asked again."""

    def __init__(self, what: str, *, fix: str, after_s: float) -> None:
        super().__init__(429, what, fix=fix)
        self.after_s = after_s

"""What lets somebody in: the token, and the cookie that a browser has in its place."""

import hashlib
import re
import secrets

import anyio
from starlette.types import Message, Receive

from discussion_helper.errors import SettingError

__all__ = ["LONG_ENOUGH", "Keys", "checked_token"]

LONG_ENOUGH = 32
"""Characters of a token that nobody guesses: 192 bits of the 43 characters, 256 bits, that a new one has."""

_TOKEN = re.compile(r"[A-Za-z0-9._~-]+")


def checked_token(token: str | None) -> str | None:
    """Raises SettingError for one that no header or link could carry."""
    if token is not None and not (isinstance(token, str) and _TOKEN.fullmatch(token)):
        raise SettingError("token: it is empty or has other characters.", fix="Use A-Z, a-z, 0-9 and . _ ~ -.")
    return token


class Keys:
    """One token at a time, and one cookie, which is drawn by itself and says nothing of the token.

    Of the token only a digest is kept, so that comparing takes as long for every text that is shown.
    """

    def __init__(self, token: str | None) -> None:
        """`token` None: everybody may come in. Raises SettingError for one that no link could carry."""
        self.required = checked_token(token) is not None
        self._turn(token or "")
        self._rotations = 0
        self._receiving: set[anyio.CancelScope] = set()

    def _turn(self, token: str) -> None:
        self.guessable = len(token) < LONG_ENOUGH
        self.cookie = secrets.token_urlsafe(32)
        self._token, self._cookie = _digest(token), _digest(self.cookie)

    def is_token(self, shown: str) -> bool:
        """In constant time."""
        return self.required and secrets.compare_digest(_digest(shown), self._token)

    def is_cookie(self, shown: str) -> bool:
        """In constant time."""
        return self.required and secrets.compare_digest(_digest(shown), self._cookie)

    def rotate(self) -> str:
        """A new token. The old one and every cookie are worth nothing from now on, and what they opened ends.

        On the event loop. Raises SettingError where no token is asked for.
        """
        if not self.required:
            raise SettingError("token: this server asks for none.", fix="Give create_app a token.")
        token = secrets.token_urlsafe(32)
        self._turn(token)
        self._rotations += 1
        for waiting in tuple(self._receiving):
            waiting.cancel()
        return token

    def until_rotated(self, receive: Receive, gone: Message) -> Receive:
        """`receive`, which gives `gone` once the keys are others: whoever is served then is taken to have left."""
        let_in_by = self._rotations

        async def received() -> Message:
            if let_in_by == self._rotations:
                with anyio.CancelScope() as waiting:
                    self._receiving.add(waiting)
                    try:
                        return await receive()
                    finally:
                        self._receiving.discard(waiting)
            return gone

        return received


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()

"""A password, of which only a slow hash is kept."""

import hashlib
import secrets

import anyio

from discussion_helper.errors import SettingError

__all__ = ["LONGEST", "SHORTEST", "Password"]

SHORTEST = 12
"""Characters. Ten guesses a minute (`Limits.wrong_a_minute`) are 5 million in a year."""
LONGEST = 1024
"""Bytes."""
_COST = {"n": 2**14, "r": 8, "p": 1, "maxmem": 64 * 1024 * 1024}
"""16 MiB and some 50 ms for each guess."""


class Password:
    """Compared in a thread, one guess at a time, and in constant time."""

    def __init__(self, text: str) -> None:
        """Raises SettingError for one that is too short, too long, or on several lines."""
        if len(text) < SHORTEST or len(text.encode("utf-8", "surrogateescape")) > LONGEST or "\n" in text:
            what = f"password: it has fewer than {SHORTEST} characters, more than {LONGEST} bytes, or several lines."
            raise SettingError(what, fix="Use four words that have nothing to do with each other.")
        self._salt = secrets.token_bytes(16)
        self._hash = self._hashed(text)
        self._one = anyio.CapacityLimiter(1)

    async def is_right(self, shown: str) -> bool:
        """Whether it is this one."""
        if len(shown.encode("utf-8", "surrogateescape")) > LONGEST:
            return False
        return secrets.compare_digest(
            await anyio.to_thread.run_sync(self._hashed, shown, limiter=self._one), self._hash
        )

    def _hashed(self, text: str) -> bytes:
        return hashlib.scrypt(text.encode("utf-8", "surrogateescape"), salt=self._salt, dklen=32, **_COST)

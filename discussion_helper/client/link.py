"""Where a server is, and what lets a program in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import SplitResult, parse_qs, urlsplit, urlunsplit

from discussion_helper.client.paths import session_path
from discussion_helper.errors import SettingError
from discussion_helper.responder.base import is_loopback

__all__ = ["Link"]

_TOKEN = re.compile(r"[A-Za-z0-9._~-]+")
_URL_FIX = "Use the link that the server printed, or its address, such as http://127.0.0.1:7654."


@dataclass(frozen=True, slots=True)
class Link:
    """`url` has no path. No text of it holds the token."""

    url: str
    token: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, url: str, token: str | None = None, *, insecure: bool = False) -> Self:
        """`url`: the link that the server printed, with its token, or the address alone. `token` counts before that.

        `insecure`: it may be sent to another machine in clear text. Raises SettingError, which repeats nothing of
        what may be a token.
        """
        parts = _split(url.strip())
        shown = token if token is not None else parse_qs(parts.query).get("token", [None])[0]
        if shown is not None and not _TOKEN.fullmatch(shown):
            raise SettingError("token: it is empty or has other characters.", fix="Use A-Z, a-z, 0-9 and . _ ~ -.")
        link = cls(urlunsplit((parts.scheme, parts.netloc, "", "", "")), shown)
        if shown is not None and parts.scheme == "http" and not link.is_here and not insecure:
            what = "url: the token would go to another machine in clear text."
            raise SettingError(what, fix="Use https://, or say that it may be insecure.")
        return link

    @property
    def is_here(self) -> bool:
        """It is this machine, going by the address alone."""
        return is_loopback(self.url)

    @property
    def headers(self) -> Mapping[str, str]:
        """Of every request."""
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    def audio_url(self, session_id: str) -> str:
        """Of the WebSocket of a session's sound. Raises SettingError for what is no id."""
        return self.url.replace("http", "ws", 1) + session_path(session_id, "audio")


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none, half an IPv6 address
        known = False
    if not known or parts.username is not None or parts.path not in ("", "/"):
        raise SettingError("url: it is no address of a server.", fix=_URL_FIX)
    return parts

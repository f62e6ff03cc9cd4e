"""Answers of the server, and what else comes of a request, as values and errors."""

import json
import ssl
from collections.abc import Iterator
from typing import Any

import httpx

from discussion_helper.client.errors import NotLetIn, Refused, ServerError, ServerUnreachable, TooOften
from discussion_helper.client.link import Link

__all__ = ["LONGEST_RETRY_S", "json_of", "refusal_of", "unreachable"]

LONGEST_RETRY_S = 60.0
"""What a server may wish that is waited before it is asked again; what is longer, or no number, counts as that."""
_LONGEST_TEXT = 500
"""Characters of an error that are told."""
_UNTRUSTED = (
    "Trust its certificate, with tls=ssl.create_default_context(cafile=FILE) or SSL_CERT_FILE=FILE in the environment, "
    "and ask by a name that stands in it."
)


def json_of(response: httpx.Response) -> Any:
    """What it says, None where it says nothing. Raises Refused, or ServerError for what is no JSON."""
    if not response.is_success:
        raise refusal_of(response)
    if response.status_code == 204:
        return None
    try:
        return response.json()
    except (ValueError, RecursionError):
        fix = "See whether it is a server of this program."
        raise ServerError("The server answered with something that is no JSON.", fix=fix) from None


def refusal_of(response: httpx.Response) -> Refused:
    """Of an answer that was read and is an error."""
    what, fix = _told(response.content, f"The server answered with {response.status_code}.")
    if response.status_code == 401:
        return NotLetIn(what)
    if response.status_code == 429:
        return TooOften(what, fix=fix, after_s=_seconds(response.headers.get("retry-after", "")))
    return Refused(response.status_code, what, fix=fix)


def _told(body: bytes, otherwise: str) -> tuple[str, str]:
    try:
        told = json.loads(body)
        what, fix = told["error"], told["fix"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return otherwise, ""
    if not (isinstance(what, str) and isinstance(fix, str)):
        return otherwise, ""
    return what[:_LONGEST_TEXT], fix[:_LONGEST_TEXT]


def _seconds(text: str) -> float:
    is_number = text.isascii() and text.isdecimal() and len(text) < 10
    return min(LONGEST_RETRY_S, float(text)) if is_number else LONGEST_RETRY_S


def unreachable(link: Link, error: Exception) -> ServerUnreachable:
    """Of what the network did."""
    reason = " ".join(str(error).split())[:_LONGEST_TEXT] or type(error).__name__
    return ServerUnreachable(f"The server at {link.url} cannot be reached ({reason}).", fix=_fix_of(link, error))


def _fix_of(link: Link, error: Exception) -> str:
    causes = tuple(_causes(error))
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return _UNTRUSTED
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return "Where it is served without TLS its address begins with http://."
    if isinstance(error, httpx.RemoteProtocolError) and link.url.startswith("http:"):
        return "Where it is served with TLS its address begins with https://; else look at its log."
    return "Start it with `discussion-helper serve`, or check the address."


def _causes(error: BaseException) -> Iterator[BaseException]:
    """It, and what led to it."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__

"""Answers of the server, and what else comes of a request, as values and errors."""

import json
from typing import Any

import httpx

from discussion_helper.client.errors import NotLetIn, Refused, ServerError, ServerUnreachable, TooOften
from discussion_helper.client.link import Link

__all__ = ["LONGEST_RETRY_S", "json_of", "refusal_of", "unreachable"]

LONGEST_RETRY_S = 60.0
"""What a server may wish that is waited before it is asked again; what is longer, or no number, counts as that."""
_LONGEST_TEXT = 500
"""Characters of an error that are told."""


def json_of(response: httpx.Response) -> Any:
    """What it says. Raises Refused, or ServerError for what is no JSON."""
    if not response.is_success:
        raise refusal_of(response)
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


def unreachable(link: Link, error: httpx.RequestError) -> ServerUnreachable:
    """Of what the network did."""
    reason = " ".join(str(error).split())[:_LONGEST_TEXT] or type(error).__name__
    fix = "Start it with `discussion-helper serve`, or check the address."
    return ServerUnreachable(f"The server at {link.url} cannot be reached ({reason}).", fix=fix)

"""What went wrong at an endpoint, as one line with the fix."""

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from discussion_helper.errors import EndpointRefused, EndpointStalled, EndpointUnreachable, NothingToSay, ResponderError
from discussion_helper.responder.body import MOST_BYTES
from discussion_helper.responder.unreachable import is_undecodable, why

if TYPE_CHECKING:
    import openai

__all__ = ["EndpointErrors", "TooMuchContext"]

_KEY_FIX = "Set the environment variable OPENAI_API_KEY to a key that is valid there."
_LONGEST_DETAIL = 200
_TOO_MUCH = re.compile(r"context.{0,40}(?:length|size|window|exceed)|exceed.{0,40}context|too many (?:input )?tokens"
                       r"|prompt is too long|maximum.{0,40}tokens", re.IGNORECASE)  # fmt: skip
"""What OpenAI, vLLM, llama.cpp, LM Studio and others say of a request that does not fit into the model's context."""


class TooMuchContext(EndpointRefused):
    """The request does not fit into the model's context."""


class EndpointErrors:
    """Makes the errors of one endpoint. The key appears in none of them, also when the endpoint repeats it.

    They are to be raised `from None`: the client's own errors hold the request, and with it the key.
    """

    def __init__(self, *, base_url: str, model: str, api_key: str | None) -> None:
        self._base_url = base_url
        self._host = urlsplit(base_url).netloc
        self._model = model
        self._key = api_key

    def of(self, error: Exception) -> ResponderError:
        """What `error`, raised by the client or by a stream of it, means."""
        import openai

        if is_undecodable(error):
            what = f"{self._host} sent an answer that is not compressed the way it says (Content-Encoding)."
            return EndpointRefused(what, fix="Check the server, and the proxy before it.")
        if isinstance(error, openai.APIStatusError):
            return self._refused(error)
        if isinstance(error, openai.APITimeoutError):
            return self.unreachable("does not answer")
        if isinstance(error, openai.APIConnectionError):
            return self.unreachable(*why(error))
        if isinstance(error, openai.APIError):
            return self.reported(_words(error.body) or error.message)
        if isinstance(error, ValueError):  # JSON that is none
            return self.malformed()
        return ResponderError(f"The request to {self._host} failed ({type(error).__name__}).", fix="Try again.")

    def unreachable(self, how: str, fix: str = "") -> ResponderError:
        """Nobody answers."""
        start = f"Start the server that is to answer at {self._base_url}, or name another one."
        return EndpointUnreachable(f"{self._host} {how}.", fix=fix or start)

    def stalled(self, how: str) -> ResponderError:
        """It does not go on."""
        return EndpointStalled(f"{self._host} {how}.", fix="Check the server, or choose a faster model.")

    def malformed(self, kind: str = "") -> ResponderError:
        """What it sends is no chat completion; `kind` is its content type."""
        what = self._printable(kind) or "something"
        fix = "Check the path in the URL: most servers have the API under /v1."
        return EndpointRefused(f"{self._host} sent {what} that is not a stream of chat completions.", fix=fix)

    def reported(self, message: object) -> ResponderError:
        """It says in its stream what went wrong."""
        return EndpointRefused(f"{self._host} reported an error{self._detail(message)}.", fix="Try again.")

    def too_long(self) -> ResponderError:
        """An event of its stream does not end."""
        what = f"{self._host} sent {MOST_BYTES // 1024} KiB in one event of a stream of chat completions."
        return EndpointRefused(what, fix="Check the path in the URL, and the server.")

    def empty(self) -> ResponderError:
        """It ended without anything to say."""
        fix = "Try again, or choose another model."
        return NothingToSay(f"{self._host} sent a reply without anything to say.", fix=fix)

    def _refused(self, error: "openai.APIStatusError") -> ResponderError:
        status, detail = error.status_code, self._detail(_words(error.body) or error.message)
        phrase = f"{status} {HTTPStatus(status).phrase}" if status in set(HTTPStatus) else str(status)
        if status in (401, 403):
            what = "refused the key" if self._key else "wants a key, and none was sent"
            return EndpointRefused(f"{self._host} {what} ({phrase}){detail}.", fix=self._key_fix())
        if status == 404:
            what = f"{self._host} has no model {self._model!r}, or no chat completions at this path ({phrase}){detail}."
            return EndpointRefused(what, fix=f"Name one of the models that {self._base_url}/models lists.")
        if status == 429:
            what = f"{self._host} refused: too many requests, or no quota left ({phrase}){detail}."
            wait = _seconds(error.response.headers.get("retry-after", ""))
            return EndpointRefused(what, fix=f"Wait {wait}, or check the account's limits and balance.")
        if 300 <= status < 400:
            return self._moved(error.response, phrase)
        if status >= 500:
            return EndpointRefused(f"{self._host} failed ({phrase}){detail}.", fix="Try again, or look at its log.")
        if _TOO_MUCH.search(detail):
            what = f"{self._host} refused: the conversation does not fit into the model's context ({phrase}){detail}."
            return TooMuchContext(what, fix="Give the model's context in tokens, or choose a model with a larger one.")
        return EndpointRefused(f"{self._host} refused the request ({phrase}){detail}.", fix="Change what it names.")

    def _moved(self, response: Any, phrase: str) -> ResponderError:
        """It names another address. That is not followed: who talks decides where the words go."""
        here = str(response.request.url)
        target = self._printable(_target(here, response.headers.get("location", "")))
        if not target:
            return EndpointRefused(f"{self._host} points to no address ({phrase}).", fix="Check the URL.")
        if target == here:
            what = f"{self._host} points in a circle: {here} leads to itself ({phrase})."
            return EndpointRefused(what, fix="Check the server, and the proxy before it.")
        fix = "If that is the server you mean, name its address."
        return EndpointRefused(f"{self._host} points to another address, {target} ({phrase}).", fix=fix)

    def _key_fix(self) -> str:
        if self._key or self._base_url.startswith("https:"):
            return _KEY_FIX
        return f"{_KEY_FIX} A key is sent only over https or on this machine."

    def _detail(self, message: object) -> str:
        text = self._printable(message)
        return f": {text}" if text else ""

    def _printable(self, message: object) -> str:
        text = str(message or "")
        for key in {self._key, quote(self._key, safe="")} if self._key else ():
            text = text.replace(key, "[key]")
        text = text[: 10 * _LONGEST_DETAIL]
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return text[:_LONGEST_DETAIL].rstrip(". ")


def _words(body: object) -> str:
    """What a server says of an error: a text, a field that holds one, or the whole of it."""
    if isinstance(body, Mapping):
        found = (_words(body.get(name)) for name in ("message", "detail", "error"))
        return next(filter(None, found), json.dumps(body, default=str) if body else "")
    return body if isinstance(body, str) else json.dumps(body, default=str) if body else ""


def _target(here: str, location: str) -> str:
    """The address a redirection names, without user, query and fragment; "" when it names none."""
    try:
        parts = urlsplit(urljoin(here, location)) if location else None
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")) if parts else ""


def _seconds(retry_after: str) -> str:
    """The header Retry-After in words, where it counts seconds."""
    return f"{int(retry_after)} s" if re.fullmatch(r"[0-9]{1,6}", retry_after) else "a little"

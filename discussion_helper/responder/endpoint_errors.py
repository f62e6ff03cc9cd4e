"""What went wrong at an endpoint, as one line with the fix."""

from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from discussion_helper.errors import EndpointRefused, EndpointStalled, EndpointUnreachable, ResponderError
from discussion_helper.responder.body import MOST_BYTES

if TYPE_CHECKING:
    import openai

__all__ = ["EndpointErrors"]

_KEY_FIX = "Set the environment variable OPENAI_API_KEY to a key that is valid there."
_LONGEST_DETAIL = 200


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

        if isinstance(error, openai.APIStatusError):
            return self._refused(error)
        if isinstance(error, openai.APITimeoutError):
            return self.unreachable("does not answer")
        if isinstance(error, openai.APIConnectionError):
            return self.unreachable("cannot be reached")
        if isinstance(error, openai.APIError):
            return EndpointRefused(f"{self._host} reported an error{self._detail(error.message)}.", fix="Try again.")
        if isinstance(error, ValueError):  # JSON that is none
            return self.malformed()
        return ResponderError(f"The request to {self._host} failed ({type(error).__name__}).", fix="Try again.")

    def unreachable(self, how: str) -> ResponderError:
        """Nobody answers."""
        fix = f"Start the server that is to answer at {self._base_url}, or name another one with --llm."
        return EndpointUnreachable(f"{self._host} {how}.", fix=fix)

    def stalled(self, how: str) -> ResponderError:
        """It does not go on."""
        return EndpointStalled(f"{self._host} {how}.", fix="Check the server, or choose a faster model with --llm.")

    def malformed(self, kind: str = "") -> ResponderError:
        """What it sends is no chat completion; `kind` is its content type."""
        what = self._printable(kind) or "something"
        fix = "Check the path in the URL: most servers have the API under /v1."
        return EndpointRefused(f"{self._host} sent {what} that is not a stream of chat completions.", fix=fix)

    def too_long(self) -> ResponderError:
        """An event of its stream does not end."""
        what = f"{self._host} sent {MOST_BYTES // 1024} KiB in one event of a stream of chat completions."
        return EndpointRefused(what, fix="Check the path in the URL, and the server.")

    def empty(self) -> ResponderError:
        """It ended without anything to say."""
        fix = "Try again, or choose another model with --llm."
        return ResponderError(f"{self._host} sent a reply without anything to say.", fix=fix)

    def _refused(self, error: "openai.APIStatusError") -> ResponderError:
        status, detail = error.status_code, self._detail(error.message)
        phrase = f"{status} {HTTPStatus(status).phrase}" if status in set(HTTPStatus) else str(status)
        if status in (401, 403):
            what = "refused the key" if self._key else "wants a key, and none was sent"
            return EndpointRefused(f"{self._host} {what} ({phrase}){detail}.", fix=self._key_fix())
        if status == 404:
            what = f"{self._host} has no model {self._model!r}, or no chat completions at this path ({phrase}){detail}."
            return EndpointRefused(what, fix=f"Name one of the models that {self._base_url}/models lists.")
        if status == 429:
            what = f"{self._host} refused: too many requests, or no quota left ({phrase}){detail}."
            return EndpointRefused(what, fix="Wait a little, or check the account's limits and balance.")
        if status >= 500:
            return EndpointRefused(f"{self._host} failed ({phrase}){detail}.", fix="Try again, or look at its log.")
        return EndpointRefused(f"{self._host} refused the request ({phrase}){detail}.", fix="Change what it names.")

    def _key_fix(self) -> str:
        if self._key or self._base_url.startswith("https:"):
            return _KEY_FIX
        return f"{_KEY_FIX} A key is sent only over https or on this machine."

    def _detail(self, message: object) -> str:
        text = self._printable(message)
        return f": {text}" if text else ""

    def _printable(self, message: object) -> str:
        text = str(message or "")
        if self._key:
            text = text.replace(self._key, "[key]")
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return text[:_LONGEST_DETAIL].rstrip(". ")

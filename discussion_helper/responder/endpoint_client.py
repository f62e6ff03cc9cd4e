"""One endpoint and one of its models: OpenAI's own client within bounds, and errors that do not hold the key."""

import json
from typing import TYPE_CHECKING, Any

import anyio

from discussion_helper.errors import ResponderError, SettingError
from discussion_helper.responder.base import checked_base_url, is_loopback
from discussion_helper.responder.body import shorten
from discussion_helper.responder.completion import Completion
from discussion_helper.responder.endpoint_errors import EndpointErrors
from discussion_helper.responder.running_time import ends_within

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["EndpointClient"]

_CONNECT_LIMIT_S = 5.0
_CLOSE_LIMIT_S = 0.2
_LONGEST_LIST = 4 << 20
"""Bytes; OpenRouter's list of some 400 models has 0.6 MB."""
_KEY_FIX = "Copy the key again into the environment variable OPENAI_API_KEY."


class EndpointClient:
    """A request is made once, or twice when the endpoint fails (5xx) or hangs up before it has begun to answer.

    A server on this machine is never asked through a proxy, an endpoint that points elsewhere is not followed, and
    OpenAI's organisation and project go to OpenAI alone.
    """

    def __init__(self, *, base_url: str, model: str, api_key: str | None) -> None:
        """Nothing is asked yet. Raises SettingError."""
        self.base_url = checked_base_url(base_url)
        if not model.strip():
            raise SettingError("model is empty.", fix="Name the model that the endpoint is to use.")
        self.model = model.strip()
        if api_key is not None and not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
            raise SettingError("api_key holds what no key can: white space, or other than ASCII.", fix=_KEY_FIX)
        self.errors = EndpointErrors(base_url=self.base_url, model=self.model, api_key=api_key)
        self._headers = _left_out(self.base_url, api_key)
        self._client = _client(self.base_url, api_key)
        self.listed: object = None
        """The list of models that `check` got, as JSON; None before that, or if there is none."""

    def completion(self, messages: list[Any], fields: dict[str, Any], *, optional: str = "") -> Completion:
        """A completion that is not asked for yet; `fields` are more of the request, see Completion for `optional`."""
        request = {
            "model": self.model,
            "messages": [],
            # Not as its own field: the client goes through each message on the event loop, 0.17 ms for every one.
            "extra_body": {**fields, "messages": messages},
            "extra_headers": self._headers,
        }
        return Completion(self._client, request, errors=self.errors, optional=optional)

    async def check(self, *, within_s: float) -> None:
        """Ask for the list of models: is anybody there, and is the key good.

        `within_s` counts from the request on, and only time in which this process was not held up. Raises
        EndpointRefused, EndpointUnreachable, and EndpointStalled at the limit. An endpoint that has no such list is
        taken as it is.
        """
        # Parts of the client are loaded at their first use, which takes a while, longer than the limit on a busy
        # machine.
        await anyio.to_thread.run_sync(lambda: self._client.models.with_raw_response, limiter=anyio.CapacityLimiter(1))
        failures: list[ResponderError] = []

        async def ask() -> None:
            failures.extend(await self._failure_of_models())

        if not await ends_within(within_s, ask):
            raise self.errors.stalled(f"does not answer within {within_s:g} s")
        for failure in failures:
            raise failure

    async def _failure_of_models(self) -> list[ResponderError]:
        """What asking for the list failed with, if anything."""
        import openai

        try:  # the client's own limits count time in which this process is held up
            listed = await self._client.models.with_raw_response.list(extra_headers=self._headers, timeout=None)
            self.listed = _json_of(listed.content)
        except openai.APIStatusError as error:
            if error.status_code in (401, 403) or not 400 <= error.status_code < 500:
                return [self.errors.of(error)]
        except Exception as error:
            return [self.errors.of(error)]
        return []

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        with anyio.move_on_after(_CLOSE_LIMIT_S, shield=True):
            await self._client.close()


def _json_of(body: bytes) -> object:
    try:
        return json.loads(body) if len(body) <= _LONGEST_LIST else None
    except (ValueError, RecursionError):
        return None


def _client(base_url: str, api_key: str | None) -> "AsyncOpenAI":
    import openai

    timeout = openai.Timeout(None, connect=_CONNECT_LIMIT_S)  # the other limits are those of Patience
    return openai.AsyncOpenAI(
        base_url=base_url,
        api_key=api_key or "none",  # never None: the client would take OPENAI_API_KEY and send it anywhere
        max_retries=0,
        timeout=timeout,
        http_client=openai.DefaultAsyncHttpxClient(
            trust_env=not is_loopback(base_url),
            timeout=timeout,
            follow_redirects=False,
            event_hooks={"response": [shorten]},
        ),
    )


def _left_out(base_url: str, api_key: str | None) -> dict[str, Any]:
    """Headers that the client would send: a placeholder for a key, and OpenAI's account from the environment."""
    import openai

    names = [] if api_key else ["Authorization"]
    if not base_url.startswith("https://api.openai.com/"):
        names += ["OpenAI-Organization", "OpenAI-Project"]
    return {name: openai.Omit() for name in names}

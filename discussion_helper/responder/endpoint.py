"""The responder that asks a server: any endpoint that speaks OpenAI's chat completions."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from discussion_helper.errors import ResponderError, SettingError
from discussion_helper.responder.base import Clauses, checked_base_url, is_loopback, with_system
from discussion_helper.responder.body import shorten
from discussion_helper.responder.chat_stream import ChatStream, Limits
from discussion_helper.responder.endpoint_errors import EndpointErrors
from discussion_helper.responder.prompt import system_prompt
from discussion_helper.types import Message

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["EndpointResponder"]

_CONNECT_LIMIT_S = 5.0
_WARMUP_LIMIT_S = 5.0
_CLOSE_LIMIT_S = 0.2
_KEY_FIX = "Copy the key again into the environment variable OPENAI_API_KEY."


class EndpointResponder:
    """Answers through OpenAI's own client: OpenAI, Ollama, llama.cpp, vLLM, LM Studio and others.

    What a model thinks, in a field of its own or between `<think>` tags, is never given. A request is made once, or
    twice when the endpoint fails (5xx) before it has begun to answer. A server on this machine is never asked
    through a proxy, an endpoint that points elsewhere is not followed, and OpenAI's organisation and project go to
    OpenAI alone.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        system: str | None = None,
        options: Mapping[str, Any] | None = None,
        first_token_s: float = 20.0,
        between_s: float = 10.0,
        thinking_s: float = 60.0,
        max_chars: int = 4000,
    ) -> None:
        """`system`: None = system_prompt(). `options`: more fields of the request, such as `temperature`.

        Limits: `first_token_s` from the request to its first text or reasoning, `between_s` between two pieces,
        `thinking_s` from the request, or a piece of text, to the next text when the model reasons, and `max_chars` of
        a reply, after which the stream is closed. Raises SettingError.
        """
        self._base_url = checked_base_url(base_url)
        if not model.strip():
            raise SettingError("model is empty.", fix="Name the model that the endpoint is to use.")
        self._model = model.strip()
        if api_key is not None and not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
            raise SettingError("api_key holds what no key can: white space, or other than ASCII.", fix=_KEY_FIX)
        self._system = system_prompt() if system is None else system
        self._options = dict(options or {})
        self._limits = Limits(first_token_s=first_token_s, between_s=between_s, thinking_s=thinking_s)
        if max_chars < 1:
            raise SettingError(f"max_chars is {max_chars}.", fix="Give 1 or more.")
        self._max_chars = max_chars
        self._errors = EndpointErrors(base_url=self._base_url, model=self._model, api_key=api_key)
        self._headers = _left_out(self._base_url, api_key)
        self._client = _client(self._base_url, api_key)

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """One clause per item; closing it breaks the request off. When the stream breaks, what came is given first.

        Raises EndpointRefused, EndpointUnreachable, EndpointStalled, ResponderError.
        """
        clauses = Clauses(max_chars=self._max_chars)
        failure: ResponderError | None = None
        stream = self._ask(messages)
        try:
            while not clauses.full and (piece := await stream.piece()):
                for clause in clauses.feed(piece):
                    yield clause
        except ResponderError as error:
            failure = error
        finally:
            await stream.aclose()
        for clause in clauses.flush():
            yield clause
        if failure is not None:
            raise failure
        if clauses.empty:
            raise self._errors.empty()

    async def warmup(self) -> None:
        """Ask for the list of models: is anybody there, and is the key good. Five seconds at most.

        Raises EndpointRefused, EndpointUnreachable. An endpoint that has no such list is taken as it is.
        """
        import openai

        with anyio.CancelScope(deadline=anyio.current_time() + _WARMUP_LIMIT_S):
            try:
                await self._client.models.with_raw_response.list(extra_headers=self._headers)
            except openai.APIStatusError as error:
                if error.status_code in (401, 403) or not 400 <= error.status_code < 500:
                    raise self._errors.of(error) from None
            except Exception as error:
                raise self._errors.of(error) from None
            return
        raise self._errors.unreachable(f"does not answer within {_WARMUP_LIMIT_S:g} s")

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        with anyio.move_on_after(_CLOSE_LIMIT_S, shield=True):
            await self._client.close()

    def _ask(self, messages: Sequence[Message]) -> ChatStream:
        request = {
            "model": self._model,
            "messages": with_system(self._system, messages),
            "extra_body": self._options,
            "extra_headers": self._headers,
        }
        return ChatStream(self._client, request, limits=self._limits, errors=self._errors)


def _client(base_url: str, api_key: str | None) -> "AsyncOpenAI":
    import openai

    timeout = openai.Timeout(None, connect=_CONNECT_LIMIT_S)  # the other limits are the responder's own
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

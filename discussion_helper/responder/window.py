"""The window: how much of a conversation a model behind an endpoint takes, and what is left out of a longer one."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from discussion_helper.errors import SettingError
from discussion_helper.responder.history import fitting, size_of, weight_of

__all__ = ["ELSEWHERE", "HERE", "Window", "told_context"]

HERE = 4096
"""Tokens of context that a server on this machine is taken to have where it does not tell: Ollama's default, which it
does not tell, and beyond which it leaves out what came first, the system prompt too."""
ELSEWHERE = 32_768
"""Tokens of context that another server is taken to have where it does not tell: models that are offered have more."""

_REPLY = 512
"""Tokens kept free for the reply and what a template adds."""
_LEAST = 256
"""Tokens for the turns, whatever the window."""
_BYTES_PER_TOKEN = 3.0
"""First guess; English has 4 to 4.5, other languages 2 to 3."""
_KEYS = ("max_model_len", "loaded_context_length", "context_length", "max_context_length", "context_window", "n_ctx")
"""What servers call it in their lists of models: vLLM, LM Studio, OpenRouter, LM Studio, Groq, llama.cpp."""


class Window:
    """`tokens`: of system prompt, tools, turns and reply. What the model counts corrects the guess of a text's."""

    def __init__(self, tokens: int | None, *, here: bool) -> None:
        """None = what the server tells, else HERE or ELSEWHERE. Raises SettingError."""
        if tokens is not None and tokens < _LEAST + _REPLY:
            raise SettingError(f"context is {tokens}.", fix=f"Choose {_LEAST + _REPLY} or more, or None.")
        self._given = tokens is not None
        self.tokens = tokens or (HERE if here else ELSEWHERE)
        self._bytes_per_token = _BYTES_PER_TOKEN
        self._narrowed = 1.0

    def told(self, tokens: int) -> None:
        """The server says how many; whoever made the window knows better."""
        if not self._given and tokens >= _LEAST + _REPLY:
            self.tokens = tokens

    def fit(
        self, system: str, tools: Sequence[Mapping[str, Any]], turns: Sequence[Mapping[str, Any]]
    ) -> list[Mapping[str, Any]]:
        """The newest turns that fit beside the system prompt and the tools; the newest of all is always there."""
        fixed = size_of(system) + (size_of(json.dumps(list(tools))) if tools else 0)
        room = max(self.tokens - _REPLY - fixed / self._bytes_per_token, _LEAST) * self._narrowed
        return fitting(turns, int(room * self._bytes_per_token))

    def is_near(self, messages: Sequence[Mapping[str, Any]]) -> bool:
        """So much is sent that it matters how many tokens it is."""
        return sum(map(weight_of, messages)) > self.tokens * self._bytes_per_token / 4

    def counted(self, messages: Sequence[Mapping[str, Any]], tokens: int) -> None:
        """The model counted the tokens of these messages, tools and template included."""
        if tokens > 0:
            self._bytes_per_token = min(max(sum(map(weight_of, messages)) / tokens, 0.5), 6.0)

    def refused(self) -> bool:
        """The server says that it is too much: less of it from now on. False if there is nothing left to leave out."""
        self._narrowed /= 2
        return self._narrowed >= 1 / 16


def told_context(listed: object, model: str) -> int | None:
    """The context that a server's list of models tells of one of them."""
    entries = listed.get("data") if isinstance(listed, Mapping) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and entry.get("id") == model:
            meta = entry.get("meta")
            places = (entry, meta if isinstance(meta, Mapping) else {})
            found = [place[key] for key in _KEYS for place in places if isinstance(place.get(key), int)]
            return next((tokens for tokens in found if 0 < tokens < 1 << 31), None)
    return None

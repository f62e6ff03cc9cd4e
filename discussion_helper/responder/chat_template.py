"""The chat template of a loaded model: what it makes of tools, as llama.cpp found out when it loaded it."""

import json
import urllib.request
from dataclasses import dataclass
from typing import Any

from discussion_helper.errors import ResponderError

__all__ = ["ChatTemplate", "template_of"]

_LIMIT_S = 5.0
_HERMES = "<tool_call>"
"""Begins a call in the form that most templates with tools have, Qwen's among them."""


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """What a template can do."""

    takes_tools: bool
    """It tells the model which tools there are, and what was called; else llama.cpp drops them without a word."""
    opening: str
    """What a call begins with; "" = not known."""


def template_of(address: str, key: str) -> ChatTemplate:
    """Ask llama.cpp at its own port; blocking. Raises ResponderError."""
    request = urllib.request.Request(f"{address}/props", headers={"Authorization": f"Bearer {key}"})
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(request, timeout=_LIMIT_S) as answer:
            properties: dict[str, Any] = json.load(answer)
        able, source = properties["chat_template_caps"], properties["chat_template"]
    except (OSError, ValueError, KeyError) as error:
        raise ResponderError(f"llama.cpp does not tell what its model can do ({type(error).__name__}).") from error
    takes_tools = bool(able.get("supports_tools") and able.get("supports_tool_calls"))
    return ChatTemplate(takes_tools, _HERMES if _HERMES in source else "")

"""What answers: an endpoint, a model in this process, a script; and the options of one call of it."""

from typing import TYPE_CHECKING

from discussion_helper.lazy import lazy_names

if TYPE_CHECKING:
    from discussion_helper.text.providers.base import Option, Provider
    from discussion_helper.text.providers.chatml_tools import CHATML_TOOLS
    from discussion_helper.text.providers.deferred import DeferredProvider
    from discussion_helper.text.providers.embedded import EmbeddedProvider
    from discussion_helper.text.providers.openai_compatible import EndpointProvider
    from discussion_helper.text.providers.options import MaxTokens, Seed, Temperature, ToolChoice, TopP
    from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider

__all__ = [
    "CHATML_TOOLS",
    "FOREVER",
    "DeferredProvider",
    "EmbeddedProvider",
    "EndpointProvider",
    "MaxTokens",
    "Option",
    "Provider",
    "ScriptedProvider",
    "Seed",
    "Temperature",
    "ToolChoice",
    "TopP",
]

_HOMES = {
    "base": ("Option", "Provider"),
    "chatml_tools": ("CHATML_TOOLS",),
    "deferred": ("DeferredProvider",),
    "embedded": ("EmbeddedProvider",),
    "openai_compatible": ("EndpointProvider",),
    "options": ("MaxTokens", "Seed", "Temperature", "ToolChoice", "TopP"),
    "scripted": ("FOREVER", "ScriptedProvider"),
}
"""Loaded at the first use: a program needs one provider, and a stream none of them."""

if not TYPE_CHECKING:  # for a type checker it would stand for any name
    __getattr__ = lazy_names(__name__, _HOMES)

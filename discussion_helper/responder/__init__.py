"""Responders, a conversation to a reply: one port, adapters as leaves."""

__all__: list[str] = []

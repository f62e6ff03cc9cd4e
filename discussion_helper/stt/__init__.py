"""Recognisers, speech to text: one port, adapters as leaves."""

__all__: list[str] = []

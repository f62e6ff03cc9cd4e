"""Synthesisers, text to speech: one port, adapters as leaves."""

__all__: list[str] = []

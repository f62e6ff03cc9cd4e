"""Voice activity detectors: one port, adapters as leaves."""

__all__: list[str] = []

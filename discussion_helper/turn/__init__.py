"""Turn detectors: has the speaker finished? One port, adapters as leaves."""

__all__: list[str] = []

"""Public fakes and the virtual clock, for tests of what is built on the package."""

__all__: list[str] = []

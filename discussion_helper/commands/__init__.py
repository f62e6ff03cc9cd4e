"""The commands of the command line, one module each."""

__all__: list[str] = []

"""The bench: a real talk through virtual devices, measured from outside."""

__all__: list[str] = []

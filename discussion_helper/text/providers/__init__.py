"""What answers: an endpoint, a model in this process, a script."""

__all__: list[str] = []

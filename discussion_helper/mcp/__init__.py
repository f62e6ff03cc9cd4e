"""Sessions for other programs' models: a server of the Model Context Protocol in front of `discussion-helper serve`."""

__all__: list[str] = []

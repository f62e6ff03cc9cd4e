"""A runtime for conversations that people hold with a machine: a session listens, answers and speaks in the background."""

__all__: list[str] = []

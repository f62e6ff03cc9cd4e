"""The flight recorder: what a talk heard, played and decided, kept in a folder, and replayed from it."""

__all__: list[str] = []

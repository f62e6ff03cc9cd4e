"""Where conversations are stored: in memory, as JSON files, in SQLite."""

__all__: list[str] = []

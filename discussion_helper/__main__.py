"""`python -m discussion_helper`: the command line."""

from discussion_helper.cli import entry

__all__: list[str] = []

if __name__ == "__main__":
    entry()

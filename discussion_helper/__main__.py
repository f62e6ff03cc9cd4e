"""`python -m discussion_helper`: the command line."""

import sys

from discussion_helper.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    sys.exit(main())

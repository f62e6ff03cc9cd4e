"""What to do about a trouble, where that depends on the system."""

import sys
from collections.abc import Mapping

__all__ = ["system_fix"]


def system_fix(texts: Mapping[str, str]) -> str:
    """The text for this system: by `sys.platform`, else the one for "", which is there for all others."""
    return texts.get(sys.platform, texts[""])

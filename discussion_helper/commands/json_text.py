"""The JSON that commands print."""

import json
from typing import Any

__all__ = ["json_text"]


def json_text(value: Any, *, indent: int | None = None) -> str:
    """It in ASCII, so that no terminal obeys it, nothing in it is unseen, and no line in it ends but between values.

    Numbers that JSON does not know (not a number, infinite) are null. `indent`: spaces a level; None = one line.
    """
    try:
        text = json.dumps(value, allow_nan=False, indent=indent)
    except ValueError:
        finite = json.loads(json.dumps(value), parse_constant=lambda _: None)
        text = json.dumps(finite, allow_nan=False, indent=indent)
    return text.replace("\x7f", "\\u007f")  # the one control character that `json` leaves, inside of a text

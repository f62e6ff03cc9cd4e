"""JSON as it goes out: always valid, whatever a model or a tool put in."""

import json
from typing import Any

from starlette.responses import JSONResponse

__all__ = ["Answer", "encoded"]


def encoded(content: Any) -> bytes:
    """Compact UTF-8 JSON in one line; what JSON does not know is told as text, numbers it does not know as null."""
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, default=str, separators=(",", ":"))
    except ValueError:  # not a number, or infinite
        finite = json.loads(json.dumps(content, default=str), parse_constant=lambda _: None)
        text = json.dumps(finite, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")  # half a surrogate pair is no text


class Answer(JSONResponse):
    """A whole JSON answer."""

    def render(self, content: Any) -> bytes:
        """See `encoded`."""
        return encoded(content)

"""What a model is told, which reads all of it: bounded in bytes, with how much was left out."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["MOST_BYTES", "MOST_OF_ONE", "MOST_TEXT", "first_of", "fitted", "size_of"]

MOST_BYTES = 64 * 1024
"""Of one answer, as it is sent: some 16,000 tokens at most, of who reads both forms of it."""
MOST_OF_ONE = 24 * 1024
"""Of one event, utterance or thread in it."""
MOST_TEXT = 4000
"""Characters of one text in that: some 5 minutes of speech."""
_DEEPEST = 16
"""Objects and lists inside each other."""


def size_of(told: Any) -> int:
    """Bytes of it in both the forms in which a tool's answer is sent: as JSON, and as a text of that JSON."""
    text = json.dumps(told, ensure_ascii=False, default=str, separators=(",", ":"))
    return sum(len(form.encode("utf-8", "replace")) for form in (text, json.dumps(text, ensure_ascii=False)))


def fitted(told: Mapping[str, Any], most_bytes: int = MOST_OF_ONE) -> dict[str, Any]:
    """Its texts cut, and without its largest fields where it is too much all the same.

    `left_out_bytes` has the size of each of those by its name, as `size_of` counts it.
    """
    cut = {name: _cut(value) for name, value in told.items()}
    left = most_bytes
    left_out: dict[str, int] = {}
    for name in sorted(cut, key=lambda name: size_of(cut[name])):
        size = size_of({name: cut[name]})
        if size > left:
            left_out[name] = size
        left -= size
    kept = {name: value for name, value in cut.items() if name not in left_out}
    return kept | ({"left_out_bytes": left_out} if left_out else {})


def first_of(several: Iterable[Mapping[str, Any]], most_bytes: int) -> list[dict[str, Any]]:
    """Each as it is `fitted`, as many as there is room for; always one."""
    kept: list[dict[str, Any]] = []
    for told in several:
        one = fitted(told)
        most_bytes -= size_of(one)
        if kept and most_bytes < 0:
            break
        kept.append(one)
    return kept


def _cut(told: Any, depth: int = 0) -> Any:
    if isinstance(told, str) and len(told) > MOST_TEXT:
        return f"{told[:MOST_TEXT]}\u2026 ({len(told) - MOST_TEXT} more characters)"
    if depth == _DEEPEST and isinstance(told, Mapping | list | tuple):
        return f"\u2026 ({len(told)} more)"
    if isinstance(told, Mapping):
        return {name: _cut(value, depth + 1) for name, value in told.items()}
    if isinstance(told, list | tuple):
        return [_cut(value, depth + 1) for value in told]
    return told

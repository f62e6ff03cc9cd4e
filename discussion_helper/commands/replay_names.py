"""What `replay --set` may try: each setting's name, what it takes, what it usually is, and what it means."""

import ast
import inspect
import shutil
import textwrap
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import get_args

from discussion_helper.config_keys import POLICY_FIELDS
from discussion_helper.policy import RANGES as POLICY_RANGES
from discussion_helper.policy import Policy, TurnPolicy
from discussion_helper.settings import Settings
from discussion_helper.tuning import RANGES, Tuning

__all__ = ["meanings_of", "names_and_meanings"]

_WIDEST = 100
_TAKES = {"language": "two letters, or auto", "turn_policy": ", ".join(get_args(TurnPolicy))}
_KINDS = {"a list of phrases": "phrases, with commas", "a number of seconds": "seconds"}


def names_and_meanings() -> Iterator[str]:
    """Line by line, for a terminal."""
    from discussion_helper.recorder.trials import NAMES, Heeded

    usual, meanings = Heeded(Policy()), _meanings()
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    yield f"{'name':<24}  {'takes':<38}  usually"
    for name, kind in NAMES.items():
        value = usual.value(name)
        shown = str(value).lower() if isinstance(value, bool) else "none" if value == () else value
        yield f"{name:<24}  {_takes(name, kind):<38}  {shown}"
        yield from textwrap.wrap(meanings.get(name, ""), width, initial_indent="    ", subsequent_indent="    ")
    yield "A talk heeds them too: the same names stand in its settings file, such as vad.threshold = 0.6"


def meanings_of(settings: type) -> dict[str, str]:
    """By field what stands below it in the source, on one line; nothing where there is no source."""
    try:
        source = inspect.getsource(settings)
    except (OSError, TypeError):
        return {}
    (definition,) = ast.parse(textwrap.dedent(source)).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for field, below in pairwise(definition.body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            found[ast.unparse(field.target)] = " ".join(str(below.value.value).split())
    return found


def _meanings() -> Mapping[str, str]:
    policy = meanings_of(Policy)
    tuning = meanings_of(Tuning)
    names = {f"`{field}`": field.replace("_", ".", 1) for field in tuning}
    return {
        "language": meanings_of(Settings).get("language", ""),
        **{key: policy[field] for key, field in POLICY_FIELDS.items() if field in policy},
        **{names[f"`{field}`"]: _with(names, text) for field, text in tuning.items()},
    }


def _with(names: Mapping[str, str], text: str) -> str:
    for field, name in names.items():
        text = text.replace(field, name)
    return text


def _takes(name: str, kind: str) -> str:
    if name in RANGES:
        return RANGES[name].words
    least, most = POLICY_RANGES.get(POLICY_FIELDS.get(name, ""), (None, None))
    kind = _TAKES.get(name, _KINDS.get(kind, kind))
    return kind if least is None else f"{kind} from {least:g} to {most:g}"

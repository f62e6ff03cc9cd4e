"""Loading tools that somebody names: MODULE:NAME, which runs that module's code."""

import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discussion_helper.errors import SettingError
from discussion_helper.tools.tool import Tool

__all__ = ["load_tools"]

_SPEC = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)", re.ASCII)
_SYNTAX = "Write MODULE:NAME, where NAME is a function, a tool, or a list of them."


def load_tools(spec: str) -> list[Tool]:
    """The tools that NAME in MODULE is: a function, a Tool, or a list or tuple of those; none of "".

    The module is imported, from the working folder too, so all that stands in it is run. Raises SettingError.
    """
    if not spec:
        return []
    named = _SPEC.fullmatch(spec.strip())
    if named is None:
        raise SettingError(f"tools: {spec[:80]!r} names nothing.", fix=_SYNTAX)
    module, name = named.groups()
    found = _found(module, name)
    if found is None:
        raise SettingError(f"tools: there is no {name} in {module}.", fix=_SYNTAX)
    made = found if isinstance(found, list | tuple) else [found]
    if not made:
        raise SettingError(f"tools: {spec} is empty.", fix="Put a function in it, or leave --tools out.")
    return [_tool(each, spec) for each in made]


def _tool(each: Any, spec: str) -> Tool:
    if isinstance(each, Tool):
        return each
    if not callable(each):
        raise SettingError(f"tools: {spec} holds a {type(each).__name__}, which is no function.", fix=_SYNTAX)
    return Tool.of(each)


def _found(module: str, name: str) -> Any:
    """None if there is none of that name."""
    with _working_folder_first():
        try:
            return getattr(importlib.import_module(module), name, None)
        except ModuleNotFoundError as error:
            if error.name == module or module.startswith(f"{error.name}."):
                fix = f"Go to the folder with {module.partition('.')[0]}, or install it beside discussion_helper."
                raise SettingError(f"tools: there is no module {module}.", fix=fix) from error
            raise SettingError(f"tools: {module} needs {error.name}, which is not there.", fix="Install it.") from error
        except (Exception, SystemExit) as error:  # a script that ends itself is no module of tools
            why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise SettingError(
                f"tools: {module} cannot be imported ({why}).", fix="Import it in Python to see why."
            ) from error


@contextmanager
def _working_folder_first() -> Iterator[None]:
    try:
        here = str(Path.cwd())
    except OSError:  # it was removed
        yield
        return
    sys.path.insert(0, here)
    try:
        yield
    finally:
        if here in sys.path:
            sys.path.remove(here)

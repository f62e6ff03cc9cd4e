"""The JSON that commands print: what no terminal obeys, no reader of lines splits, and every parser takes."""

import ast
import json
import math
from pathlib import Path
from typing import Any

import pytest

import discussion_helper.commands
from discussion_helper.commands.json_text import json_text

FOLDER = Path(discussion_helper.commands.__file__).parent
HOSTILE = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA1), 0x2028, 0x2029, 0x202E, 0xFEFF, 0xDFFF, 0xD800, 0x1F600]))


@pytest.mark.parametrize("indent", [None, 2])
def test_nothing_in_it_is_more_than_a_letter(indent: int | None) -> None:
    text = json_text({HOSTILE: [HOSTILE]}, indent=indent)

    assert all(line.isascii() and line.isprintable() for line in text.split("\n"))
    assert (indent is None) == ("\n" not in text)
    assert {HOSTILE: [HOSTILE]} == json.loads(text)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_does_not_know_is_null(number: float, indent: int | None) -> None:
    text = json_text({"a": [1.5, {"b": number}], "c\x7f": "NaN"}, indent=indent)

    assert {"a": [1.5, {"b": None}], "c\x7f": "NaN"} == json.loads(text)
    assert "\x7f" not in text


@pytest.mark.parametrize("value", [{"a": object()}, {"a": b"bytes"}])
def test_what_has_no_form_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        json_text(value)


def test_no_command_writes_json_in_another_way() -> None:
    calls = {
        f"{path.name}: {ast.unparse(node)}"
        for path in FOLDER.glob("*.py")
        if path.name != "json_text.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Attribute) and ast.unparse(node).startswith("json.dump"))
        or (isinstance(node, ast.ImportFrom) and node.module == "json")
    }
    assert set() == calls

"""The options of `discussion-helper serve` that limit what it gives."""

import argparse
import re
from pathlib import Path

import pytest

from discussion_helper.command_line import told
from discussion_helper.commands import serve
from discussion_helper.commands.serve_limits import limits_of
from discussion_helper.errors import SettingError
from discussion_helper.web import Limits

ROOT = Path(__file__).parents[2]


def parsed(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    serve.add_parser(parser.add_subparsers())
    return parser.parse_args(["serve", *options])


def test_what_is_not_asked_for_is_as_it_is_for_programs() -> None:
    assert Limits() == limits_of(parsed())
    asked = limits_of(parsed("--talks", "12", "--abandon-after", "inf"))
    assert (12, float("inf"), Limits().sessions) == (asked.remote, asked.abandoned_s, asked.sessions)


def test_the_help_says_what_the_limits_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--help")
    shown = " ".join(capsys.readouterr().out.split())

    assert f"models of its own (default: {Limits().remote})" in shown
    assert f"inf = never (default: {Limits().abandoned_s:g})" in shown


@pytest.mark.parametrize("option", ["--talks", "--abandon-after"])
@pytest.mark.parametrize("value", ["0", "-1", "nan"])
def test_what_is_no_limit_is_refused_by_its_option(option: str, value: str) -> None:
    if (option, value) == ("--talks", "nan"):
        with pytest.raises(SystemExit):
            parsed(option, value)
        return
    arguments = parsed(option, value)
    with pytest.raises(SettingError) as refused:
        limits_of(arguments)
    assert told(refused.value, arguments).startswith(f"{option}: {value.partition('.')[0]}")


def test_the_memory_of_the_examples_is_enough_for_so_many_talks() -> None:
    """What was measured of one talk, and of each further one: 0.9 GB, and 0.4 to 0.5 GB."""
    units = [file.read_text(encoding="utf-8") for file in (ROOT / "deploy").rglob("*.service")]
    told_gb = [float(size) for text in units for size in re.findall(r"^MemoryMax=(\d+)G$", text, re.MULTILINE)]
    container = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")
    told_gb += [float(size) for size in re.findall(r"--memory (\d+)g", container)]

    assert 3 == len(told_gb)
    assert min(told_gb) >= 1.5 * (0.9 + 0.5 * (Limits().remote - 1))

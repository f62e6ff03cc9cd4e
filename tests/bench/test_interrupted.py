"""Ctrl-C while a library is loaded, which makes an ImportError of it: that is nobody's broken model."""

import argparse
from functools import partial
from pathlib import Path

import pytest

from discussion_helper import command_line
from discussion_helper.bench.progress import Progress
from discussion_helper.bench.suite import Amounts, Plan, _Suite
from discussion_helper.cli import INTERRUPTED, main
from discussion_helper.errors import ModelCorrupt


def load(*, interrupted: bool) -> None:
    """A model, as a detector does."""
    try:
        try:
            raise KeyboardInterrupt if interrupted else OSError
        except BaseException as cause:
            raise ImportError("initialization failed") from cause
    except Exception as error:
        raise ModelCorrupt("The detector is damaged.", fix="Install it again.") from error


def test_the_measurement_is_over_and_nothing_is_said_to_be_damaged(tmp_path: Path) -> None:
    suite = _Suite(Plan(clips=tmp_path, output=tmp_path, runs=[], amounts=Amounts()), [], Progress())

    with pytest.raises(KeyboardInterrupt):
        suite.attempt("onsets", partial(load, interrupted=True))
    suite.attempt("onsets", partial(load, interrupted=False))

    assert ["onsets: The detector is damaged. Install it again."] == [
        " ".join(problem.split()) for problem in suite.results.problems
    ]


@pytest.mark.parametrize(("interrupted", "code"), [(True, INTERRUPTED), (False, 1)])
def test_every_command_ends_as_by_ctrl_c(
    interrupted: bool, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = argparse.Namespace(run=lambda _: load(interrupted=interrupted), prints=False)
    monkeypatch.setattr(command_line, "parse", lambda _: arguments)

    assert code == main([])
    assert interrupted is not ("damaged" in capsys.readouterr().err)

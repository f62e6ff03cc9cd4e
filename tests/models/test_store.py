"""The store: where it is, and what it says of models that are whole, absent, in part or wrong."""

import errno
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from discussion_helper.errors import ModelCorrupt, ModelError, ModelMissing, SettingError
from discussion_helper.models import Manifest, Model, Store, missing, stamps

Models = Callable[..., Model]

FILES = {"config.json": b"{}", "model.bin": bytes(range(256)) * 100}


@pytest.fixture
def model(model_of: Models) -> Model:
    return model_of(FILES)


@pytest.fixture
def kept(store: Store, model: Model) -> Path:
    """The folder of the whole model."""
    folder = store.folder(model)
    folder.mkdir(parents=True)
    for path, body in FILES.items():
        (folder / path).write_bytes(body)
    return folder


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were hashed."""
    names: list[str] = []

    def spy(path: Path, real: Callable[[Path], str] = stamps.sha256_of) -> str:
        names.append(path.name)
        return real(path)

    monkeypatch.setattr(stamps, "sha256_of", spy)
    return names


def flip_a_byte(path: Path) -> None:
    with path.open("rb+") as content:
        content.seek(1000)
        content.write(b"\xff")


def test_the_place_is_the_argument_then_the_variable_then_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Path(platformdirs.user_cache_dir("discussion_helper", appauthor=False))
    assert Store().path == cache / "models"
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path / "variable"))
    assert Store().path == tmp_path / "variable"
    assert Store(tmp_path / "argument").path == tmp_path / "argument"
    assert Store("~/models").path == Path.home() / "models"


def test_a_whole_model_has_a_path(store: Store, model: Model, kept: Path) -> None:
    assert store.path_of(model) == kept == store.path / "tiny"
    assert store.state(model) == "ready"
    store.verify(model)


def test_an_absent_model_says_how_to_get_it(store: Store, model: Model) -> None:
    with pytest.raises(ModelMissing) as caught:
        store.path_of(model)

    assert caught.value.what == f"The model tiny is not on this machine (looked in {store.folder(model)})."
    assert caught.value.fix == "Run: discussion-helper models pull tiny"
    assert store.state(model) == "missing"
    assert not store.path.exists()


def test_a_model_without_one_file_is_incomplete(store: Store, model: Model, kept: Path) -> None:
    (kept / "model.bin").unlink()

    with pytest.raises(ModelMissing, match=r"The model tiny lacks model\.bin"):
        store.path_of(model)
    assert store.state(model) == "incomplete"


def test_a_model_with_a_short_file_is_incomplete(store: Store, model: Model, kept: Path) -> None:
    (kept / "model.bin").write_bytes(FILES["model.bin"][:-1])

    with pytest.raises(ModelMissing, match=r"lacks model\.bin"):
        store.verify(model)
    assert store.state(model) == "incomplete"


@pytest.mark.parametrize("stamped", [False, True])
def test_a_wrong_byte_is_found_whether_or_not_it_was_right_before(
    stamped: bool, store: Store, model: Model, kept: Path
) -> None:
    if stamped:
        store.path_of(model)
    flip_a_byte(kept / "model.bin")

    for check in (store.path_of, store.verify):
        with pytest.raises(ModelCorrupt) as caught:
            check(model)
        assert str(kept / "model.bin") in caught.value.what
        assert caught.value.fix == "Run: discussion-helper models pull tiny"
    assert store.state(model) == "corrupt"


def test_a_file_that_is_too_long_is_corrupt(store: Store, model: Model, kept: Path) -> None:
    with (kept / "config.json").open("ab") as content:
        content.write(b"\n")

    assert store.state(model) == "corrupt"


def test_what_has_not_been_touched_is_not_hashed_again(
    store: Store, model: Model, kept: Path, hashed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "_RACY_NS", 0)
    store.path_of(model)
    assert hashed == ["config.json", "model.bin"]
    hashed.clear()

    Store(store.path).path_of(model)
    assert hashed == []

    os.utime(kept / "model.bin")
    store.path_of(model)
    assert hashed == ["model.bin"]
    hashed.clear()

    store.verify(model)
    assert hashed == ["config.json", "model.bin"]


@pytest.mark.usefixtures("kept")
def test_a_file_younger_than_the_steps_of_file_times_is_hashed_again(
    store: Store, model: Model, hashed: list[str]
) -> None:
    store.path_of(model)
    store.path_of(model)

    assert hashed == ["config.json", "model.bin"] * 2


@pytest.mark.usefixtures("kept")
def test_a_stamp_of_other_bytes_than_the_manifests_is_not_trusted(
    store: Store, model: Model, model_of: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "_RACY_NS", 0)
    store.path_of(model)

    with pytest.raises(ModelCorrupt, match=r"model\.bin"):
        store.path_of(model_of({**FILES, "model.bin": FILES["model.bin"][::-1]}))


def test_verify_finds_what_a_stamp_hides(
    store: Store, model: Model, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "_RACY_NS", 0)
    store.path_of(model)
    flip_a_byte(kept / "model.bin")
    entries = json.loads((kept / ".verified.json").read_text("utf-8"))
    found = (kept / "model.bin").stat()
    entries["model.bin"][2:] = [found.st_mtime_ns, found.st_ctime_ns, found.st_ctime_ns + 1]
    (kept / ".verified.json").write_text(json.dumps(entries), "utf-8")
    assert store.state(model) == "ready"

    with pytest.raises(ModelCorrupt):
        store.verify(model)
    assert store.state(model) == "corrupt"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have no paths there")
def test_a_pipe_in_the_place_of_the_stamps_is_neither_waited_for_nor_replaced(
    store: Store, model: Model, kept: Path, hashed: list[str]
) -> None:
    os.mkfifo(kept / ".verified.json")

    assert [kept, kept] == [store.path_of(model) for _ in range(2)]
    assert 2 * sorted(FILES) == hashed
    assert (kept / ".verified.json").is_fifo()
    assert [] == list(kept.glob(".verified-*"))


@pytest.mark.parametrize("stamp", ["", "[]", "[" * 99_999, '{"model.bin": 3}', '{"model.bin": ["x"]}', "\x00"])
def test_a_stamp_that_cannot_be_read_only_costs_a_hash(stamp: str, store: Store, model: Model, kept: Path) -> None:
    (kept / ".verified.json").write_text(stamp, "utf-8")

    assert store.path_of(model) == kept


def test_a_file_that_cannot_be_read_is_named(
    store: Store, model: Model, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> str:
        raise PermissionError(errno.EACCES, "Permission denied", str(kept / "config.json"))

    monkeypatch.setattr(stamps, "sha256_of", refuse)

    with pytest.raises(ModelError, match=r"config\.json cannot be read \(Permission denied\)"):
        store.path_of(model)


@pytest.mark.usefixtures("kept")
def test_missing_names_those_that_must_be_pulled(store: Store, model: Model, model_of: Models) -> None:
    other = model_of(FILES, name="other")
    manifest = Manifest((model, other))

    assert missing(store, ["tiny", "other", "other"], manifest) == [other]
    with pytest.raises(SettingError, match=r"no model called 'third'.*Choose one of: tiny, other"):
        missing(store, ["third"], manifest)


def test_missing_does_not_pass_over_a_wrong_byte(store: Store, model: Model, kept: Path) -> None:
    flip_a_byte(kept / "model.bin")

    with pytest.raises(ModelCorrupt):
        missing(store, ["tiny"], Manifest((model,)))


def test_missing_names_the_wrong_and_the_absent_in_one_line(
    store: Store, model: Model, kept: Path, model_of: Models
) -> None:
    flip_a_byte(kept / "model.bin")
    manifest = Manifest((model_of(FILES, name="other"), model, model_of(FILES, name="third")))

    with pytest.raises(ModelCorrupt) as caught:
        missing(store, ["other", "tiny", "third"], manifest)

    assert "The model other is not on this machine" in caught.value.what
    assert "model.bin is corrupt" in caught.value.what
    assert caught.value.fix == "Run: discussion-helper models pull other tiny third"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows calls it a file that is not there")
def test_a_name_that_is_too_long_is_told_as_that(tmp_path: Path, model: Model) -> None:
    store = Store(tmp_path / ("x" * 300))

    with pytest.raises(ModelError, match="cannot be read") as caught:
        store.state(model)

    assert caught.value.fix == "Set DISCUSSION_HELPER_MODELS to a folder with a shorter name."


def test_what_is_no_matter_of_rights_is_not_told_as_that(
    store: Store, model: Model, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Path) -> str:
        raise OSError(errno.EIO, "Input/output error", str(kept / "config.json"))

    monkeypatch.setattr(stamps, "sha256_of", fail)

    with pytest.raises(ModelError, match="Check that disk"):
        store.path_of(model)

"""The manifest: the one that ships, and ones that are wrong."""

import re
import shutil
from pathlib import Path

import pytest

from discussion_helper.errors import SettingError
from discussion_helper.models import HubSource, IndexSource, Model, load_manifest, manifest, manifest_path

SHIPPED = load_manifest()

GOOD = """
format = 1
[[models]]
name = "tiny"
kind = "stt"
default = true
licence = "MIT"
homepage = "https://example.org"
files = [{ path = "model.bin", bytes = 3, sha256 = "SHA" }]
[[models.sources]]
hub = "someone/something"
revision = "REVISION"
[[models.sources]]
[[models.sources.packages]]
requirement = "thing==1.0"
bytes = 10
members = { "model.bin" = ["thing/model.bin"] }
""".replace("SHA", "a" * 64).replace("REVISION", "0" * 40)


@pytest.mark.parametrize("model", SHIPPED.models, ids=lambda model: model.name)
def test_every_shipped_model_says_what_it_is_and_where_it_comes_from(model: Model) -> None:
    assert model.licence in {"MIT", "CC0-1.0", "Apache-2.0", "BSD-2-Clause"} | (
        {"CC-BY-NC-SA-4.0"} if model.kind == "wake" else set()
    )
    assert model.homepage.startswith("https://")
    assert all(re.fullmatch(r"[0-9a-f]{64}", file.sha256) and file.size > 0 for file in model.files)
    *hubs, index = model.sources
    assert len(hubs) == (0 if model.kind == "wake" else 1)
    assert all(isinstance(hub, HubSource) and re.fullmatch(r"[0-9a-f]{40}", hub.revision) for hub in hubs)
    assert isinstance(index, IndexSource)


def test_the_shipped_models_are_these_and_a_first_talk_uses_four() -> None:
    assert {model.name: model.kind for model in SHIPPED} == {
        "tiny.en": "stt",
        "base": "stt",
        "joe-medium": "tts",
        "SmolLM2-135M": "llm",
        "smart-turn-v3.2": "turn",
        **dict.fromkeys(("okay_nabu", "hey_jarvis", "hey_mycroft", "alexa"), "wake"),
    }
    assert [model.name for model in SHIPPED.defaults] == ["tiny.en", "joe-medium", "SmolLM2-135M", "smart-turn-v3.2"]


def test_the_large_files_are_those_that_upstream_published() -> None:
    large = {file.sha256: file.size for model in SHIPPED for file in model.files if file.size > 10_000_000}

    assert large == {
        "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a": 75_537_502,
        "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9": 145_217_532,
        "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06": 63_201_294,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53": 98_362_432,
    }


def test_a_file_on_the_hub_has_this_address() -> None:
    voice = SHIPPED.model("joe-medium")
    hub = voice.sources[0]
    assert isinstance(hub, HubSource)
    assert hub.route(voice.files[0]) == (
        "/rhasspy/piper-voices/resolve/c10ece1aade47bb51c153c893d14e5bf8e5b7117"
        "/en/en_US/joe/medium/en_US-joe-medium.onnx"
    )


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(SettingError, match=r"'large'.*tiny\.en, base, joe-medium, SmolLM2-135M"):
        SHIPPED.model("large")


def test_a_checkout_and_an_installed_package_find_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "discussion_helper"
    (package / "models").mkdir(parents=True)
    monkeypatch.setattr(manifest, "__file__", str(package / "models" / "manifest.py"))
    assert manifest_path() == tmp_path / "models" / "manifest.toml"

    shutil.copy(Path(__file__).parents[2] / "models" / "manifest.toml", package)

    assert manifest_path() == package / "manifest.toml"
    assert load_manifest() == SHIPPED


def test_a_good_manifest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "manifest.toml"
    path.write_text(GOOD, "utf-8")

    assert [model.name for model in load_manifest(path)] == ["tiny"]


@pytest.mark.parametrize(
    ("right", "wrong", "named"),
    [
        ("format = 1", "format = 2", "format must be 1"),
        ("format = 1", "format = ", "is not TOML"),
        ("format = 1", "format = 1\nother = 1", "unknown field other"),
        ('"tiny"', '"../tiny"', "name"),
        ('"tiny"', '""', "name"),
        ('"stt"', '"vad"', "model tiny: kind must be one of llm, stt, tts"),
        ("default = true", 'default = "yes"', "model tiny: default must be given, as bool"),
        ('licence = "MIT"', "", "model tiny: licence must be given"),
        ('homepage = "https://example.org"', "", "model tiny: homepage"),
        ("bytes = 3", "bytes = 0", r"model\.bin: bytes must be above 0"),
        ("bytes = 3", "bytes = true", r"model\.bin: bytes must be given, as int"),
        ("a" * 64, "a" * 63, r"model\.bin: sha256"),
        ("a" * 64, "A" * 64, r"model\.bin: sha256"),
        ('path = "model.bin"', 'path = "../model.bin"', "path"),
        ('path = "model.bin"', 'path = "/model.bin"', "path"),
        ('path = "model.bin"', 'path = "C:model.bin"', "path"),
        ('path = "model.bin"', r'path = "a\\model.bin"', "path"),
        ('path = "model.bin"', 'path = "a/../../model.bin"', "path"),
        ('path = "model.bin"', 'path = "model.bin.part"', "path"),
        ("0" * 40, "main", "revision"),
        ('"someone/something"', '"something"', "hub"),
        ("==1.0", ">=1.0", "requirement"),
        ("thing==1.0", "--index-url=x==1.0", "requirement"),
        ('["thing/model.bin"]', '["../model.bin"]', "must list plain relative paths"),
        ('["thing/model.bin"]', "[]", "must list plain relative paths"),
        ('"model.bin" = [', '"other.bin" = [', "packages carry"),
        ("files = [{", 'files = [{ path = "MODEL.bin", bytes = 3, sha256 = "' + "a" * 64 + '" }, {', "same path"),
    ],
)
def test_a_wrong_manifest_is_refused_with_the_file_and_the_field(
    right: str, wrong: str, named: str, tmp_path: Path
) -> None:
    assert right in GOOD
    path = tmp_path / "manifest.toml"
    path.write_text(GOOD.replace(right, wrong, 1), "utf-8")

    with pytest.raises(SettingError, match=named) as caught:
        load_manifest(path)
    assert str(path) in caught.value.what
    assert caught.value.fix


def test_two_models_of_the_same_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "manifest.toml"
    path.write_text(GOOD + GOOD.replace("format = 1", "").replace('"tiny"', '"Tiny"'), "utf-8")

    with pytest.raises(SettingError, match="same name"):
        load_manifest(path)


def test_a_manifest_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"nowhere\.toml cannot be read"):
        load_manifest(tmp_path / "nowhere.toml")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"models = 3\nformat = 1", b"format = 1\nmodels = [3]"])
def test_a_manifest_that_is_something_else_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "manifest.toml"
    path.write_bytes(content)

    with pytest.raises(SettingError, match=r"manifest\.toml"):
        load_manifest(path)

"""The manifest file: read, checked in every field, and turned into values."""

import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar, get_args

from discussion_helper.errors import SettingError
from discussion_helper.models.values import HubSource, IndexSource, Kind, Manifest, Model, ModelFile, Package, Source

__all__ = ["FORMAT", "load_manifest", "manifest_path"]

FORMAT = 1
"""The only layout of the file that this version reads."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_][A-Za-z0-9._+-]*)*")
_REPO = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_REVISION = re.compile(r"[0-9a-f]{40}")
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_PLATFORM = re.compile(r"[a-z0-9_]{1,60}")
_SHA256 = re.compile(r"[0-9a-f]{64}")

T = TypeVar("T")


def manifest_path() -> Path:
    """Where the manifest is: inside the installed package, or in a checkout's `models` folder beside the package."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "manifest.toml"
    return installed if installed.is_file() else package.parent / "models" / "manifest.toml"


def load_manifest(path: Path | None = None) -> Manifest:
    """Read the manifest at `path`, or the one that came with the package.

    Raises SettingError naming the file and the field that is wrong.
    """
    path = path or manifest_path()
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise _broken(path, f"cannot be read ({error.strerror or error})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _broken(path, f"is not TOML ({error})") from error
    try:
        return _manifest(document)
    except ValueError as error:
        raise _broken(path, f"is wrong: {error}") from error


def _broken(path: Path, what: str) -> SettingError:
    return SettingError(f"The model manifest {path} {what}.", fix="Install discussion_helper again.")


def _manifest(document: dict[str, Any]) -> Manifest:
    if _get(document, "format", int, "manifest") != FORMAT:
        raise ValueError(f"format must be {FORMAT}")
    _only(document, {"format", "models"}, "manifest")
    models = tuple(_model(table) for table in _tables(document, "models", "manifest"))
    names = [model.name.lower() for model in models]
    if len(set(names)) < len(names):
        raise ValueError("two models have the same name")
    return Manifest(models)


def _model(table: dict[str, Any]) -> Model:
    name = _text(table, "name", "models", _NAME)
    where = f"model {name}"
    _only(table, {"name", "kind", "default", "licence", "homepage", "files", "sources"}, where)
    kind = _get(table, "kind", str, where)
    if kind not in get_args(Kind):
        raise ValueError(f"{where}: kind must be one of {', '.join(get_args(Kind))}")
    files = tuple(_file(entry, f"{where}, files") for entry in _tables(table, "files", where))
    if len({file.path.lower() for file in files}) < len(files):
        raise ValueError(f"{where}: two files have the same path")
    return Model(
        name=name,
        kind=kind,  # type: ignore[arg-type]  # checked above
        default=_get(table, "default", bool, where),
        licence=_text(table, "licence", where),
        homepage=_text(table, "homepage", where),
        files=files,
        sources=tuple(_source(entry, files, f"{where}, sources") for entry in _tables(table, "sources", where)),
    )


def _file(table: dict[str, Any], where: str) -> ModelFile:
    _only(table, {"path", "bytes", "sha256"}, where)
    path = _text(table, "path", where, _FILE)
    if path.endswith(".part"):  # the name of a file on its way
        raise ValueError(f"{where}: path = {path!r} must not end in .part")
    return ModelFile(path, _size(table, f"{where}: {path}"), _text(table, "sha256", f"{where}: {path}", _SHA256))


def _source(table: dict[str, Any], files: tuple[ModelFile, ...], where: str) -> Source:
    if "hub" in table:
        return _hub(table, where)
    _only(table, {"packages"}, where)
    packages = tuple(_package(entry, f"{where}, packages") for entry in _tables(table, "packages", where))
    carried = {path for package in packages for path in package.members}
    wanted = {file.path for file in files}
    if carried != wanted:
        raise ValueError(f"{where}: packages carry {sorted(carried)}, the model consists of {sorted(wanted)}")
    return IndexSource(packages)


def _hub(table: dict[str, Any], where: str) -> HubSource:
    _only(table, {"hub", "revision", "folder"}, where)
    folder = _text(table, "folder", where, _FILE) if "folder" in table else ""
    return HubSource(_text(table, "hub", where, _REPO), _text(table, "revision", where, _REVISION), folder)


def _package(table: dict[str, Any], where: str) -> Package:
    _only(table, {"requirement", "bytes", "members", "platform"}, where)
    requirement = _text(table, "requirement", where, _REQUIREMENT)
    where = f"{where}: {requirement}"
    members = _get(table, "members", dict, where)
    platform = _text(table, "platform", where, _PLATFORM) if "platform" in table else ""
    pieces = {path: _pieces(members, path, where) for path in members}
    return Package(requirement, _size(table, where), pieces, platform)


def _pieces(members: dict[str, Any], path: str, where: str) -> tuple[str, ...]:
    pieces = _get(members, path, list, f"{where}, members")
    if not pieces or not all(isinstance(piece, str) and _FILE.fullmatch(piece) for piece in pieces):
        raise ValueError(f"{where}, members: {path} must list plain relative paths")
    return tuple(pieces)


def _size(table: dict[str, Any], where: str) -> int:
    size = _get(table, "bytes", int, where)
    if size <= 0:
        raise ValueError(f"{where}: bytes must be above 0")
    return size


def _text(table: dict[str, Any], key: str, where: str, pattern: re.Pattern[str] | None = None) -> str:
    value = _get(table, key, str, where)
    if not value or (pattern and not pattern.fullmatch(value)):
        raise ValueError(f"{where}: {key} = {value!r} has not the form it must have")
    return value


def _tables(table: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    entries = _get(table, key, list, where)
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{where}: {key} must be one table or more")
    return entries


def _get(table: dict[str, Any], key: str, kind: type[T], where: str) -> T:
    value = table.get(key)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{where}: {key} must be given, as {kind.__name__}")
    return value


def _only(table: dict[str, Any], known: set[str], where: str) -> None:
    if unknown := set(table) - known:
        raise ValueError(f"{where}: unknown field {', '.join(sorted(unknown))}")

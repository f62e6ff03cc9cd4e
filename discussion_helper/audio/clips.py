"""Clips: recorded audio with what is said in it, listed in a folder's `manifest.csv`."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from discussion_helper.errors import AudioFileError

__all__ = ["Clip", "load_clips"]

_COLUMNS = (
    "file",
    "kind",
    "duration_s",
    "sample_rate",
    "channels",
    "language",
    "speaker",
    "transcript",
    "demo",
    "licence",
    "licence_files",
    "source",
    "sha256",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """One recording, as the manifest describes it; the file itself is not opened.

    `duration_s` is in seconds and `rate` in hertz, as libsndfile decodes the file. `language` is a BCP 47 tag.
    `language`, `speaker` and `transcript` are "" where nothing is stated. `demo` is the clip's turn in the demo
    conversation, counted from 1; 0 when it has none. `licence_files` lie in the folder's LICENCES.
    """

    path: Path
    kind: str
    duration_s: float
    rate: int
    channels: int
    language: str
    speaker: str
    transcript: str
    demo: int
    licence: str
    licence_files: tuple[str, ...]
    source: str
    sha256: str


def load_clips(folder: Path) -> list[Clip]:
    """Read `folder`/manifest.csv, in its order. Raises AudioFileError, which names the file and the line."""
    manifest = folder / "manifest.csv"
    try:
        with manifest.open(encoding="utf-8", newline="") as lines:
            return _read(csv.DictReader(lines, strict=True), manifest)
    except FileNotFoundError:
        fix = "Name the folder that holds the clips."
        raise AudioFileError(f"{manifest} does not exist.", fix=fix) from None
    except NotADirectoryError:
        raise AudioFileError(f"{folder} is not a folder.", fix="Name the folder that holds the clips.") from None
    except OSError as error:  # its own text holds the path once more
        fix = "Name a folder with clips that this user may read."
        raise AudioFileError(f"{manifest} cannot be read: {error.strerror}.", fix=fix) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise AudioFileError(f"{manifest} cannot be read: {error}.", fix="Restore it from the project.") from error


def _read(rows: "csv.DictReader[str]", manifest: Path) -> list[Clip]:
    missing = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
        raise AudioFileError(f"{manifest} lacks the columns {', '.join(missing)}.", fix="Add them to its first line.")
    return [_clip(row, manifest, rows.line_num) for row in rows]


def _clip(row: Mapping[str, str], manifest: Path, line: int) -> Clip:
    try:
        return Clip(
            path=manifest.parent / _inside(row["file"]),
            kind=row["kind"],
            duration_s=float(row["duration_s"]),
            rate=int(row["sample_rate"]),
            channels=int(row["channels"]),
            language=row["language"],
            speaker=row["speaker"],
            transcript=row["transcript"],
            demo=int(row["demo"] or 0),
            licence=row["licence"],
            licence_files=tuple(row["licence_files"].split(";")),
            source=row["source"],
            sha256=row["sha256"],
        )
    except (AttributeError, TypeError, ValueError) as error:  # a short row gives None where text belongs
        raise AudioFileError(f"{manifest}, line {line}: {error}.", fix="Correct that line.") from error


def _inside(file: str) -> PurePosixPath:
    path = PurePosixPath(file)
    if not file or path.is_absolute() or ".." in path.parts or "\\" in file or ":" in file:
        raise ValueError(f"the file {file!r} is not a path inside the folder")
    return path

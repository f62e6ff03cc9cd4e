"""The end of turns, in every way with every wait."""

from pathlib import Path

from discussion_helper.bench.clips import FIX_CLIPS
from discussion_helper.bench.endpointing import WAITS_S, WAYS, EndpointingRow, rows_of, turns_in
from discussion_helper.bench.progress import Progress
from discussion_helper.errors import AudioFileError

__all__ = ["run_endpointing"]


def run_endpointing(folder: Path, most: int | None, progress: Progress) -> list[EndpointingRow]:
    """Hear `most` recordings of the folder, None = all, and end each turn in every way. Raises DiscussionError."""
    turns = turns_in(folder, most=most)
    if not turns:
        raise AudioFileError(f"{folder} holds no turns.", fix=FIX_CLIPS)
    progress.step("endpointing", 1, 2, f"{len(turns)} turns were heard and read")
    rows = [row for way in WAYS for wait_s in WAITS_S for row in rows_of(turns, way, wait_s)]
    progress.step("endpointing", 2, 2, f"{len(WAYS)} ways with {len(WAITS_S)} waits")
    return rows

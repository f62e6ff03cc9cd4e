"""A recording as a test fixture: the notes that its sound gives, without devices, models of speech and waiting."""

import os
from pathlib import Path

from discussion_helper.audio.echo import EchoPath
from discussion_helper.listening import hearing_with
from discussion_helper.recorder.replay import Replay
from discussion_helper.recorder.take import takes_in
from discussion_helper.recorder.trials import heeded_by, tried
from discussion_helper.voice.notes import Note

__all__ = ["replayed"]


def replayed(folder: str | os.PathLike[str], *settings: str, take: int = -1) -> list[Note]:
    """The notes of a recorded talk, the last one in the folder unless `take` says which.

    `settings`: "vad.threshold=0.6" and others, as for `discussion-helper replay --set`; without any, those of the talk.
    Raises AudioFileError or SettingError, and RuntimeError when the hearing fails.
    """
    chosen = takes_in(Path(folder))[take]
    heeded = tried(heeded_by(chosen.header), settings)
    notes: list[Note] = []
    pauses = heeded.pauses()
    outcome = Replay(
        chosen,
        lambda rate, echo: hearing_with(
            rate, echo, policy=heeded.policy, language=heeded.language, tuning=heeded.tuning, pauses=pauses
        ),
        EchoPath(),
        noted=notes.append,
    ).run()
    if outcome.failures:
        raise RuntimeError(f"The replay failed: {'; '.join(outcome.failures)}.")
    return notes

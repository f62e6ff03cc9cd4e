"""The recogniser of a replay: it reads what it was not asked for in the talk."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from discussion_helper.errors import AudioFileError, ModelMissing, SettingError

if TYPE_CHECKING:
    from discussion_helper.audio.frames import Samples
    from discussion_helper.recorder.replay import Outcome
    from discussion_helper.recorder.take import Take
    from discussion_helper.recorder.word_book import Reads
    from discussion_helper.stt.base import Recogniser
    from discussion_helper.voice.deciding import Words

__all__ = ["with_recogniser"]


def with_recogniser(take: "Take", language: str, replayed: "Callable[[Reads], Outcome]") -> "Outcome":
    """What `replayed` gives with the talk's own recogniser. Raises DiscussionError."""
    import anyio

    return anyio.run(_read_beside, _recogniser(take, language), _said(take), replayed)


async def _read_beside(recogniser: "Recogniser", said: list[str], replayed: "Callable[[Reads], Outcome]") -> "Outcome":
    """The replay has a thread; the recogniser has the loop, as in a talk."""
    import anyio
    import anyio.from_thread

    from discussion_helper.voice.deciding import Words
    from discussion_helper.voice.echo_text import is_echo

    def read(samples: "Samples", voiced_s: float) -> "Words":
        result = anyio.from_thread.run(lambda: recogniser.recognise(samples, voiced_s=voiced_s))
        echo = bool(result.text) and any(is_echo(result.text, [text]) for text in said)
        return Words(text=result.text, echo=echo, refused=result.refused)

    await recogniser.warmup()
    try:
        return await anyio.to_thread.run_sync(replayed, read)
    finally:
        await recogniser.aclose()


def _recogniser(take: "Take", language: str) -> "Recogniser":
    from discussion_helper.choices import recogniser_of
    from discussion_helper.models import Store, missing
    from discussion_helper.settings import Settings
    from discussion_helper.stt.whisper import WhisperRecogniser

    name = str(take.header.settings.get("stt", Settings().stt))
    try:
        model = recogniser_of(Settings(stt=name, language=language))
    except SettingError as error:
        raise AudioFileError(f"The talk's recogniser cannot be had: {error.what}", fix=error.fix) from error
    store = Store()
    if missing(store, [model.name]):
        raise ModelMissing(f"The model {name} is not here.", fix=f"Run: discussion-helper models pull {name}")
    return WhisperRecogniser(store.path_of(model), language=language)


def _said(take: "Take") -> list[str]:
    """What the agent said in it, whole turns."""
    from discussion_helper.recorder.entries import Told
    from discussion_helper.recorder.records import Kind

    events: list[dict[str, Any]] = [entry.event for entry in take.entries((Kind.TOLD,)) if isinstance(entry, Told)]
    turns = [event for event in events if event.get("kind") == "utterance" and event.get("speaker") == "agent"]
    return [str(turn.get("said") or turn.get("text", "")) for turn in turns]

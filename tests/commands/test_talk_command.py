"""`discussion-helper talk` with fakes: its options, its plan, its document and what it tells."""

import argparse
import json
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import cast

import anyio
import pytest

from discussion_helper.app import Talk
from discussion_helper.audio.file_devices import FileCapture
from discussion_helper.commands import talk, talk_course, talk_demo, talk_files, talk_plan
from discussion_helper.commands.suggestion import suggestion
from discussion_helper.commands.talk_json import document_of
from discussion_helper.errors import AudioFileError, DeviceError, DiscussionError, RecogniserError, SettingError
from discussion_helper.parts import Reporter
from discussion_helper.responder import discovery
from discussion_helper.session import Session
from discussion_helper.settings import Settings
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Message, Policy, Utterance
from discussion_helper.voice.pause_file import pause_file_path

HEADER = (
    "file,demo,kind,duration_s,sample_rate,channels,language,speaker,transcript,licence,licence_files,source,sha256"
)
NO_MICROPHONE = DeviceError("This machine has no microphone.", fix="Connect one.")
NO_LOUDSPEAKER = DeviceError("This machine has no loudspeaker.", fix="Connect one.")
CLIP = "{file},{demo},speech,1.0,16000,1,en,,Hello.,CC0,CC0.txt,,{sha}"


def arguments_of(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    talk.add_parser(parser.add_subparsers())
    return parser.parse_args(["talk", *options])


Opener = Callable[[Settings], AbstractAsyncContextManager[Talk]]


def opener_of(session_of: Callable[[Settings], Session], files: object = None) -> Opener:
    @asynccontextmanager
    async def open_fakes(settings: Settings) -> AsyncIterator[Talk]:
        session = session_of(settings)
        try:
            yield Talk(session, "a microphone", "a loudspeaker", "an echo", cast(FileCapture | None, files))
        finally:
            await session.stop()

    return open_fakes


def scripted(*turns: str, stays_open: bool = False) -> Opener:
    return opener_of(
        lambda settings: Session(
            ScriptedListener(turns, stays_open=stays_open), EchoResponder(2), SilentVoice(0.01), settings.policy
        )
    )


# -- options


def test_options_become_settings() -> None:
    arguments = arguments_of(
        *("--language", "de", "--voice", "v", "--stt", "s", "--llm", "m@http://localhost", "--system", "Be kind."),
        *("--device", "USB", "--loudspeaker", "HDMI", "--no-barge-in", "--max-sentences", "3"),
        *("--silence-timeout", "20"),
    )

    assert Settings(
        language="de",
        voice="v",
        stt="s",
        llm="m@http://localhost",
        system="Be kind.",
        microphone="USB",
        loudspeaker="HDMI",
        policy=Policy(allow_barge_in=False, max_reply_sentences=3, silence_timeout_s=20.0),
        pause_file=pause_file_path(),
    ) == talk_plan.settings_of(arguments, (), None)


def test_without_options_the_defaults_hold() -> None:
    assert Settings(pause_file=pause_file_path()) == talk_plan.settings_of(arguments_of(), (), None)


def test_recordings_are_turns_in_order(tmp_path: Path) -> None:
    arguments = arguments_of("--input", "a.wav", "b.wav", "--input", "c.wav", "--output", "out.wav")
    plan = talk_plan.plan_of(arguments)

    assert (Path("a.wav"), Path("b.wav"), Path("c.wav")) == plan.settings.inputs
    assert Path("out.wav") == plan.settings.output
    assert ("The answers are recorded in out.wav.",) == plan.remarks


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--language", "english"], "language: 'english'"),
        (["--silence-timeout", "-1"], "silence_timeout_s: -1.0"),
        (["--max-sentences", "-2"], "max_reply_sentences: -2"),
        (["--voice", " "], "voice: "),
        (["--input", "a.wav"], "--input speaks instead of a microphone"),
    ],
)
def test_a_wrong_option_is_named(options: list[str], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        talk_plan.plan_of(arguments_of("--microphone", "USB", *options))


@pytest.mark.parametrize("options", [[], ["--microphone", "USB"]])
def test_an_output_needs_recordings(options: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk_demo, "missing_microphone", lambda: None)

    with pytest.raises(SettingError) as refused:
        talk_plan.plan_of(arguments_of("--output", "out.wav", *options))
    assert str(refused.value) == (
        "--output records the answers to recordings, and this talk has a microphone. "
        "Leave it out, or name recordings with --input FILE."
    )


# -- a machine without a microphone


@pytest.fixture
def clips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No microphone, an empty working folder, and a folder of clips."""
    rows = [CLIP.format(file=f"{name}.wav", demo=demo, sha="0" * 64) for name, demo in (("b", 2), ("x", ""), ("a", 1))]
    folder = tmp_path / "clips"
    folder.mkdir()
    (folder / "manifest.csv").write_text("\n".join([HEADER, *rows]))
    monkeypatch.setenv("DISCUSSION_HELPER_CLIPS", str(folder))
    monkeypatch.setattr(talk_demo, "missing_microphone", lambda: NO_MICROPHONE)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def no_loudspeaker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk_demo, "missing_loudspeaker", lambda name: NO_LOUDSPEAKER)


@pytest.fixture
def loudspeaker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk_demo, "missing_loudspeaker", lambda name: None)


@pytest.mark.usefixtures("no_loudspeaker")
def test_without_a_microphone_the_demo_clips_speak(clips: Path) -> None:
    plan = talk_plan.plan_of(arguments_of("--voice", "v"))

    inputs = (clips / "a.wav", clips / "b.wav")
    wanted = Settings(voice="v", inputs=inputs, output=Path("talk.wav"), pause_file=pause_file_path())
    assert wanted == plan.settings
    assert (
        "This machine has no microphone: recorded people speak instead.",
        "This machine has no loudspeaker: the answers are recorded in talk.wav.",
    ) == plan.remarks


@pytest.mark.usefixtures("no_loudspeaker")
def test_without_a_loudspeaker_the_answers_to_recordings_are_recorded_too(clips: Path) -> None:
    plan = talk_plan.plan_of(arguments_of("--input", "jfk.wav"))

    assert ((Path("jfk.wav"),), Path("talk.wav")) == (plan.settings.inputs, plan.settings.output)
    assert ("This machine has no loudspeaker: the answers are recorded in talk.wav.",) == plan.remarks


@pytest.mark.usefixtures("no_loudspeaker")
def test_a_loudspeaker_that_was_asked_for_is_not_replaced_by_a_file(clips: Path) -> None:
    for options in (["--input", "jfk.wav"], []):
        with pytest.raises(SettingError) as refused:
            talk_plan.plan_of(arguments_of("--loudspeaker", "HDMI", *options))
        assert "loudspeaker: This machine has no loudspeaker. Connect one, or --output FILE." == str(refused.value)


@pytest.mark.usefixtures("no_loudspeaker")
def test_a_microphone_without_a_loudspeaker_is_refused_with_what_can_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk_demo, "missing_microphone", lambda: None)

    with pytest.raises(DeviceError) as refused:
        talk_plan.plan_of(arguments_of())
    assert str(refused.value) == (
        "This machine has no loudspeaker. Connect one, or talk with recordings: --input FILE --output FILE."
    )


@pytest.mark.usefixtures("loudspeaker")
def test_the_answers_to_recordings_are_played_where_there_is_a_loudspeaker(clips: Path) -> None:
    assert talk_plan.plan_of(arguments_of("--input", "jfk.wav")).settings.output is None
    plan = talk_plan.plan_of(arguments_of())
    assert plan.settings.output is None
    assert ("This machine has no microphone: recorded people speak instead.",) == plan.remarks


@pytest.mark.usefixtures("no_loudspeaker")
def test_the_demo_overwrites_no_recording(clips: Path) -> None:
    for name in ("talk.wav", "talk-2.wav"):
        Path(name).touch()

    assert Path("talk-3.wav") == talk_plan.plan_of(arguments_of()).settings.output
    assert Path("mine.wav") == talk_plan.plan_of(arguments_of("--output", "mine.wav")).settings.output


@pytest.mark.usefixtures("loudspeaker")
def test_the_demo_plays_where_it_was_told_to(clips: Path) -> None:
    settings = talk_plan.plan_of(arguments_of("--loudspeaker", "HDMI")).settings

    assert (None, "HDMI", 2) == (settings.output, settings.loudspeaker, len(settings.inputs))


def test_a_microphone_that_was_asked_for_is_not_replaced_by_the_demo(clips: Path) -> None:
    for option in ("--device", "--microphone"):
        assert () == talk_plan.plan_of(arguments_of(option, "USB")).settings.inputs


@pytest.mark.parametrize("content", [None, HEADER])
def test_without_clips_the_fix_is_the_input_option(clips: Path, content: str | None) -> None:
    (clips / "manifest.csv").unlink()
    if content:
        (clips / "manifest.csv").write_text(content)

    with pytest.raises(AudioFileError, match=r"no demo clips.*--input"):
        talk_plan.plan_of(arguments_of())


@pytest.mark.usefixtures("clips")
def test_an_installed_copy_says_what_to_do_without_clips(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DISCUSSION_HELPER_CLIPS")
    monkeypatch.setattr("discussion_helper.__file__", str(tmp_path / "site-packages" / "package" / "__init__.py"))

    with pytest.raises(AudioFileError) as refused:
        talk_plan.plan_of(arguments_of())
    assert str(refused.value) == (
        "There is no microphone, and an installed copy has no demo clips. "
        "Give recordings with --input FILE, or name a checkout's folder audio in DISCUSSION_HELPER_CLIPS."
    )


@pytest.fixture
def own_clips(monkeypatch: pytest.MonkeyPatch) -> None:
    """The project's clips: named, because a package installed from the wheel has none beside it."""
    monkeypatch.setenv("DISCUSSION_HELPER_CLIPS", str(Path(__file__).parents[2] / "audio"))
    monkeypatch.setattr(talk_demo, "missing_microphone", lambda: NO_MICROPHONE)


@pytest.mark.usefixtures("own_clips")
@pytest.mark.parametrize("language", ["es", "fr", "it", "ru", "sv", "ja"])
def test_the_demo_speaks_the_language_that_was_asked_for(language: str) -> None:
    inputs = talk_plan.plan_of(arguments_of("--language", language, "--stt", "base")).settings.inputs

    assert 1 <= len(inputs) <= 4
    assert all(f"_{language}_" in path.name and path.is_file() for path in inputs)


@pytest.mark.usefixtures("own_clips")
def test_the_demo_of_a_language_that_is_to_be_found_out_is_the_english_one() -> None:
    inputs = talk_plan.plan_of(arguments_of("--language", "auto", "--stt", "base")).settings.inputs

    assert talk_demo.demo_clips("en") == inputs


@pytest.mark.usefixtures("own_clips")
def test_a_language_without_clips_is_refused_with_those_there_are() -> None:
    with pytest.raises(AudioFileError) as refused:
        talk_plan.plan_of(arguments_of("--language", "de", "--stt", "base"))
    assert str(refused.value) == (
        "There is no microphone, and no demo clip is in de: they are in en, es, fr, it, ja, ru, sv. "
        "Name recordings of yours with --input FILE."
    )


@pytest.mark.usefixtures("own_clips")
def test_the_demo_clips_of_the_project_are_there() -> None:
    clips = talk_demo.demo_clips("en")

    assert len(clips) >= 3
    assert all(clip.is_file() for clip in clips)


# -- the talk


def hold(opener: Opener, *options: str) -> int:
    return talk.hold_talk(arguments_of("--microphone", "fake", "--llm", "none", *options), opener)


def test_the_document_is_all_that_is_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == hold(scripted("Hello.", "Goodbye."), "--json")

    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert ["utterances", "timings", "interruption_rate"] == list(document)
    turns = [(turn["speaker"], turn["text"]) for turn in document["utterances"]]
    assert [("user", "Hello."), ("agent", "Hello. Hello. (2)")] == turns[:2]
    assert [("user", "Goodbye."), ("agent", "Goodbye. Goodbye. (2)")] == turns[2:]
    assert {"speaker", "text", "said", "interrupted", "started_s", "ended_s"} == set(document["utterances"][0])
    assert 2 == len(document["timings"])
    assert 0.0 == document["interruption_rate"]
    assert "Microphone: a microphone. Loudspeaker: a loudspeaker. Answers come from an echo." in printed.err
    assert "  you: Hello.\n" in printed.err
    assert "Answers: 2, interrupted: 0, median wait 0.0" in printed.err.splitlines()[-1]


def test_without_json_nothing_is_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == hold(scripted("Hello."))
    assert "" == capsys.readouterr().out


def test_an_empty_talk_has_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == hold(scripted(), "--json")

    printed = capsys.readouterr()
    assert document_of(None) == json.loads(printed.out)
    assert "No answers." == printed.err.splitlines()[-1]


def test_a_talk_that_cannot_be_opened_has_one_too(capsys: pytest.CaptureFixture[str]) -> None:
    @asynccontextmanager
    async def refuse(settings: Settings) -> AsyncIterator[Talk]:
        raise SettingError("stt: there is no such model.", fix="Choose another one.")
        yield

    with pytest.raises(SettingError, match="stt: there is no such model"):
        hold(refuse, "--json")
    assert document_of(None) == json.loads(capsys.readouterr().out)


class Failing(EchoResponder):
    """Answers once, then fails with `error`."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        if self.seen:
            raise self._error
        async for sentence in super().reply(messages):
            yield sentence


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (RecogniserError("It broke.", fix="Mend it."), r"^It broke\. Mend it\.$"),
        (ValueError("surprise"), r"^The talk failed: surprise\.$"),
        (KeyError(), r"^The talk failed: KeyError\.$"),
    ],
)
def test_a_part_that_fails_loses_nothing(error: Exception, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    opener = opener_of(
        lambda settings: Session(ScriptedListener(["One.", "Two."]), Failing(error), SilentVoice(), settings.policy)
    )

    with pytest.raises(DiscussionError, match=says):
        hold(opener, "--json")
    assert ["One.", "One.", "Two."] == [turn["text"] for turn in json.loads(capsys.readouterr().out)["utterances"]]


# -- recordings


class Recordings:
    """A microphone that says recordings at once, and the listener at it, which hears `heard[n]` in number n."""

    def __init__(self, *heard: str) -> None:
        self._heard = heard
        self._turns: list[str] = []
        self._changed = anyio.Event()
        self._reporter: Reporter | None = None
        self._closed = False

    def attach(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def say(self, number: int) -> "Future[None]":
        said: Future[None] = Future()
        said.set_result(None)
        self._turns.append(self._heard[number])
        self._changed.set()
        return said

    async def utterances(self) -> AsyncIterator[Utterance]:
        assert self._reporter is not None
        self._reporter.report("device", which="microphone", state="open")
        while not self._closed:
            while self._turns:
                yield Utterance("user", self._turns.pop(0))
            self._changed = anyio.Event()
            await self._changed.wait()

    async def speech_started(self) -> None:
        await anyio.sleep_forever()

    async def aclose(self) -> None:
        self._closed = True
        self._changed.set()


def recorded(*heard: str) -> Opener:
    recordings = Recordings(*heard)
    return opener_of(lambda _: Session(recordings, EchoResponder(), SilentVoice(0.01)), recordings)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long for what is not heard."""
    for limit in ("ANOTHER_TURN_S", "HELD_TURN_S", "UNDERSTOOD_WITHIN_S"):
        monkeypatch.setattr(talk_files, limit, 0.05)


def hold_recordings(opener: Opener, count: int, *options: str) -> int:
    names = [f"{number}.wav" for number in range(count)]
    return talk.hold_talk(arguments_of("--llm", "none", "--json", *options, "--input", *names), opener)


@pytest.mark.usefixtures("hasty")
def test_recordings_are_answered_one_by_one_and_finish_the_talk(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == hold_recordings(recorded("One.", "Two."), 2)

    printed = capsys.readouterr()
    turns = json.loads(printed.out)["utterances"]
    assert ["One.", "One.", "Two.", "Two."] == [turn["text"] for turn in turns]
    assert "ended: reason=finished\n" in printed.err


@pytest.mark.usefixtures("hasty")
def test_a_listener_that_does_not_close_after_the_recordings_is_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(talk_course, "CLOSE_LIMIT_S", 0.05)
    monkeypatch.setattr(Recordings, "aclose", lambda self: anyio.sleep_forever())

    assert 0 == hold_recordings(recorded("One."), 1)
    assert "ended: reason=stopped" in capsys.readouterr().err


@pytest.mark.usefixtures("hasty")
def test_recordings_without_a_word_are_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RecogniserError, match="Nothing was understood in the recordings"):
        hold_recordings(recorded("", ""), 2)
    printed = capsys.readouterr()
    assert "Nothing was understood in 0.wav." in printed.err
    assert "Nothing was understood in 1.wav." in printed.err
    assert [] == json.loads(printed.out)["utterances"]


@pytest.mark.usefixtures("hasty")
def test_recordings_that_do_not_say_the_wake_word_are_told_to() -> None:
    with pytest.raises(RecogniserError, match="Have them say okay_nabu before anything else"):
        hold_recordings(recorded(""), 1, "--wake-word", "okay_nabu")


# -- what is suggested


@pytest.mark.anyio
async def test_a_local_server_is_told_of_to_those_who_use_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    async def find() -> list[discovery.LocalServer]:
        return [discovery.LocalServer("Ollama", "http://127.0.0.1:11434/v1", ("llama3.2", "other"))]

    monkeypatch.setattr(discovery, "find_local_servers", find)

    assert await suggestion(Settings()) == (
        "Ollama with llama3.2 answers at http://127.0.0.1:11434/v1: use --llm llama3.2@http://127.0.0.1:11434/v1"
    )
    assert "" == await suggestion(Settings(llm="llama3.2@http://127.0.0.1:11434/v1"))


@pytest.mark.anyio
async def test_without_a_server_nothing_is_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    async def find() -> list[discovery.LocalServer]:
        return []

    monkeypatch.setattr(discovery, "find_local_servers", find)

    assert "" == await suggestion(Settings())

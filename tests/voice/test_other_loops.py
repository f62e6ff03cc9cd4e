"""A voice and a listener belong to one event loop; another one's calls are refused, and change nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice, VirtualTimeLoop
from discussion_helper.testing.room import CutSynthesiser, Room, Scene, cheap_detectors, run_in_room
from discussion_helper.voice.microphone import MicrophoneListener
from discussion_helper.voice.speaker import SpeakerVoice

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen"
REFUSED = r"the (voice|listener) runs on another event loop; call it there \(anyio\.from_thread\.run\)"


async def elsewhere(call: Callable[[], Awaitable[Any]]) -> None:
    """Call it on the event loop of another thread, where it must be refused at once."""

    async def run() -> None:
        with anyio.fail_after(2.0), pytest.raises(RuntimeError, match=REFUSED):
            await call()

    await anyio.to_thread.run_sync(anyio.run, run)


def voice_calls(voice: Any) -> dict[str, Callable[[], Awaitable[Any]]]:
    return {
        "warmup": voice.warmup,
        "speak": lambda: voice.speak("another"),
        "prepare": lambda: voice.prepare("another"),
        "audible": voice.audible,
        "stop": voice.stop,
        "aclose": voice.aclose,
    }


def listener_calls(listener: Any) -> dict[str, Callable[[], Awaitable[Any]]]:
    return {
        "warmup": listener.warmup,
        "utterances": lambda: anext(listener.utterances()),
        "speech_started": listener.speech_started,
        "resumed": listener.resumed,
        "rested": listener.rested,
        "mute": lambda: listener.mute(True),
        "aclose": listener.aclose,
    }


def public_coroutines(part: type) -> set[str]:
    code = {name: getattr(member, "__code__", None) for name, member in vars(part).items() if name[0] != "_"}
    return {name for name, it in code.items() if it is not None and it.co_flags & (0x80 | 0x200)}


def test_every_coroutine_is_tried() -> None:
    assert public_coroutines(SpeakerVoice) == set(voice_calls(SpeakerVoice))
    assert public_coroutines(MicrophoneListener) == set(listener_calls(MicrophoneListener))


def test_a_talk_goes_on_as_if_nobody_had_called_from_another_loop() -> None:
    async def main(room: Room) -> tuple[bool, Any]:
        recogniser, synthesiser = room.recogniser(), CutSynthesiser()
        session = room.session(responder=EchoResponder(), recogniser=recogniser, synthesiser=synthesiser).start()
        await session.speak(LONG)
        await room.reached("reply")
        listener, voice = session.discussion.listener, session.discussion.voice
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        with loop.held():
            for call in [*voice_calls(voice).values(), *listener_calls(listener).values()]:
                await elsewhere(call)
        assert (False, False) == (recogniser.closed, synthesiser.closed)
        assert "another" not in synthesiser.spoken
        await room.quiet(1.0)
        cut = await session.interrupt()
        conversation = await session.stop()
        return cut, [(it.text, it.interrupted) for it in conversation.utterances]

    cut, said = run_in_room(main, Room(Scene(), detectors=cheap_detectors))

    assert not cut  # it was over
    assert [(LONG, False)] == said


@pytest.mark.parametrize("name", ["stop", "speak", "audible", "aclose"])
def test_the_silent_voice_is_as_strict_while_it_speaks(name: str) -> None:
    async def main() -> None:
        voice = SilentVoice(seconds_per_sentence=30.0)
        session = Session(ScriptedListener([], stays_open=True), EchoResponder(), voice).start()
        await session.speak("hello there")
        await voice.audible()
        calls = {name: getattr(voice, name) for name in ("stop", "audible", "aclose")}
        await elsewhere({**calls, "speak": lambda: voice.speak("x")}[name])
        assert (["hello there"], 0, False) == (voice.spoken, voice.stops, voice.closed)
        assert await session.interrupt()
        await session.stop()

    anyio.run(main)


def test_the_right_loop_can_be_asked_from_a_thread() -> None:
    async def main() -> int:
        voice = SilentVoice(seconds_per_sentence=30.0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(voice.speak, "hello")
            await voice.audible()
            await anyio.to_thread.run_sync(lambda: anyio.from_thread.run(voice.stop))
        return voice.stops

    assert 1 == anyio.run(main)

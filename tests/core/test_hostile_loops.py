"""Event loops that end, are interrupted, or are another thread's; in interpreters that report everything."""

import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest

from discussion_helper.session import Session, Sessions
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Floor

ROOT = Path(__file__).parents[2]
HEAD = """
import asyncio, gc, os, signal, sys, threading, time
import anyio
from discussion_helper import *
from discussion_helper.testing import *

CLOSED = []

class Closes:
    async def aclose(self):
        await anyio.sleep(0.01)  # as devices and connections do
        CLOSED.append(type(self).__name__)

class Ear(Closes, ScriptedListener): pass
class Mind(Closes, EchoResponder): pass
class Mouth(Closes, SilentVoice): pass

def session(*turns, sentences=3, delay_s=0.0, seconds=30.0, **policy):
    return Session(Ear(turns, stays_open=True), Mind(sentences, delay_s), Mouth(seconds), Policy(**policy))

class Patient(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self):
        loop = super().new_event_loop()
        loop.slow_callback_duration = 60.0  # a busy machine is no finding
        return loop

asyncio.set_event_loop_policy(Patient())

async def until(one, floor):
    async with one.events("floor") as events:
        while one.floor is not floor:
            await anext(events)
"""


def ran(code: str, *, within_s: float = 3.0, status: int = 0) -> str:
    """Standard output of a program that must end in time and leave nothing on standard error."""
    before = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", HEAD + textwrap.dedent(code)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
    )
    if status == 0:
        assert "" == done.stderr
    assert status == done.returncode, done.stderr
    assert time.monotonic() - before < within_s + 4.0  # an interpreter takes a second or two to start here
    return done.stdout.strip()


STATES = {
    "started": "one = session('hi').start()",
    "listening": "one = session().start(); await until(one, Floor.LISTENING)",
    "thinking": "one = session('hi', delay_s=30.0).start(); await until(one, Floor.THINKING)",
    "speaking": "one = session('hi').start(); await until(one, Floor.SPEAKING); await anyio.sleep(0.05)",
    "stopping": "one = session('hi').start(); await until(one, Floor.SPEAKING); asyncio.create_task(one.stop())",
    "failed": "one = session('hi').start(); one.discussion.voice.speak = None; await anyio.sleep(0.1)",
    "ended": "one = session('hi', seconds=0.01, silence_timeout_s=0.1).start(); await one.wait()",
    "never started": "one = session('hi'); events = one.events()",
}


@pytest.mark.parametrize("state", STATES)
def test_the_end_of_asyncio_takes_a_session_down_quietly(state: str) -> None:
    out = ran(f"""
        async def main():
            {STATES[state]}
            return one
        one = asyncio.run(main(), debug=True)
        print(one.ended, one.floor.value, one.discussion.voice.speaking, sorted(CLOSED))
        """)

    if state == "started":  # it may not have come to anything
        assert out.endswith(("idle False []", "idle False ['Ear', 'Mind', 'Mouth']"))
    elif state == "never started":
        assert "False idle False []" == out
    else:
        assert out.startswith("True idle False")
    if state in ("listening", "thinking", "speaking", "failed", "ended"):
        assert out.endswith("['Ear', 'Mind', 'Mouth']")


@pytest.mark.parametrize("state", [state for state in STATES if state != "stopping"])
def test_the_end_of_trio_takes_a_session_down_quietly(state: str) -> None:
    out = ran(f"""
        import trio
        async def main():
            {STATES[state]}
            return one
        one = trio.run(main)
        print(one.ended, one.floor.value, one.discussion.voice.speaking, sorted(CLOSED))
        """)

    if state == "never started":
        assert "False idle False []" == out
    else:
        assert "True idle False ['Ear', 'Mind', 'Mouth']" == out


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send to oneself")
@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_control_c_takes_a_session_down(loop: str) -> None:
    out = ran(f"""
        async def main():
            one = session('hi').start()
            print(one.discussion.conversation.floor.value)
            try:
                await until(one, Floor.SPEAKING)
                os.kill(os.getpid(), signal.SIGINT)
                await anyio.sleep(30)
            finally:
                with anyio.CancelScope(shield=True):
                    print((await one.stop()).utterances[-1].interrupted)
        try:
            anyio.run(main, backend={loop!r})
        except KeyboardInterrupt:
            print('interrupted', sorted(CLOSED))
        """)

    assert "idle\nTrue\ninterrupted ['Ear', 'Mind', 'Mouth']" == out


def test_a_session_that_was_dropped_in_any_state_says_nothing() -> None:
    out = ran("""
        async def main():
            for use in ('never', 'failed', 'stopped', 'watched'):
                one = session('hi', seconds=0.01)
                events = one.events()
                if use == 'failed':
                    one.discussion.voice.speak = None
                    one.start()
                    await anyio.sleep(0.1)
                elif use == 'stopped':
                    await one.start().stop()
                elif use == 'watched':
                    one.start()
                    async for event in one.events():
                        break
                    await one.stop()
                del one, events
                gc.collect()
            print(len(asyncio.all_tasks()))
        asyncio.run(main(), debug=True)
        gc.collect()
        """)

    assert "1" == out


def test_failing_to_start_leaves_no_coroutine_behind() -> None:
    out = ran("""
        one = session('hi')
        for _ in range(2):
            try:
                one.start()
            except RuntimeError as error:
                print(error)
        idle = asyncio.new_event_loop()
        asyncio.set_event_loop(idle)
        try:
            one.start()
        except RuntimeError as error:
            print(error)
        idle.close()
        gc.collect()
        print(one.started, one.state['running'])
        """)

    lines = out.splitlines()
    assert 1 == len(set(lines[:3]))
    assert "running event loop" in lines[0]
    assert "False False" == lines[3]


def test_a_session_may_be_made_outside_and_read_after_its_loop() -> None:
    out = ran("""
        one = session('hi', seconds=0.01, silence_timeout_s=0.1)
        events = one.events()
        async def main():
            await one.start().wait()
        asyncio.run(main(), debug=True)
        async def later():
            print([event.kind async for event in events][-1], (await one.stop()) is (await one.wait()))
            print(await one.interrupt(), [event.kind async for event in one.events()])
        asyncio.run(later(), debug=True)
        """)

    assert "ended True\nFalse ['ended']" == out


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_another_thread_is_refused_loudly_and_may_call_in_properly() -> None:
    session = Session(ScriptedListener(["hi"], stays_open=True), EchoResponder(), SilentVoice(30.0)).start()
    async with session.events("floor") as events:
        while session.floor is not Floor.SPEAKING:
            await anext(events)
    refused: list[str] = []

    async def use() -> None:
        for call in (
            session.interrupt,
            session.stop,
            session.wait,
            lambda: session.say("x"),
            lambda: session.speak("x"),
        ):
            with pytest.raises(RuntimeError, match="another event loop"):
                await call()
            refused.append("refused")
        with pytest.raises(RuntimeError, match="another event loop"):
            session.events()

    def other_thread() -> bool:
        thread = threading.Thread(target=lambda: anyio.run(use, backend="asyncio"))
        thread.start()
        thread.join()
        assert "speaking" == session.state["floor"]  # reading is free
        return anyio.from_thread.run(session.interrupt)

    assert await anyio.to_thread.run_sync(other_thread) is True
    assert ["refused"] * 5 == refused
    await session.stop()


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_session_of_another_thread_in_the_registry_keeps_no_other_one_open() -> None:
    sessions: Sessions[Session] = Sessions()
    started, over = threading.Event(), threading.Event()

    def make() -> Session:
        return sessions.add(Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice())).start()

    async def hold() -> None:
        elsewhere = make()
        started.set()
        await anyio.to_thread.run_sync(over.wait)
        await elsewhere.stop()

    thread = threading.Thread(target=lambda: anyio.run(hold), daemon=True)
    thread.start()
    await anyio.to_thread.run_sync(started.wait)
    here = make()
    with pytest.raises(ExceptionGroup, match="could not be stopped"):
        await sessions.aclose()

    assert here.ended
    assert 1 == len(sessions)
    over.set()
    await anyio.to_thread.run_sync(thread.join)
    assert 0 == len(sessions)

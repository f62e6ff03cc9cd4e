"""Who is told of every event of every session at once."""

from collections.abc import Callable
from typing import Any

import pytest

from discussion_helper.registry import Sessions
from discussion_helper.session import Session
from discussion_helper.taps import Taps
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend(virtual_backend: tuple[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    return virtual_backend


def session_of(*turns: str) -> Session:
    return Session(ScriptedListener(turns), EchoResponder(), SilentVoice())


def noting(told: dict[str, list[str]]) -> Callable[[Any], Callable[[Any], None]]:
    def begin(session: Session) -> Callable[[Any], None]:
        kinds = told.setdefault(session.id, [])
        return lambda event: kinds.append(event.kind)

    return begin


async def test_every_event_of_sessions_that_are_there_and_of_those_that_come_is_told() -> None:
    sessions: Sessions[Session] = Sessions()
    first, told = sessions.add(session_of("One.")), dict[str, list[str]]()
    taps = Taps(sessions, noting(told), noting(told))
    second = sessions.add(session_of())
    sessions.add(second)  # once more, as may be
    for session in (first, second):
        await session.start().wait()

    assert {first.id, second.id} == told.keys()
    assert 2 == told[first.id].count("timing")  # two taps
    assert ["ended", "ended"] == told[second.id][-2:]
    assert 0 == len(taps)


async def test_what_a_tap_raises_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    sessions: Sessions[Session] = Sessions()

    def begin(_: Session) -> Callable[[Any], None]:
        def tell(event: Any) -> None:
            raise ValueError(event.kind)

        return tell

    taps = Taps(sessions, begin)
    session = sessions.add(session_of("One."))
    async with session.events() as events:
        await session.start().wait()
        seen = [event.kind async for event in events]

    assert "ended" == seen[-1]
    assert "timing" in seen
    assert 0 == len(taps)
    assert 1 == len([record for record in caplog.records if record.levelname == "ERROR"])


async def test_of_a_session_that_failed_before_it_was_added_the_end_is_told() -> None:
    sessions: Sessions[Session] = Sessions()
    told = dict[str, list[str]]()
    taps = Taps(sessions, noting(told))
    session = session_of()
    await session.start().wait()
    sessions.add(session)

    assert {session.id: ["ended"]} == told
    assert 0 == len(taps)


async def test_nobody_is_told_after_the_close() -> None:
    sessions: Sessions[Session] = Sessions()
    told = dict[str, list[str]]()
    taps = Taps(sessions, noting(told))
    before = sessions.add(session_of("One."))
    taps.close()
    taps.close()
    after = sessions.add(session_of("Two."))
    for session in (before, after):
        await session.start().wait()

    assert {before.id: []} == told


async def test_another_session_in_the_place_of_an_ended_one_is_told_of_too() -> None:
    sessions: Sessions[Session] = Sessions()
    told = dict[str, list[str]]()
    taps = Taps(sessions, noting(told))
    for text in ("One.", "Two."):
        session = Session(ScriptedListener([text]), EchoResponder(), SilentVoice(), id="the-same-id")
        await sessions.add(session).start().wait()

    assert 2 == told["the-same-id"].count("ended")
    assert 0 == len(taps)

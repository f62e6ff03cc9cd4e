"""What is said and shown while a machine is late."""

import pytest

from discussion_helper.commands.late_machine import FIX
from discussion_helper.commands.talk_plain import event_line
from discussion_helper.commands.talk_state import Remark, TalkState
from discussion_helper.commands.talk_summary import summary
from discussion_helper.events import Event
from discussion_helper.governor import SHEDS, STAGES, Change
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice

LATE, WELL = Change("interim", False, "final", 0.912, 0.5), Change("interim", True, "loop", 0.0, 0.1)


def event(change: Change) -> Event:
    return Event("shed", 1.5, change.as_dict())


def test_it_is_a_line_where_there_is_no_terminal() -> None:
    assert event_line(event(LATE)) == (
        "   1.500  The machine is too slow at the moment: what you said was text only 0.91 s after its end, and 0.50 s "
        "would still be in time. Until it is fast enough again the talk goes on without words shown while you speak. "
        "You need not do anything; if it lasts, close other programs that keep the processor busy."
    )
    again = "The machine is fast enough again: the talk has words shown while you speak again."
    assert f"   1.500  {again}" == event_line(event(WELL))


def test_a_stage_that_may_not_be_late_at_all_has_no_time_that_would_do() -> None:
    line = event_line(event(Change("interim", False, "playback", 0.03, 0.0)))
    assert ": 0.03 s of sound came too late for the loudspeaker. Until" in line


@pytest.mark.parametrize("what", SHEDS)
@pytest.mark.parametrize("why", STAGES)
def test_everything_that_can_go_for_whatever_reason_is_said_in_words(what: str, why: str) -> None:
    line = event_line(event(Change(what, False, why, 1.0, 0.5)))
    assert what not in line.replace("recogniser", "") or what == "recogniser"
    assert f": {why} took" not in line
    assert " 1.00 s" in line


def test_the_view_shows_it_as_long_as_it_lasts() -> None:
    state = TalkState()
    for change in (LATE, Change("speculation", False, "final", 0.9, 0.5)):
        assert state.take(event(change))
    shown = "without words shown while you speak and answers begun ahead of time"
    assert {"machine": f"This machine is too slow at the moment, and the talk goes on {shown}. {FIX}"} == state.problems

    for change in (Change("speculation", True, "loop", 0.0, 0.1), WELL):
        state.take(event(change))
    assert {} == state.problems
    assert (
        Remark("The machine is fast enough again: the talk has words shown while you speak again.") == state.entries[-1]
    )


@pytest.mark.anyio
async def test_the_summary_counts_it() -> None:
    session = Session(ScriptedListener(["hello"]), EchoResponder(), SilentVoice())
    session.start()
    session.discussion.tell_shed(LATE)
    await session.wait()
    assert summary(session).endswith("The machine was too slow, and the talk went on without something: once.")
    session.discussion.sheds.times = 3
    assert summary(session).endswith(" 3 times.")

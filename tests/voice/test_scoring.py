"""Judging prosody in a thread of its own."""

import math
from threading import Event, get_ident
from typing import Any

import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.voice.notes import ProsodyWanted
from discussion_helper.voice.scored import Scored
from discussion_helper.voice.scoring import ScoringThread, judged


def wanted(until: int) -> ProsodyWanted:
    return ProsodyWanted(np.full(4, until, np.float32), 0, until + 10, until)


class Slow:
    """Scores what it is given by its first sample, once it is let."""

    def __init__(self) -> None:
        self.threads: set[int] = set()
        self.begun, self.go_on = Event(), Event()

    def score(self, samples: Samples) -> float:
        self.threads.add(get_ident())
        self.begun.set()
        assert self.go_on.wait(5.0)
        return float(samples[0]) / 10.0


class Answers:
    def __init__(self, count: int) -> None:
        self.all: list[Scored] = []
        self.there = Event()
        self._count = count

    def __call__(self, scored: Scored) -> None:
        self.all.append(scored)
        if len(self.all) == self._count:
            self.there.set()


def test_a_turn_is_judged_elsewhere_and_a_newer_one_takes_the_place_of_one_that_waits() -> None:
    judge, answers = Slow(), Answers(2)
    scorer = ScoringThread(judge)
    scorer.start(answers)
    scorer.ask(wanted(1))
    assert judge.begun.wait(5.0)
    scorer.ask(wanted(2))
    scorer.ask(wanted(3))
    judge.go_on.set()

    assert answers.there.wait(5.0)
    scorer.close()
    scorer.close()
    assert [(scored.until, round(scored.score, 3)) for scored in answers.all] == [(1, 0.1), (3, 0.3)]
    assert get_ident() not in judge.threads
    assert len(judge.threads) == 1


@pytest.mark.parametrize("score", [math.nan, math.inf, -0.1, 2.0, None, "high", SystemExit(3), np.float32(0.5)])
def test_what_is_no_probability_is_no_score(score: Any) -> None:
    class Odd:
        def score(self, samples: Samples) -> Any:
            if isinstance(score, BaseException):
                raise score
            return score

    scored = judged(Odd(), wanted(7))
    assert scored == (Scored(7, 0.5) if isinstance(score, np.float32) else None)


def test_a_judge_that_fails_is_not_asked_again_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    asked: list[int] = []
    failed = Event()

    class Broken:
        def score(self, samples: Samples) -> float:
            asked.append(len(samples))
            raise RuntimeError("no memory")

    class Noticing(ScoringThread):
        def _judge(self, *given: object) -> None:
            super()._judge(*given)  # type: ignore[arg-type]
            failed.set()

    scorer = Noticing(Broken())
    scorer.start(Answers(1))
    scorer.ask(wanted(1))
    assert failed.wait(5.0)
    scorer.ask(wanted(2))
    scorer.close()

    assert asked == [4]
    assert [record.message for record in caplog.records] == [
        "How turns sound is not judged any more: RuntimeError: no memory"
    ]

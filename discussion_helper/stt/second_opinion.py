"""The second opinion: a larger recogniser that is asked where the first one is unsure and there is time."""

import logging
from dataclasses import replace

import anyio

from discussion_helper.audio.frames import Samples
from discussion_helper.bounds import check_number
from discussion_helper.event_loop import start_in
from discussion_helper.failures import told
from discussion_helper.stt.base import Recognised, Recogniser
from discussion_helper.stt.windows import RATE

__all__ = ["LONGEST_S", "MOST_WITHIN_S", "UNSURE", "WITHIN_S", "SecondOpinion"]

UNSURE = 0.9
"""Doubt, probability of no speech minus average logarithm of a token's probability, up to which the first is believed:
so much is believed of a voice over the agent at every length (`voice/doubt.py`)."""
LONGEST_S = 13.0
"""Of audio: what is longer needs a longer window (`windows.py`), which takes up to five times as long."""
WITHIN_S = 0.5
"""So long the second is waited for: twice what base takes for the shortest window on a core that it has to itself."""
MOST_WITHIN_S = 10.0

_log = logging.getLogger(__name__)


class SecondOpinion:
    """A `Recogniser` of two: the first reads everything, the second what the first is unsure of.

    The first has words whose doubt is above UNSURE, in LONGEST_S of audio at most: then the second is asked, and if it
    has words within `within_s`, the words of the one that is surer hold, with the mean of both doubts. Else the first's
    do. So two that make something up stay unsure, and two that hear somebody are surer.

    With tiny.en and base, of "five, five" over the agent the first has a doubt of 1.0 to 1.7 and the second of 0.9; of
    babble the mean is above 1.2 wherever both have words. Of 46 turns (23 clips, as recorded and at -20 dBFS) it was
    asked about four, those of two clips, and changed no word for the better: it is there for what is short.

    It owns both. A second one that fails is not asked again, which is logged; nor is one while `use_second` says so.
    """

    def __init__(self, first: Recogniser, second: Recogniser, *, within_s: float = WITHIN_S) -> None:
        """Raises SettingError unless `within_s` is above 0 and at most MOST_WITHIN_S."""
        check_number("within_s", within_s, 1e-3, MOST_WITHIN_S, unit="seconds")
        self._first = first
        self._second = second
        self._within_s = within_s
        self._failed = False
        self._wanted = True

    async def use_second(self, on: bool) -> None:
        """Ask the second one, or leave it alone; a call that has begun ends as it would have."""
        self._wanted = on

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        """As the first, with up to `within_s` more. Raises what the first raises."""
        first = await self._first.recognise(samples, voiced_s=voiced_s)
        if self._failed or not self._wanted or not _is_unsure(first) or len(samples) > LONGEST_S * RATE:
            return first
        second = await self._asked(samples, voiced_s)
        return first if second is None or not second.text else _joined(first, second)

    async def warmup(self) -> None:
        """Load both, the first one first. Raises what the first raises."""
        await self._first.warmup()
        try:
            await self._second.warmup()
        except Exception as error:  # whatever it is: the first one reads on
            self._give_up(error)

    async def aclose(self) -> None:
        """Release both; idempotent."""
        async with anyio.create_task_group() as tasks:
            start_in(tasks, self._first.aclose)
            start_in(tasks, self._second.aclose)

    async def _asked(self, samples: Samples, voiced_s: float | None) -> Recognised | None:
        """None when it is late, or fails."""
        with anyio.move_on_after(self._within_s):
            try:
                return await self._second.recognise(samples, voiced_s=voiced_s)
            except Exception as error:  # whatever it is: the first one reads on
                self._give_up(error)
        return None

    def _give_up(self, error: Exception) -> None:
        self._failed = True
        _log.warning("no second opinion any more: %s", told(error))


def _doubt(result: Recognised) -> float:
    return result.no_speech_probability - result.average_logprob


def _is_unsure(result: Recognised) -> bool:
    return bool(result.text) and _doubt(result) > UNSURE


def _joined(first: Recognised, second: Recognised) -> Recognised:
    return replace(
        min(second, first, key=_doubt),
        no_speech_probability=(first.no_speech_probability + second.no_speech_probability) / 2,
        average_logprob=(first.average_logprob + second.average_logprob) / 2,
        took_s=first.took_s + second.took_s,
    )

"""What the audio thread makes of the microphone: echo removed, turns cut out, interruptions decided."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, Played
from discussion_helper.audio.resample import Resampler
from discussion_helper.turn.attention import Attending, Attention, AttentionEvent, Listens
from discussion_helper.turn.turns import TurnEnded, TurnEvent, TurnSegmenter
from discussion_helper.voice.barge_in import OnsetRule
from discussion_helper.voice.deciding import LEAST_VOICE_S
from discussion_helper.voice.echo_path import EchoPath
from discussion_helper.voice.finishing import Finishing
from discussion_helper.voice.interim import LONGEST_S, InterimPace
from discussion_helper.voice.loudness import Loudness
from discussion_helper.voice.notes import (
    Attends,
    Decided,
    Ducked,
    InterimWanted,
    Level,
    Muted,
    Note,
    Onset,
    Turn,
    WordsWanted,
)
from discussion_helper.voice.overheard import Overheard
from discussion_helper.voice.overlap import HALF_DUPLEX, Overlap
from discussion_helper.voice.scored import Scored
from discussion_helper.voice.verdict import Act
from discussion_helper.voice.words import Words

__all__ = ["BLOCK", "COMPARED", "FIRST_VOICE_S", "LEVEL_S", "MUTED_S", "RATE", "SPEAKING_S", "Hearing"]

RATE = 16_000
"""Hertz of everything behind the microphone: what the detectors and the recogniser want."""
BLOCK = RATE // 100
COMPARED = 10
"""Every so many blocks a sound over the agent that is no voice to the neural detector is compared with what it says."""
LEVEL_S = 0.1
"""How often the level is told."""
FIRST_VOICE_S = 0.05
"""So long after the first voice the agent is turned down, mostly."""
MUTED_S = 2.0
"""Exact zeros for so long come from no microphone that hears: it is muted, or there is no permission."""
SPEAKING_S = 0.15
"""After its last voice somebody still speaks: one that stops for a consonant is back by then."""


class Hearing:
    """For the audio thread alone. A function of the samples and their times: a recording gives the same decisions."""

    def __init__(
        self,
        rate: int,
        *,
        segmenter: TurnSegmenter,
        echo: EchoPath,
        onset: OnsetRule,
        overlap: Overlap | None = None,
        interim: InterimPace | None = None,
        attention: Attention | None = None,
        finishing: Finishing | None = None,
        overheard: Overheard | None = None,
        muted_s: float = MUTED_S,
    ) -> None:
        """`rate`: hertz of the microphone. `overlap`: what becomes of the agent while the user speaks; None = nothing.

        Without it a voice of some length is an interruption, whatever it says. `interim`: when a turn that goes on is
        read; None = only where its words decide something. `attention`, on the same segmenter: when what is heard may
        be a turn; None = always. `finishing`, too: what the end of a turn is judged by. `overheard`: what tells of
        voices over the agent that leave no turn; None = nothing does. `muted_s`: how long exact zeros are no fault.
        """
        self._rate = rate
        self._segmenter = segmenter
        self._echo = echo
        self._onset = onset
        self._overlap = overlap
        self._interim = interim
        self._attention = attention or Listens(segmenter)
        self._finishing = finishing or Finishing(segmenter)
        self._overheard = overheard
        self._muted_s = muted_s
        self._loudness = Loudness()
        self._owed: Turn | None = None
        self._told = -1
        self._zero_s = self._now_s = 0.0
        self._sounds = self._own_sounds = 0
        self._begin(0)

    def _begin(self, start: int) -> None:
        self._resampler = Resampler(self._rate, RATE)
        self._expected = start
        self._next = round(start * RATE / self._rate)
        self._pending: Samples = np.zeros(0, np.float32)
        self._zeros = 0
        self._power: list[float] = []

    def finish(self) -> list[Note]:
        """The microphone was closed: an open turn ends, and an agent that was turned down for it goes on."""
        left = [] if self._overlap is None else self._overlap.finish(self._now_s)
        return [*left, *self._heard(self._attention.finish(), self._zero_s)]

    def press(self, at_s: float) -> None:
        """The key of push to talk went down."""
        self._attention.press(at_s)

    def release(self, at_s: float) -> None:
        """It came up."""
        self._attention.release(at_s)

    def played(self, item: Played) -> None:
        """The loudspeaker got a block."""
        self._echo.feed(item)
        self._attention.played(item.frame, item.at_s)
        self._finishing.played(item)
        for follower in (self._overlap, self._overheard):
            if follower is not None:
                follower.played(item)

    def words(self, words: Words) -> list[Note]:
        """A recogniser has read what there is of the open turn; what follows from it."""
        self._finishing.words(words)
        if self._overlap is None:
            return []
        notes = self._overlap.words(words, self._now_s)
        opens = self._segmenter.open_voiced_s == 0.0
        unheard = [*self._hear_unheard(self._overlap, self._zero_s)] if opens else []
        return [*unheard, *self._dated(notes, self._zero_s)]

    def scored(self, scored: Scored) -> None:
        """A judge of prosody has heard the open turn; what follows from it comes with the next block."""
        self._finishing.scored(scored)

    def prompt(self) -> None:
        """Somebody nearer to the user hears a voice begin."""
        if self._overlap is not None:
            self._overlap.prompt()

    def cut(self, generation: int) -> list[Note]:
        """That reply was stopped: somebody who was heard over it has a turn like others."""
        notes = [] if self._overlap is None else self._overlap.cut(generation, self._now_s)
        return [*self._dated(notes, self._zero_s)]

    def reopened(self) -> None:
        """The newest turn goes on with the one before it, though the agent had begun to answer."""
        self._finishing.reopened()

    def captured(self, item: Captured) -> list[Note]:
        """The microphone delivered a block; what came of it."""
        frame = item.frame
        if frame.start != self._expected:
            self._begin(frame.start)
        self._expected = frame.end
        notes: list[Note] = [*self._watch_zeros(frame.samples), *self._measure(frame.samples)]
        zero_s = self._zero_s = item.at_s - frame.start_s
        self._pending = np.concatenate((self._pending, self._resampler.process(frame.samples)))
        while len(self._pending) >= BLOCK:
            block, self._pending = self._pending[:BLOCK], self._pending[BLOCK:]
            notes.extend(self._hear(block, zero_s))
        return notes

    @property
    def somebody_speaks(self) -> bool:
        """At this moment, who is not the agent, and who would turn it down if they go on."""
        if self._overlap is None or self._overlap.half_duplex:
            return False
        goes_on = self._next - self._segmenter.voiced_until < SPEAKING_S * RATE
        return self._overlap.eager or (self._onset.others_s > 0.0 and goes_on)

    def go_half_duplex(self) -> None:
        """From now on only a loud voice is heard over the agent."""
        if self._overlap is not None:
            self._overlap.go_half_duplex()

    def _hear(self, block: Samples, zero_s: float) -> Iterator[Note]:
        start, self._next = self._next, self._next + BLOCK
        clean = self._echo.clean(block, zero_s + start / RATE, start)
        self._now_s = zero_s + self._next / RATE
        self._segmenter.played_until = self._finishing.agent_until(zero_s)
        yield from self._heard(self._attention.feed(Frame(clean, RATE, start), self._now_s), zero_s)
        self._measure_voice(start)
        begins = self._begins(self._segmenter.open_voiced_s)
        if self._overlap is not None:
            yield from self._follow(self._overlap, block, clean, zero_s)
        if self._overheard is not None:
            yield from self._overhear(self._overheard, block, clean)
        if begins and (self._overlap is None or not self._overlap.is_audible(self._now_s)):
            yield Onset(self._now_s, self._segmenter.open_voiced_s)
        if self._interim is not None and self._interim.is_due(self._segmenter.open_voiced_s):
            yield from self._read_meanwhile()
        if not self._onset.is_own:
            yield from self._finishing.wanted()

    def _read_meanwhile(self) -> Iterator[InterimWanted]:
        """Not what may be the agent's own voice, nor while the agent is turned down: its words are asked for anyway."""
        undecided = self._overlap is not None and self._overlap.undecided
        if undecided or self._onset.is_own or self._next - self._segmenter.onset > LONGEST_S * RATE:
            return
        if (turn := self._segmenter.so_far()) is not None:
            yield InterimWanted(turn.samples, turn.start, turn.end, turn.voiced_s)

    def _follow(self, overlap: Overlap, near: Samples, clean: Samples, zero_s: float) -> Iterator[Note]:
        echo = self._echo
        overlap.block(near, clean, near_db=echo.near_db, expected_db=echo.expected_db, leaks=echo.leaks)
        notes = overlap.step(
            self._now_s,
            voiced_s=self._segmenter.open_voiced_s,
            others_s=self._onset.others_s,
            own=self._onset.is_own,
            quiet_s=(self._next - self._segmenter.voiced_until) / RATE,
        )
        yield from self._dated(notes, zero_s)
        self._compare(overlap)
        if overlap.eager:
            yield from self._hear_unheard(overlap, zero_s)
        if not overlap.wants_words:
            return
        turn = self._segmenter.so_far()
        if turn is None and 2 * self._own_sounds * COMPARED >= self._sounds > 0:
            return  # a late echo of the agent; nobody whispers
        turn = turn or self._segmenter.since(self._sample_of(overlap.ducked_at_s, zero_s))
        if turn is not None:
            yield WordsWanted(turn.samples, turn.start, turn.end, turn.voiced_s)

    def _overhear(self, overheard: Overheard, near: Samples, clean: Samples) -> list[Decided]:
        return overheard.block(
            near,
            clean,
            at_s=self._now_s,
            near_db=self._echo.near_db,
            expected_db=self._echo.expected_db,
            voiced_s=self._segmenter.open_voiced_s,
            is_own=self._echo.is_own_voice,
        )

    def _compare(self, overlap: Overlap) -> None:
        """How much of a sound that turned the agent down is the agent's."""
        if not overlap.undecided:
            self._sounds = self._own_sounds = 0
        elif overlap.eager:
            self._own_sounds += self._sounds % COMPARED == 0 and self._echo.is_own_voice()
            self._sounds += 1

    def _hear_unheard(self, overlap: Overlap, zero_s: float) -> Iterator[Note]:
        """Somebody whom the neural detector does not hear, and who interrupts, has a turn all the same."""
        if overlap.unheard_from_s is not None:
            events = self._segmenter.hear(self._sample_of(overlap.unheard_from_s, zero_s))
            yield from [self._turn(event, zero_s) for event in events]

    def _sample_of(self, at_s: float, zero_s: float) -> int:
        return max(0, round((at_s - zero_s - FIRST_VOICE_S) * RATE))

    def _begins(self, voiced_s: float) -> bool:
        """There is now enough of a voice that is not the agent's."""
        doubtful = voiced_s > self._onset.voiced_s and not self._onset.told
        return self._onset.step(voiced_s, own=doubtful and self._echo.is_own_voice())

    def _heard(self, events: list[AttentionEvent], zero_s: float) -> Iterator[Note]:
        for event in events:
            self._finishing.heard(event, zero_s)
            if not isinstance(event, Attending):
                yield self._turn(event, zero_s)
                continue
            yield Attends(self._now_s, event.state, event.why, event.score)
            if event.calls:
                yield Onset(self._now_s, 0.0)

    def _turn(self, event: TurnEvent, zero_s: float) -> Turn:
        turn = Turn(
            event,
            decided_at_s=zero_s + self._next / RATE,
            started_at_s=zero_s + self._segmenter.onset / RATE,
            voiced_until_s=zero_s + self._segmenter.voiced_until / RATE,
            own=self._onset.is_own,
            level_dbfs=self._loudness.level_dbfs,
            over_echo_db=self._loudness.over_echo_db,
        )
        over = isinstance(event, TurnEnded)
        return self._judged(turn, self._overlap) if over and self._overlap is not None else turn

    def _judged(self, turn: Turn, overlap: Overlap) -> Turn:
        """With what was decided about a turn that has ended."""
        overlap.turn_ended()
        if overlap.undecided:
            self._owed = self._owed or turn
            return replace(turn, undecided=True)
        if overlap.decided is not None:
            ignored = overlap.decided.act is Act.RESUME
            return replace(turn, decided=True, ignored=overlap.decided.why if ignored else "")
        alone = not overlap.half_duplex or not overlap.overlapped(turn.started_at_s, turn.voiced_until_s)
        return turn if alone else replace(turn, ignored=HALF_DUPLEX)

    def _dated(self, notes: list[Note], zero_s: float) -> Iterator[Note]:
        """With the times of the voice that was decided about; a turn that ended undecided is part of it."""
        for note in notes:
            owed, self._owed = self._owed, None if isinstance(note, Decided | Ducked) else self._owed
            yield self._with_voice(note, owed, zero_s) if isinstance(note, Decided) else note

    def _with_voice(self, note: Decided, owed: Turn | None, zero_s: float) -> Decided:
        open_s = self._segmenter.open_voiced_s
        if owed is None and not open_s:  # a sound
            return replace(note, started_at_s=note.started_at_s - FIRST_VOICE_S, voiced_s=0.0)
        ended_s = owed.event.voiced_s if owed is not None and isinstance(owed.event, TurnEnded) else 0.0
        again = note.what == Act.RESUME.value and self._told == self._segmenter.onset
        if ended_s + open_s >= LEAST_VOICE_S:
            self._told = self._segmenter.onset
        return replace(
            note,
            started_at_s=owed.started_at_s if owed is not None else zero_s + self._segmenter.onset / RATE,
            voiced_until_s=zero_s + self._segmenter.voiced_until / RATE,
            voiced_s=ended_s + open_s,
            again=again,
        )

    def _measure_voice(self, start: int) -> None:
        """Only while somebody speaks: a door behind the last word is not the voice."""
        voice = self._segmenter
        if not voice.open_voiced_s or self._next - voice.voiced_until < SPEAKING_S * RATE:
            onset = voice.onset if voice.open_voiced_s else None
            self._loudness.step(start, near_db=self._echo.near_db, expected_db=self._echo.expected_db, onset=onset)

    def _measure(self, samples: Samples) -> Iterator[Level]:
        self._power.append(float(np.mean(np.square(samples))) if len(samples) else 0.0)
        if len(self._power) * len(samples) >= LEVEL_S * self._rate:
            mean = sum(self._power) / len(self._power)
            self._power.clear()
            yield Level(max(-120.0, 10.0 * float(np.log10(mean + 1e-12))))

    def _watch_zeros(self, samples: Samples) -> Iterator[Muted]:
        before = self._zeros
        self._zeros = 0 if samples.any() else before + len(samples)
        limit = self._muted_s * self._rate
        if before < limit <= self._zeros:
            yield Muted(True)
        elif before >= limit > self._zeros:
            yield Muted(False)

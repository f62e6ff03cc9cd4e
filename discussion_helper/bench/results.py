"""Everything that one run of the bench measured."""

from dataclasses import dataclass, field

from discussion_helper.bench.barge_in_run import BargeIn
from discussion_helper.bench.echo_run import EchoRow
from discussion_helper.bench.endpointing import EndpointingRow
from discussion_helper.bench.health_rows import HealthRow
from discussion_helper.bench.idle_run import IdleRow, StartRow
from discussion_helper.bench.machine import Machine, this_machine
from discussion_helper.bench.no_speech_run import NoSpeech
from discussion_helper.bench.noise_run import NoiseRow
from discussion_helper.bench.one_word import WordRow
from discussion_helper.bench.onset_run import OnsetRow
from discussion_helper.bench.recognition import RecognitionRow
from discussion_helper.bench.speed_rows import SpeedRow
from discussion_helper.bench.turns_run import Turns

__all__ = ["Results"]


@dataclass(slots=True)
class Results:
    """What was not asked for, or could not be measured, is empty; `problems` says why, one line each."""

    machine: Machine = field(default_factory=this_machine)
    starts: list[StartRow] = field(default_factory=list)
    idle: list[IdleRow] = field(default_factory=list)
    turns: Turns = field(default_factory=Turns)
    barge_ins: list[BargeIn] = field(default_factory=list)
    noises: list[NoiseRow] = field(default_factory=list)
    echo: list[EchoRow] = field(default_factory=list)
    recognition: list[RecognitionRow] = field(default_factory=list)
    onsets: list[OnsetRow] = field(default_factory=list)
    one_words: list[WordRow] = field(default_factory=list)
    no_speech: NoSpeech = field(default_factory=NoSpeech)
    endpointing: list[EndpointingRow] = field(default_factory=list)
    health: list[HealthRow] = field(default_factory=list)
    speeds: list[SpeedRow] = field(default_factory=list)
    peaks_mb: dict[str, float] = field(default_factory=dict)
    """The most memory that the talk of each run held, in MB of 10^6 bytes."""
    problems: list[str] = field(default_factory=list)

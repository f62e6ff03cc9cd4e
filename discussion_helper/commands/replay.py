"""`discussion-helper replay`: a recorded talk once more, decision by decision."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discussion_helper.commands.json_text import json_text

if TYPE_CHECKING:
    from discussion_helper.recorder.heard import Heard
    from discussion_helper.recorder.replay import Outcome
    from discussion_helper.recorder.take import Take
    from discussion_helper.recorder.trials import Heeded
    from discussion_helper.recorder.word_book import Reads
    from discussion_helper.voice.hearing import EchoPath as AnyEchoPath
    from discussion_helper.voice.hearing import Hearing

__all__ = ["add_parser", "run"]

_ABOUT = """
Runs the sound and the words of a recorded talk through the same detectors, faster than it took. With the same settings
every decision must be the recorded one, to the last byte; with others, what changes is listed. What the agent played
stays as it was, so that what follows the first change shows what would have been decided about the same sound.
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    about = "run a recorded talk again, and see what other settings change"
    parser = subparsers.add_parser("replay", help=about, description=_ABOUT)
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder of talk --record")
    text = "try another setting; more than once for more. An unknown name lists those that there are"
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], dest="wishes", help=text)
    text = "have the recogniser read what it was not asked for in the talk"
    parser.add_argument("--recognise", action="store_true", help=text)
    parser.add_argument("--list", action="store_true", help="list every decision, not just those that change")
    text = "write the sounds, aligned to the sample, and the events into a folder instead"
    parser.add_argument("--export", metavar="OUT", type=Path, help=text)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Replay every talk in the folder; 1 where the same settings gave other decisions. Raises DiscussionError."""
    from discussion_helper.recorder.take import takes_in
    from discussion_helper.recorder.trials import heeded_by, tried

    takes = takes_in(arguments.folder)
    if arguments.export is not None:
        return _export(takes, arguments.export)
    heeded = [tried(heeded_by(take.header), arguments.wishes) for take in takes]
    reports = []
    for take, heeding in zip(takes, heeded, strict=True):
        report = _Report(take, _outcome(take, heeding, arguments), tries=heeding != heeded_by(take.header))
        reports.append(report)
        if not arguments.json:
            for line in report.lines(everything=arguments.list):
                print(line, flush=True)
    if arguments.json:
        print(json_text({"takes": [report.as_dict() for report in reports]}), flush=True)
    return int(any(report.failed for report in reports))


def _outcome(take: "Take", heeded: "Heeded", arguments: argparse.Namespace) -> "Outcome":
    from discussion_helper.audio.echo import EchoPath
    from discussion_helper.listening import hearing_with
    from discussion_helper.recorder.replay import Replay

    def hearing(rate: int, echo: "AnyEchoPath") -> "Hearing":
        return hearing_with(rate, echo, policy=heeded.policy, language=heeded.language, tuning=heeded.tuning)

    def replayed(read: "Reads | None" = None) -> "Outcome":
        return Replay(take, hearing, EchoPath(), read=read).run()

    if not arguments.recognise:
        return replayed()
    from discussion_helper.commands.replay_words import with_recogniser

    return with_recogniser(take, heeded.language, replayed)


def _export(takes: "list[Take]", out: Path) -> int:
    from discussion_helper.recorder.export import exported

    for take in takes:
        folder = out if len(takes) == 1 else out / take.name
        for path in exported(take, folder):
            print(path)
        for remark in take.remarks:
            print(f"discussion-helper: {remark}", file=sys.stderr)
    return 0


class _Report:
    """What a replay came to, for a person or a program."""

    def __init__(self, take: "Take", outcome: "Outcome", *, tries: bool) -> None:
        from discussion_helper.recorder.differences import differences

        self._take, self._outcome, self._tries = take, outcome, tries
        self._exact = outcome.exact and not tries
        self._rows = [] if self._exact and outcome.same else differences(outcome, exact=self._exact)
        self._decisions = sum(heard.decides for heard in outcome.recorded)

    @property
    def failed(self) -> bool:
        """The same settings gave other decisions, or the replay broke."""
        return bool(self._outcome.failures) or (bool(self._rows) and self._exact)

    def lines(self, *, everything: bool) -> Iterator[str]:
        """For a person."""
        began = f"{self._take.began:%Y-%m-%d %H:%M:%S}"
        yield f"Talk of {began}, {self._outcome.seconds:.1f} s, {self._decisions} decisions."
        yield from self._remarks()
        if everything:
            for heard in self._outcome.replayed:
                if heard.decides:
                    yield f"  {self._time(heard.at_s)}  {heard.text}"
        if self._rows:
            yield f"  {'time':<12}  {'recorded':<46}  replayed"
            for row in self._rows:
                one, other = (self._cell(heard, row.at_s) for heard in (row.recorded, row.replayed))
                yield f"  {self._time(row.at_s):<12}  {one:<46}  {other}"
        yield self._result()

    def as_dict(self) -> dict[str, Any]:
        """For a program."""
        return {
            "take": self._take.name,
            "began": self._take.began.isoformat(),
            "seconds": round(self._outcome.seconds, 3),
            "decisions": self._decisions,
            "exact": self._exact,
            "same": not self._rows,
            "remarks": list(self._remarks()),
            "differences": [
                {
                    name: None if heard is None else {"at_s": round(heard.at_s, 3), "what": heard.text}
                    for name, heard in (("recorded", row.recorded), ("replayed", row.replayed))
                }
                for row in self._rows
            ],
        }

    def _remarks(self) -> Iterator[str]:
        from discussion_helper.recorder.replay import WARM_S

        outcome = self._outcome
        yield from self._take.remarks
        if not self._take.begins:
            yield f"Its beginning is no longer kept: the first {WARM_S:g} s only warm up and are not compared."
        elif not outcome.exact:
            yield f"Something is missing in the middle: the {WARM_S:g} s after it only warm up and are not compared."
        if outcome.echo_differs_s is not None:
            at = self._time(outcome.echo_differs_s)
            machine = self._take.header.machine
            yield f"From {at} on the echo canceller gives other samples here than it did on {machine}."
        if outcome.unknown_words:
            yield f"Words not known for {outcome.unknown_words} stretches; --recognise reads them."
        yield from outcome.failures

    def _result(self) -> str:
        if not self._rows:
            how = "as recorded, byte for byte" if self._exact else "as recorded"
            return f"{self._decisions} decisions, all {how}."
        count = f"{len(self._rows)} difference{'s' if len(self._rows) > 1 else ''}"
        if self._tries:
            return f"{count} with these settings."
        return f"{count} with the settings of the talk{'' if self._exact else ', maybe for what is missing'}."

    def _time(self, at_s: float) -> str:
        from datetime import timedelta

        return f"{self._take.began + timedelta(seconds=at_s):%H:%M:%S.%f}"[:-3]

    def _cell(self, heard: "Heard | None", row_s: float) -> str:
        if heard is None:
            return "-"
        later = f" (+{heard.at_s - row_s:.2f} s)" if heard.at_s - row_s >= 0.005 else ""
        return heard.text + later

"""`discussion-helper replay`: a recorded talk once more, decision by decision."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discussion_helper.commands.json_text import json_text
from discussion_helper.commands.replay_names import names_and_meanings
from discussion_helper.errors import AudioFileError

if TYPE_CHECKING:
    from discussion_helper.recorder.replay import Outcome
    from discussion_helper.recorder.take import Take
    from discussion_helper.recorder.trials import Heeded
    from discussion_helper.recorder.word_book import Reads
    from discussion_helper.voice.echo_path import EchoPath as AnyEchoPath
    from discussion_helper.voice.hearing import Hearing

__all__ = ["add_parser", "run"]

_ABOUT = """
Runs the sound and the words of a recorded talk through the same detectors, faster than it took. With the same settings
every decision must be the recorded one, to the last byte; with others, what changes is listed. What the agent played
stays as it was, so that what follows the first change shows what would have been decided about the same sound.
"""


class _Wish(argparse.Action):
    """Notes a setting to try; without one, or with `help`, lists those that there are, and what they mean."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,  # noqa: ARG002 - as actions are called
    ) -> None:
        if values in (None, "help"):
            for line in names_and_meanings():
                print(line)
            parser.exit()
        namespace.wishes = [*namespace.wishes, values]


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    about = "run a recorded talk again, and see what other settings change"
    parser = subparsers.add_parser("replay", help=about, description=_ABOUT)
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder of talk --record")
    text = "try another setting; more than once for more. Without one, or with `help`, it lists those that there are"
    parser.add_argument("--set", metavar="NAME=VALUE", action=_Wish, nargs="?", default=[], dest="wishes", help=text)
    text = "have the recogniser read what it was not asked for in the talk"
    parser.add_argument("--recognise", action="store_true", help=text)
    text = "list every decision, not just those that change, and what cut the replies"
    parser.add_argument("--list", action="store_true", help=text)
    text = "write the sounds, aligned to the sample, and the events into a folder instead"
    parser.add_argument("--export", metavar="OUT", type=Path, help=text)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Replay every talk in the folder; 1 where the same settings gave other decisions. Raises DiscussionError."""
    from discussion_helper.commands.replay_report import ReplayReport
    from discussion_helper.recorder.take import takes_in
    from discussion_helper.recorder.trials import heeded_by, tried

    takes = takes_in(arguments.folder)
    if arguments.export is not None:
        return _export(takes, arguments.export)
    heeded = [tried(heeded_by(take.header), arguments.wishes) for take in takes]
    reports = []
    for take, heeding in zip(takes, heeded, strict=True):
        tries = heeding != heeded_by(take.header)
        outcome = _checked(_outcome(take, heeding, arguments), tries=tries)
        report = ReplayReport(take, outcome, tries=tries, everything=arguments.list)
        reports.append(report)
        if not arguments.json:
            for line in report.lines():
                print(line, flush=True)
    if arguments.json:
        print(json_text({"takes": [report.as_dict() for report in reports]}), flush=True)
    return int(any(report.failed for report in reports))


def _checked(outcome: "Outcome", *, tries: bool) -> "Outcome":
    """Raises AudioFileError where the hearing broke: what came before tells nothing."""
    if outcome.failures:
        fix = "Try other settings." if tries else "Record again with talk --record."
        raise AudioFileError(f"The replay failed: {outcome.failures[0].rstrip('.')}.", fix=fix)
    return outcome


def _outcome(take: "Take", heeded: "Heeded", arguments: argparse.Namespace) -> "Outcome":
    from discussion_helper.audio.echo import EchoPath
    from discussion_helper.listening import hearing_with
    from discussion_helper.recorder.replay import Replay

    def replayed(read: "Reads | None" = None) -> "Outcome":
        policy, language, tuning, pauses = heeded.policy, heeded.language, heeded.tuning, heeded.pauses()

        def hearing(rate: int, echo: "AnyEchoPath") -> "Hearing":
            return hearing_with(rate, echo, policy=policy, language=language, tuning=tuning, pauses=pauses)

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

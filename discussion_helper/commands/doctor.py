"""`discussion-helper doctor`: can each part run here, with the fix."""

import argparse
import json
from dataclasses import asdict, replace

from discussion_helper.settings import Settings

__all__ = ["add_parser", "run"]


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    usual = Settings()
    parser = subparsers.add_parser("doctor", help="say of each part whether it can run here, and the fix if not")
    parser.add_argument("--stt", default=usual.stt, metavar="NAME", help="recogniser's model (default: %(default)s)")
    parser.add_argument("--voice", default=usual.voice, metavar="NAME", help="voice's model (default: %(default)s)")
    parser.add_argument("--llm", default=usual.llm, metavar="SPEC", help="what answers (default: %(default)s)")
    parser.add_argument("--device", metavar="NAME", help="part of the name of microphone and loudspeaker")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Examine and tell; 1 if no talk can be held, 0 also where recordings have to speak and be written."""
    from discussion_helper.command_line import with_option
    from discussion_helper.doctor import examine, verdict

    settings = Settings(
        stt=arguments.stt,
        voice=arguments.voice,
        llm=arguments.llm,
        microphone=arguments.device,
        loudspeaker=arguments.device,
    )
    found = examine(settings)
    can_talk, line = verdict(found, settings)
    findings = [one if one.ok else replace(one, found=with_option(one.found, arguments)) for one in found]
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False))
    else:
        for finding in findings:
            print(f"{'ok  ' if finding.ok else 'NO  '} {finding.part:<15} {finding.found}")
            if finding.fix:
                print(f"     {'':<15} {finding.fix}")
        print(line)
    return int(not can_talk)

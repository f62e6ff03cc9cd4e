"""`discussion-helper rehearse`: the whole loop with the public fakes, no device and no model."""

import argparse
import sys

import anyio

from discussion_helper.commands.json_text import json_text
from discussion_helper.session import Session
from discussion_helper.testing.fakes import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Policy

__all__ = ["TURNS", "add_parser", "run"]

_SENTENCE_S = 0.3
TURNS = ("Hello.", "Tell me something.", "Thank you, goodbye.")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = subparsers.add_parser("rehearse", help="run the loop with fakes: no device, no model, nothing to install")
    parser.add_argument("turns", nargs="*", default=TURNS, metavar="TURN", help="what the user says, one turn each")
    parser.add_argument("--sentences", metavar="N", type=_count, default=2, help="sentences in each reply (default: 2)")
    parser.add_argument("--interrupt-after", type=_seconds, metavar="S", help="talk over each reply after S seconds")
    parser.add_argument("--json", action="store_true", help="one JSON object for each event instead of text")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Hold the rehearsal."""
    anyio.run(_rehearse, arguments)
    return 0


async def _rehearse(arguments: argparse.Namespace) -> None:
    session = Session(
        ScriptedListener(arguments.turns, interrupt_after_s=arguments.interrupt_after),
        EchoResponder(arguments.sentences),
        SilentVoice(_SENTENCE_S, first_audio_s=0.05),
        Policy(barge_in_grace_s=0.0),
    )
    async with session.events() as events:
        session.start()
        async for event in events:
            line = json_text(event.as_dict()) if arguments.json else _line(event.as_dict())
            print(line, flush=True)
    await session.wait()
    rate = session.state["interruption_rate"]
    print(f"interruption rate {rate:.2f}", file=sys.stderr)
    if arguments.interrupt_after is not None and not rate:
        print(_nothing_cut(arguments), file=sys.stderr)


def _nothing_cut(arguments: argparse.Namespace) -> str:
    lasts_s, after_s = arguments.sentences * _SENTENCE_S, arguments.interrupt_after
    what = f"No reply was interrupted: each lasts {lasts_s:.1f} s, and --interrupt-after is {after_s:g}."
    return f"{what} Use a smaller one, or more --sentences."


def _line(event: dict[str, object]) -> str:
    at_s, kind = event.pop("at_s"), event.pop("kind")
    return f"{at_s:7.3f}  {kind:<10} " + "  ".join(f"{key}={value}" for key, value in event.items() if value != "")


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 4 and int(text) <= 100):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 100")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 60.0:
        raise argparse.ArgumentTypeError(f"{text!r} are no seconds from 0 to 60")
    return value

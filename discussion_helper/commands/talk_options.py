"""The options of a talk: its parts, its devices and its manners; some of them are those of `serve` too."""

import argparse
from pathlib import Path

from discussion_helper.commands.option import Given
from discussion_helper.settings import Settings

__all__ = ["add_options", "add_parts", "add_turn_policy"]

_DEFAULTS = Settings()


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `settings_of` reads."""
    add_parts(parser)
    _add_devices(parser)
    _add_policy(parser)


def add_parts(parser: argparse.ArgumentParser) -> None:
    """Add those of the parts, which `serve` has as well."""
    parts = parser.add_argument_group("what listens, answers and speaks")
    text = "language, or auto (default: %(default)s)"
    parts.add_argument("--language", action=Given, metavar="CODE", default=_DEFAULTS.language, help=text)
    text = "voice model, or a Piper FILE.onnx (default: %(default)s)"
    parts.add_argument("--voice", action=Given, metavar="NAME", default=_DEFAULTS.voice, help=text)
    parts.add_argument(
        "--stt", action=Given, metavar="NAME", default=_DEFAULTS.stt, help="recogniser model (default: %(default)s)"
    )
    text = "names and words that are likely to be said, as they are to be spelt"
    parts.add_argument("--hints", action=Given, metavar="WORD", nargs="+", default=_DEFAULTS.hints, help=text)
    parts.add_argument(
        "--llm",
        action=Given,
        metavar="SPEC",
        default=_DEFAULTS.llm,
        help="embedded, FILE.gguf, or MODEL@URL (default: %(default)s)",
    )
    parts.add_argument(
        "--system", action=Given, metavar="TEXT", default=_DEFAULTS.system, help="what the model is told beforehand"
    )
    text = "tools that the model may call: a function or a list of them in a module, which is imported"
    parts.add_argument("--tools", metavar="MODULE:NAME", default=_DEFAULTS.tools, help=text)
    text = "what is said when an answer is slow to begin; auto = something in its language (default: nothing)"
    parts.add_argument("--filler", action=Given, metavar="TEXT", default=_DEFAULTS.filler, help=text)


def _add_devices(parser: argparse.ArgumentParser) -> None:
    devices = parser.add_argument_group("devices", "A part of a name is enough: see `discussion-helper devices`.")
    devices.add_argument("--device", metavar="NAME", help="microphone and loudspeaker")
    devices.add_argument("--microphone", action=Given, metavar="NAME", help="microphone alone")
    devices.add_argument("--loudspeaker", action=Given, metavar="NAME", help="loudspeaker alone")
    text = "recordings that speak instead of a microphone, one turn a file"
    devices.add_argument("--input", metavar="FILE", type=Path, nargs="+", action="extend", default=[], help=text)
    text = "WAV file instead of the loudspeaker, for talks with recordings"
    devices.add_argument("--output", metavar="FILE", type=Path, help=text)


def _add_policy(parser: argparse.ArgumentParser) -> None:
    policy = parser.add_argument_group("manners")
    add_turn_policy(policy)
    text = "wait twice as long for a speaker who pauses"
    policy.add_argument("--patient", action="store_true", help=text)
    text = "answers cannot be interrupted by talking, or can, whatever the settings file says"
    policy.add_argument("--no-barge-in", "--barge-in", action=Given, nargs=0, default=False, help=text)
    policy.add_argument(
        "--max-sentences", action=Given, metavar="N", type=int, default=0, help="longest answer; 0 = no limit"
    )
    text = "end after so many seconds of silence; 0 = never"
    policy.add_argument("--silence-timeout", action=Given, metavar="S", type=float, default=0.0, help=text)


def add_turn_policy(group: "argparse._ArgumentGroup") -> None:
    """Add those of when what is heard may be a turn, which `serve` has as well."""
    group.set_defaults(turn_policy=_DEFAULTS.policy.turn_policy, wake_word=_DEFAULTS.policy.wake_word)
    policies = group.add_mutually_exclusive_group()
    text = "hear only what is said while a key is held, or between two strokes of it"
    policies.add_argument("--push-to-talk", action=_TakesTurns, const="push_to_talk", nargs=0, help=text)
    text = (
        "hear only what follows this word, and answers to what was said: okay_nabu, for one, or a FILE.onnx or .tflite"
    )
    policies.add_argument("--wake-word", action=_TakesTurns, const="wake_word", metavar="NAME", help=text)
    text = "hear everything (default, unless the settings file says otherwise)"
    policies.add_argument("--open-microphone", action=_TakesTurns, const="open", nargs=0, help=text)


class _TakesTurns(argparse.Action):
    """When what is heard may be a turn; as with `Given`, the settings file is silent about it then."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - as actions are called
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        namespace.turn_policy = self.const
        if isinstance(values, str):
            namespace.wake_word = values
        namespace.given = {*getattr(namespace, "given", ()), "turn_policy", "wake_word"}

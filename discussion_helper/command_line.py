"""The command line: the commands, their options, and how what is wrong is told."""

import argparse
import importlib
from collections.abc import Sequence
from typing import Any, NoReturn

from discussion_helper.errors import DiscussionError, SettingError

__all__ = ["COMMANDS", "CommandParser", "parse", "told", "with_option"]

COMMANDS = {
    "talk": "talk with this machine",
    "chat": "write with this machine, in the terminal or through a pipe",
    "threads": "list, show and delete the conversations that are kept",
    "rehearse": "run the loop with fakes: no device, no model, nothing to install",
    "serve": "hold sessions over HTTP, for this machine's user",
    "mcp": "let another program's model hold sessions of a server that runs, over the Model Context Protocol",
    "replay": "run a recorded talk again, and see what other settings change",
    "devices": "list the microphones and loudspeakers",
    "models": "see, fetch and check the models on this machine",
    "doctor": "measure parts, room and models, and say what to put right",
    "bench": "measure the delays of a talk",
}
"""Each is the module of its name in `commands`, which is imported when it was chosen; the text is its help."""

_OPTIONS = {
    "language": "--language",
    "stt": "--stt",
    "voice": "--voice",
    "llm": "--llm",
    "system": "--system",
    "host": "--host",
    "port": "--port",
    "url": "--url",
    "token": "DISCUSSION_HELPER_TOKEN",
    "password": "DISCUSSION_HELPER_PASSWORD",
    "tls_cert": "--tls-cert",
    "tls_key": "--tls-key",
    "allow_host": "--allow-host",
    "trust_proxy": "--trust-proxy",
    "remote": "--talks",
    "abandoned_s": "--abandon-after",
    "microphone": "--microphone",
    "loudspeaker": "--loudspeaker",
    "inputs": "--input",
    "output": "--output",
    "max_reply_sentences": "--max-sentences",
    "silence_timeout_s": "--silence-timeout",
    "record": "--record",
    "record_limit": "--record-limit",
}
"""The option that a field of the settings comes from."""
_KEYS = {"max_reply_sentences": "max_sentences", "silence_timeout_s": "silence_timeout"}
"""Its key in the settings file, where that is another."""


class CommandParser(argparse.ArgumentParser):
    """Takes options by their whole names, and tells of an unknown one with the usage of its own command."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        known, unknown = super().parse_known_args(args, namespace)
        return (known, unknown) if not unknown else self.error(f"unrecognized arguments: {' '.join(unknown)}")


class _Version(argparse.Action):
    """Looks the version up when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"discussion-helper {version('discussion_helper')}")
        parser.exit()


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments, with `run`, which takes them and returns the exit code. Exits for --help, and a wrong usage."""
    parser = CommandParser(
        prog="discussion-helper", description="Talk to a machine: it listens, answers, speaks, and can be interrupted."
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    chosen = next((word for word in argv if not word.startswith("-")), "")
    for name, text in COMMANDS.items():
        if name == chosen:
            importlib.import_module(f"discussion_helper.commands.{name}").add_parser(commands)
        else:
            commands.add_parser(name, help=text)
    return parser.parse_args(argv)


def told(error: DiscussionError, arguments: argparse.Namespace) -> str:
    """The error in one line, with the option that was typed where it names a field of the settings.

    An endpoint's text may be in it, and no control character of that is for this terminal.
    """
    text = with_option(str(error), arguments) if isinstance(error, SettingError) else str(error)
    return "".join(c if c.isprintable() else " " for c in text)


def with_option(text: str, arguments: argparse.Namespace) -> str:
    """What is wrong with a setting, by the option or the file it comes from.

    As far as the text begins with the field's name.
    """
    field = text.partition(" ")[0].rstrip(":")
    file, keys = getattr(arguments, "from_file", ("", ()))
    if (key := _KEYS.get(field, field)) in keys:
        return f"{file}: {key}{text[len(field) :]}"
    if field in ("microphone", "loudspeaker") and arguments.device and not getattr(arguments, field, None):
        return f"--device{text[len(field) :]}"
    return _OPTIONS.get(field, field) + text[len(field) :]

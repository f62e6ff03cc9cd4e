"""How much `discussion-helper serve` gives its clients: its options, as limits of the server."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discussion_helper.web import Limits

__all__ = ["add_limits", "limits_of"]


def add_limits(parser: argparse.ArgumentParser) -> None:
    """The options; None where nothing is given."""
    limits = parser.add_argument_group("how much there is for them")
    text = "talks at browsers' microphones at the same time, each with models of its own (default: 4)"
    limits.add_argument("--talks", type=int, metavar="N", help=text)
    text = "when such a talk ends that nobody is at any more; inf = never (default: 300)"
    limits.add_argument("--abandon-after", type=float, metavar="S", help=text)


def limits_of(arguments: argparse.Namespace) -> "Limits":
    """Raises SettingError naming the field."""
    from discussion_helper.web import Limits

    asked = {"remote": arguments.talks, "abandoned_s": arguments.abandon_after}
    return Limits(**{field: value for field, value in asked.items() if value is not None})

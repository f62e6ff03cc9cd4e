"""A value as it is shown in an error: on one line, and no longer than a person reads."""

__all__ = ["LONGEST", "shown"]

LONGEST = 80
"""Characters."""


def shown(value: object) -> str:
    """Its `repr`, cut where it is too long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return "a number of too many digits"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."

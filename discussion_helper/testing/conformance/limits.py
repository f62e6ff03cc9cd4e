"""How long a part may take under the rules."""

from dataclasses import dataclass, fields

from discussion_helper.bounds import check_number

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds; larger ones are for a machine that is busy. Raises SettingError."""

    call_s: float = 30.0
    """One ordinary call, with loading; two parts at once; giving up on what is dead."""
    let_go_s: float = 0.5
    """From a cancellation, or from `stop`, to the end of the call. A session leaves a call behind after 0.05 s."""
    close_s: float = 1.0
    """Closing. A session waits 0.4 s for it."""
    blocked_s: float = 0.3
    """The longest that a call holds up the event loop. At 0.03 s a listener can hear it."""
    patience_s: float = 3.0
    """What is very long, or very slow, is cancelled after so long."""

    def __post_init__(self) -> None:
        for each in fields(self):
            check_number(each.name, getattr(self, each.name), 0.001, 600.0, unit="seconds")

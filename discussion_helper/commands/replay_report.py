"""What a replay came to, for a person or a program."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from discussion_helper.commands.wrap import printable
from discussion_helper.recorder.differences import differences
from discussion_helper.recorder.heard import Heard
from discussion_helper.recorder.replay import WARM_S, Outcome
from discussion_helper.recorder.take import Take

__all__ = ["ReplayReport"]


class ReplayReport:
    """Of one talk. `tries`: with other settings than its own; `everything`: every decision, not just the changed."""

    def __init__(self, take: Take, outcome: Outcome, *, tries: bool, everything: bool) -> None:
        self._take, self._outcome, self._tries, self._everything = take, outcome, tries, everything
        self._exact = outcome.exact and not tries
        self._rows = [] if self._exact and outcome.same else differences(outcome, exact=self._exact)
        self._decisions = sum(heard.decides for heard in outcome.recorded)

    @property
    def failed(self) -> bool:
        """The same settings gave other decisions."""
        return bool(self._rows) and self._exact

    def lines(self) -> Iterator[str]:
        """For a person."""
        began = f"{self._take.began:%Y-%m-%d %H:%M:%S}"
        yield f"Talk of {began}, {self._outcome.seconds:.1f} s, {_counted(self._decisions, 'decision')}."
        yield from map(printable, self._remarks())
        if self._everything:
            for at_s, _, text in self._all():
                yield f"  {self._time(at_s)}  {printable(text)}"
        if self._rows:
            yield f"  {'time':<12}  {'recorded':<46}  replayed"
            for row in self._rows:
                one, other = (self._cell(heard, row.at_s) for heard in (row.recorded, row.replayed))
                yield f"  {self._time(row.at_s):<12}  {one:<46}  {other}"
        yield self._result()

    def as_dict(self) -> dict[str, Any]:
        """For a program."""
        found: dict[str, Any] = {
            "take": self._take.name,
            "began": self._take.began.isoformat(),
            "seconds": round(self._outcome.seconds, 3),
            "decisions": self._decisions,
            "exact": self._exact,
            "same": not self._rows,
            "remarks": list(self._remarks()),
            "differences": [
                {
                    name: None if heard is None else {"at_s": round(heard.at_s, 3), "what": heard.told}
                    for name, heard in (("recorded", row.recorded), ("replayed", row.replayed))
                }
                for row in self._rows
            ],
        }
        if self._everything:
            found["list"] = [{"at_s": round(at_s, 3), "kind": kind, "what": what} for at_s, kind, what in self._all()]
        return found

    def _all(self) -> list[tuple[float, str, str]]:
        """Every decision of the replay and what the talk itself did: when, of what kind, and what."""
        decided = [(heard.at_s, heard.kind, heard.told) for heard in self._outcome.replayed if heard.decides]
        did = [(one.at_s, one.kind, f"in the talk: {one.text}") for one in self._outcome.happened]
        return sorted([*decided, *did], key=lambda row: row[0])

    def _remarks(self) -> Iterator[str]:
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
            stretches = _counted(outcome.unknown_words, "stretch", "stretches")
            yield f"Words not known for {stretches}; --recognise reads them."

    def _result(self) -> str:
        if not self._rows:
            how = "as recorded, byte for byte" if self._exact else "as recorded"
            return f"{_counted(self._decisions, 'decision')}, all {how}."
        count = _counted(len(self._rows), "difference")
        if self._tries:
            return f"{count} with these settings."
        return f"{count} with the settings of the talk{'' if self._exact else ', maybe for what is missing'}."

    def _time(self, at_s: float) -> str:
        return f"{self._take.began + timedelta(seconds=at_s):%H:%M:%S.%f}"[:-3]

    def _cell(self, heard: Heard | None, row_s: float) -> str:
        if heard is None:
            return "-"
        later = f" (+{heard.at_s - row_s:.2f} s)" if heard.at_s - row_s >= 0.005 else ""
        return printable(heard.told) + later


def _counted(count: int, one: str, more: str = "") -> str:
    return f"{count} {one if count == 1 else more or f'{one}s'}"

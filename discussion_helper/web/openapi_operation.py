"""One route, described: what it takes, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from discussion_helper.web.json_schema import TEXT, Schema, record, ref, told

__all__ = ["FORM", "JSON", "Given", "Operation", "Parameter", "events_of", "json_of", "nothing", "problem"]

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Given:
    """An answer."""

    about: str
    contents: Mapping[str, Schema] = field(default_factory=dict)
    """Schemas by media type."""
    line: str = ""
    """Of lines of JSON: the schema of each."""
    headers: Mapping[str, Schema] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parameter:
    """Of the path, the query, or a header."""

    name: str
    place: str
    about: str
    schema: Schema = field(default_factory=lambda: TEXT)
    is_list: bool = False
    """Several values in one, with commas between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A method at a path. Beside `answers` every one has those that any request may get."""

    name: str
    about: str
    group: str
    answers: Mapping[int, Given]
    parameters: Sequence[Parameter] = ()
    body: str = ""
    """The schema of its JSON; "" = it takes none."""
    form: Schema | None = None
    """The fields of a form, for one that takes that."""
    needs_body: bool = True
    is_open: bool = False
    """Whoever is not let in reaches it too."""


def json_of(about: str, schema: str | Schema, **headers: Schema) -> Given:
    """JSON of the schema, or of the one of that name."""
    named = {name.replace("_", "-"): header for name, header in headers.items()}
    return Given(about, {JSON: ref(schema) if isinstance(schema, str) else schema}, headers=named)


def events_of(about: str, schema: str) -> Given:
    """Server-sent events; before OpenAPI 3.2 the schema of a stream of them is that of each."""
    data = {**TEXT, "contentMediaType": JSON, "contentSchema": ref(schema)}
    event = record({"event": told(TEXT, "Its kind."), "data": data}, {"id": told(TEXT, "What to resume with.")})
    return Given(about, {"text/event-stream": event})


def nothing(about: str, **headers: Schema) -> Given:
    """Without a body."""
    return Given(about, headers={name.replace("_", "-"): header for name, header in headers.items()})


def problem(about: str) -> Given:
    """What went wrong, and the fix."""
    return json_of(about, "Problem")

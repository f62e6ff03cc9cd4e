"""JSON Schema in few words, for the document of the routes."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "COUNT",
    "MOMENT",
    "NUMBER",
    "SECONDS",
    "TEXT",
    "WHOLE",
    "YES_NO",
    "Schema",
    "always",
    "by_kind",
    "either",
    "list_of",
    "one_of",
    "or_null",
    "record",
    "ref",
    "told",
]

Schema = Mapping[str, Any]
"""Draft 2020-12, as OpenAPI 3.1 has it."""

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
SECONDS: Schema = {"type": "number", "description": "Seconds."}
YES_NO: Schema = {"type": "boolean"}
MOMENT: Schema = {"type": "string", "format": "date-time"}


def ref(name: str) -> Schema:
    """One of the document's schemas."""
    return {"$ref": f"#/components/schemas/{name}"}


def told(schema: Schema, about: str) -> Schema:
    """The same, with what it means."""
    return {**schema, "description": about}


def always(value: str | bool) -> Schema:
    """This value and no other."""
    return {"const": value}


def one_of(values: Sequence[str]) -> Schema:
    """One of these texts."""
    return {"type": "string", "enum": list(values)}


def list_of(items: Schema) -> Schema:
    """Any number of them."""
    return {"type": "array", "items": items}


def either(*schemas: Schema) -> Schema:
    """At least one of these fits."""
    return {"anyOf": list(schemas)}


def or_null(schema: Schema) -> Schema:
    """It, or null where there is none."""
    return either(schema, {"type": "null"})


def by_kind(names: Mapping[str, str]) -> Schema:
    """One of these of the document's schemas, by what `kind` says."""
    mapping = {kind: ref(name)["$ref"] for kind, name in names.items()}
    return {
        "oneOf": [{"$ref": place} for place in mapping.values()],
        "discriminator": {"propertyName": "kind", "mapping": mapping},
    }


def record(
    required: Mapping[str, Schema],
    optional: Mapping[str, Schema] | None = None,
    *,
    about: str = "",
    more: Schema | bool | None = None,
) -> Schema:
    """An object. `more`: what further keys hold, where they belong to it; True = anything."""
    return {
        "type": "object",
        **({"description": about} if about else {}),
        "required": list(required),
        "properties": {**required, **(optional or {})},
        **({} if more is None else {"additionalProperties": more}),
    }

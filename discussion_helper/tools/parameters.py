"""The parameters of a tool: their JSON schema from a function's type hints, and arguments that fit it."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

from discussion_helper.errors import SettingError
from discussion_helper.tools.json_text import is_object, is_sendable

__all__ = ["BadArguments", "Parameters"]

_DATA = ("default", "enum", "const", "examples")
"""Keys of a schema under which values stand, not schemas."""
_TOLD = 3
"""Problems told of one call: enough to put it right, and short."""
_LONGEST_REASON = 200
_TYPED = "Give every parameter a type that JSON can hold, and no *args, **kwargs or positional-only ones."


class BadArguments(Exception):
    """A model's arguments do not fit; the text is for the model."""


class Parameters:
    """Of one function, read from its signature; what pydantic can validate can be a parameter.

    `Annotated[int, "how many"]` describes a parameter; pydantic's own `Field` in there works too. `schema` is the
    JSON schema of the object that the arguments are.
    """

    def __init__(self, function: Callable[..., Any], *, owner: str) -> None:
        """`owner` is the tool's name. Raises SettingError for a function that no schema can be made of."""
        try:
            parameters = list(inspect.signature(function, eval_str=True).parameters.values())
        except Exception as error:  # a hint that is a text is code, and may raise anything
            why = " ".join(str(error).split())[:_LONGEST_REASON]
            raise SettingError(f"tool {owner}: its signature cannot be read ({why}).", fix=_TYPED) from error
        for parameter in parameters:
            _check(parameter, owner)
        self._names = [parameter.name for parameter in parameters]
        self._model, self.schema = _modelled(parameters, owner)

    def parse(self, arguments: str) -> dict[str, Any]:
        """The keyword arguments in a JSON text ("" = none). Raises BadArguments."""
        from pydantic import ValidationError

        text = arguments.strip() or "{}"
        try:
            values = self._model.model_validate_json(text)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_context=False, include_input=False)
            raise BadArguments(_told(problems)) from None
        except (RecursionError, UnicodeError):
            raise BadArguments("They are not valid JSON") from None
        if not is_object(text):  # pydantic takes more; a provider sends such a call as one without arguments
            raise BadArguments("They are not valid JSON: a number is none, or too large, or it is too deep")
        return {name: getattr(values, f"p{number}") for number, name in enumerate(self._names)}


def _check(parameter: inspect.Parameter, owner: str) -> None:
    named = parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if not named or parameter.annotation is inspect.Parameter.empty:
        what = "has no type hint" if named else "cannot be given by name"
        raise SettingError(f"tool {owner}: its parameter {parameter.name} {what}.", fix=_TYPED)


def _modelled(parameters: list[inspect.Parameter], owner: str) -> tuple[Any, dict[str, Any]]:
    """The model that arguments are checked with, and its schema."""
    try:
        return _made(parameters)
    except Exception as error:  # pydantic's own, and whatever the application's types raise
        for parameter in parameters:  # pydantic advises how to change its models; here it is one hint that is wrong
            try:
                _made([parameter])
            except Exception as cause:
                raise SettingError(f"tool {owner}: {_unfit(parameter, cause)}.", fix=_TYPED) from error
        raise SettingError(f"tool {owner}: its parameters fit no JSON schema together.", fix=_TYPED) from error


def _made(parameters: list[inspect.Parameter]) -> tuple[Any, dict[str, Any]]:
    """A model of pydantic with numbered fields: any name may then be a parameter's."""
    from pydantic import ConfigDict, create_model
    from pydantic.json_schema import PydanticJsonSchemaWarning

    fields: dict[str, Any] = {f"p{number}": _field(parameter) for number, parameter in enumerate(parameters)}
    model = create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)  # a default that has no form in JSON is left out
        schema = {"properties": {}, **_tidied(model.model_json_schema())}
    if not is_sendable(schema):
        raise ValueError("its schema would hold a number or a text that JSON does not know")
    return model, schema


def _unfit(parameter: inspect.Parameter, cause: Exception) -> str:
    from pydantic.errors import PydanticUserError

    kind = parameter.annotation
    hint = " ".join((kind.__name__ if isinstance(kind, type) else inspect.formatannotation(kind)).split())[:80]
    why = "which JSON cannot hold"
    if not isinstance(cause, PydanticUserError | NameError | TypeError):  # a bound, a pattern
        lines = str(cause).split("\n")
        why = f"which cannot be: {' '.join(lines[-1].split())[:_LONGEST_REASON]}".removesuffix(".")
    return f"no schema can be made of its parameters: {parameter.name} is {hint}, {why}"


def _field(parameter: inspect.Parameter) -> tuple[Any, Any]:
    from pydantic import Field

    notes = getattr(parameter.annotation, "__metadata__", ())
    described = [("description", note) for note in notes if isinstance(note, str)]
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    field: Any = Field
    return parameter.annotation, field(default, alias=parameter.name, **dict(described))


def _tidied(schema: Any) -> Any:
    """Without titles, which only repeat the names; a parameter called "title" is no text, and stays.

    Defaults that JSON does not know, as NaN, go as well.
    """
    if isinstance(schema, list):
        return [_tidied(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key != "title" or not isinstance(value, str)}
    tidied = {key: value if key in _DATA else _tidied(value) for key, value in kept.items()}
    return tidied if is_sendable(tidied.get("default")) else {k: v for k, v in tidied.items() if k != "default"}


def _told(problems: list[Any]) -> str:
    places = [".".join(map(str, problem["loc"])) for problem in problems[:_TOLD]]
    lines = [f"{place}: {problem['msg']}".removeprefix(": ") for place, problem in zip(places, problems, strict=False)]
    more = f"; and {len(problems) - _TOLD} more" if len(problems) > _TOLD else ""
    return " ".join(("; ".join(lines) + more).split())[:500]

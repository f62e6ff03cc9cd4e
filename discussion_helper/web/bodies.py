"""Bodies of requests, checked: what is wrong is told by the field's name, with the fix."""

from dataclasses import fields
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect, Request

from discussion_helper.types import Policy
from discussion_helper.web.problems import Problem

__all__ = ["MessageBody", "OpeningBody", "SayBody", "read_body"]

B = TypeVar("B", bound=BaseModel)
Words = Annotated[str, Field(min_length=1, pattern=r"\S")]
_POLICY = tuple(field.name for field in fields(Policy))


class SayBody(BaseModel):
    """A typed turn."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    text: Words = Field(description="Use a text that is not blank.")


class MessageBody(BaseModel):
    """A message whose turn is answered in the same response."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    content: Words = Field(description="Use a text that is not blank.")
    kinds: list[str] | None = Field(None, description="Use a list of the kinds of output, or leave it out.")


class OpeningBody(BaseModel):
    """A session to open; the fields of a Policy are beside these."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    kind: Literal["voice", "text"] = Field("voice", description='Use "voice" or "text".')
    transport: Literal["local", "remote", "fake"] = Field("local", description='Use "local", "remote" or "fake".')
    turns: list[str] = Field([], description="Use a list of texts.")
    thread_id: str | None = Field(None, description="Use the id of a stored thread, or leave it out.")
    voice: str | None = Field(None, description="Use the name of a voice, or leave it out.")
    language: str | None = Field(None, description="Use two letters, such as en or de, or leave it out.")

    def policy(self) -> Policy:
        """From the fields beside ours. Raises SettingError for a wrong value, Problem for an unknown field."""
        extra: dict[str, Any] = self.model_extra or {}
        for name in extra:
            if name not in _POLICY:
                raise _unknown(name, (*type(self).model_fields, *_POLICY))
        if extra and self.kind == "text":
            raise Problem(422, f"{next(iter(extra))}: a text session has no policy.", fix="Leave it out.")
        return Policy.from_mapping(extra)


async def read_body(request: Request, shape: type[B]) -> B:
    """The request's body; an empty one is an empty object. Raises Problem naming the first wrong field."""
    try:
        body = await request.body()
    except ClientDisconnect:
        raise Problem(400, "The request broke off.") from None
    try:
        return shape.model_validate_json(body or b"{}")
    except ValidationError as error:
        raise _told(error, shape) from None


def _told(error: ValidationError, shape: type[BaseModel]) -> Problem:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if not first["loc"]:
        return Problem(422, f"body: {first['msg']}.", fix="Send one JSON object.")
    name = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        return _unknown(name, tuple(shape.model_fields))
    if first["type"] == "missing":
        return Problem(422, f"{name}: it is missing.", fix=shape.model_fields[name].description or "")
    where = "".join(f"[{part}]" for part in first["loc"][1:])
    fix = shape.model_fields[name].description if name in shape.model_fields else ""
    return Problem(422, f"{name}{where}: {first['msg']}.", fix=fix or "")


def _unknown(name: str, known: tuple[str, ...]) -> Problem:
    return Problem(422, f"{name[:80]}: there is no such field.", fix=f"Use {', '.join(known)}.")

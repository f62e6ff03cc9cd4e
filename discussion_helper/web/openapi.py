"""/openapi.json: what the server's routes take and answer, as an OpenAPI 3.1 document."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from discussion_helper.web.door import Door, cookie_name
from discussion_helper.web.encoding import Answer
from discussion_helper.web.json_schema import TEXT, Schema, ref
from discussion_helper.web.openapi_answers import answer_schemas
from discussion_helper.web.openapi_bodies import body_schemas
from discussion_helper.web.openapi_events import event_schemas
from discussion_helper.web.openapi_operation import FORM, JSON, Given, Operation, Parameter, nothing
from discussion_helper.web.openapi_table import COMMON, OPERATIONS, SOCKETS, WITH_BODY

__all__ = ["OpenApiRoute", "document_of"]

_TO_LOGIN = nothing("A browser that is not let in is sent to the form for the password.", Location=TEXT)
_ABOUT = (
    "Conversations that people hold with a machine. Every answer that is none has the JSON `Problem`: what happened, "
    "and the fix. Requests name this server in `Host`; a page of another site is refused."
)
_GROUPS: Mapping[str, str] = {
    "sessions": "Open, look at, follow, end.",
    "turns": "Speak to a session.",
    "threads": "What is stored.",
    "server": "The server itself.",
}


class OpenApiRoute:
    """The handler, and its route."""

    def __init__(self, door: Door, own: Iterable[BaseRoute], *, instead: Iterable[BaseRoute] = ()) -> None:
        """`own`: the server's routes, which the document is about; not those in whose place is one of `instead`."""
        self._door = door
        self.routes = [Route("/openapi.json", self._show, methods=["GET"])]
        taken = {(method, _path(route)) for route in instead for method in _methods(route)}
        self._described = [
            route
            for route in (*own, *self.routes)
            if not any((method, _path(route)) in taken for method in _methods(route))
        ]

    async def _show(self, request: Request) -> Response:
        has_password = self._door.password is not None
        cookie = cookie_name(request) if self._door.keys.required else None
        return Answer(document_of(self._described, cookie=cookie, has_password=has_password))


def document_of(routes: Iterable[BaseRoute], *, cookie: str | None, has_password: bool) -> dict[str, Any]:
    """The document about these routes. `cookie`: its name where somebody must be let in.

    Raises KeyError for a route that the table does not have.
    """
    common = {status: given for status, given in COMMON.items() if status != 401 or cookie}
    paths: dict[str, dict[str, Any]] = {}
    sockets: dict[str, Any] = {}
    for route in routes:
        if isinstance(route, WebSocketRoute):
            sockets[route.path] = SOCKETS[route.path]
        for method in _methods(route):
            operation = OPERATIONS[method, _path(route)]
            to_login = {303: _TO_LOGIN} if has_password and method == "GET" and not operation.is_open else {}
            paths.setdefault(_path(route), {})[method.lower()] = _operation(operation, common, to_login)
    return {
        "openapi": "3.1.0",
        "info": {"title": "discussion_helper", "version": _version(), "description": _ABOUT},
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": about} for name, about in _GROUPS.items()],
        **({"security": [{"bearer": []}, {"cookie": []}]} if cookie else {}),
        "paths": paths,
        "x-websocket": sockets,
        "components": {
            "schemas": {**answer_schemas(), **event_schemas(), **_bodies()},
            "responses": {str(status): _given(given) for status, given in {**common, **WITH_BODY}.items()},
            **({"securitySchemes": _schemes(cookie)} if cookie else {}),
        },
    }


def _path(route: BaseRoute) -> str:
    return str(getattr(route, "path", ""))


def _methods(route: BaseRoute) -> Iterator[str]:
    """HEAD goes without saying, where there is GET."""
    return iter(sorted((route.methods or set()) - {"HEAD"}) if isinstance(route, Route) else ())


def _operation(operation: Operation, common: Mapping[int, Given], to_login: Mapping[int, Given]) -> dict[str, Any]:
    has_body = bool(operation.body or operation.form)
    shared = [*common, *(WITH_BODY if has_body else ())]
    answers = {**{str(status): {"$ref": f"#/components/responses/{status}"} for status in shared}}
    answers |= {str(status): _given(given) for status, given in (*to_login.items(), *operation.answers.items())}
    return {
        "operationId": operation.name,
        "summary": operation.about,
        "tags": [operation.group],
        **({"security": []} if operation.is_open else {}),
        **({"parameters": [_parameter(each) for each in operation.parameters]} if operation.parameters else {}),
        **({"requestBody": _request(operation)} if has_body else {}),
        "responses": dict(sorted(answers.items())),
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    joined = {"style": "form", "explode": False} if parameter.is_list else {}
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": parameter.about,
        "schema": parameter.schema,
        **joined,
    }


def _request(operation: Operation) -> dict[str, Any]:
    content = {FORM: operation.form} if operation.form is not None else {JSON: ref(operation.body)}
    return {
        "required": operation.needs_body,
        "content": {media: {"schema": schema} for media, schema in content.items()},
    }


def _given(given: Given) -> dict[str, Any]:
    lines = {"x-line": ref(given.line)} if given.line else {}
    headers = {name: {"schema": schema} for name, schema in given.headers.items()}
    contents = {media: {"schema": schema, **lines} for media, schema in given.contents.items()}
    return {
        "description": given.about,
        **({"headers": headers} if headers else {}),
        **({"content": contents} if contents else {}),
    }


def _schemes(cookie: str) -> dict[str, Any]:
    about = "What a browser has in the token's place: from the link GET /?token=TOKEN, or from the form at /login."
    return {
        "bearer": {"type": "http", "scheme": "bearer", "description": "The token of the link that the server printed."},
        "cookie": {"type": "apiKey", "in": "cookie", "name": cookie, "description": about},
    }


@cache
def _bodies() -> dict[str, Schema]:
    """Always the same, and pydantic takes a while over them."""
    return body_schemas()


@cache
def _version() -> str:
    from importlib.metadata import version

    return version("discussion_helper")

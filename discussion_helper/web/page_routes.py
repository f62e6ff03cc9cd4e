"""The page that watches and holds conversations: a fixed table of files, and which of two answers "/" is."""

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discussion_helper.web.encoding import Answer
from discussion_helper.web.plain_page import shows_pages
from discussion_helper.web.problems import Problem

__all__ = ["PAGE_FILES", "PageFile", "PageRoutes", "page_file"]

_MODULES = (
    *("announcer", "api", "audio", "audio_panel", "capture-worklet", "captions", "choices", "clock", "composer"),
    *("decision_words", "decisions", "download", "element", "event_socket", "floor", "following", "frames"),
    *("headline", "invitation", "keys", "latency", "main"),
    *(
        "microphone",
        "muting",
        "order",
        "player",
        "player-worklet",
        "recording",
        "sessions",
        "socket",
        "sound",
        "sse_parser",
        "state",
        "stream",
        "talk_button",
        "talk_key",
        "theme",
        "title",
        "transcript",
        "unheard",
        "wav",
    ),
)
_INDEX = "index.html"
PAGE_FILES: Mapping[str, str] = {
    _INDEX: "text/html",
    "style.css": "text/css",
    "parts.css": "text/css",
    "strip.css": "text/css",
    "icon.svg": "image/svg+xml",
    **{f"{module}.js": "text/javascript" for module in _MODULES},
}
"""Every file of the page and its media type; nothing else is ever read."""


class PageFile(NamedTuple):
    """As it is sent."""

    content: bytes
    etag: str


@cache
def page_file(name: str) -> PageFile:
    """One of `PAGE_FILES`, read once. Raises KeyError for another name."""
    if name not in PAGE_FILES:
        raise KeyError(name)
    content = files("discussion_helper.web").joinpath("page", name).read_bytes()
    return PageFile(content, f'"{hashlib.sha256(content).hexdigest()[:32]}"')


class PageRoutes:
    """Handlers, and their routes."""

    def __init__(self, index: Mapping[str, str]) -> None:
        """`index`: the main routes, which a program gets at "/" in the place of the page."""
        self._index = dict(index)
        self.routes = [
            Route("/", self._root, methods=["GET"]),
            Route("/page/{name}", self._file, methods=["GET"]),
        ]

    async def _root(self, request: Request) -> Response:
        answer = _answer(_INDEX, request) if shows_pages(request.headers) else Answer(self._index)
        answer.headers["Vary"] = "Accept"
        return answer

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in PAGE_FILES:
            raise Problem(404, "There is no such file of the page.", fix="Open / in a browser.")
        return _answer(name, request)


def _answer(name: str, request: Request) -> Response:
    """The browser may keep it, and asks each time whether it is still the same: another version is another page."""
    content, etag = page_file(name)
    headers = {"ETag": etag, "Cache-Control": "no-cache"}
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    if etag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=PAGE_FILES[name])

"""The table of the routes: what each takes and answers, for the document of the HTTP interface."""

from collections.abc import Mapping
from typing import Any

from discussion_helper.events import COARSE_KINDS, FINE_KINDS
from discussion_helper.web.audio_wire import SUBPROTOCOL
from discussion_helper.web.door import LOGIN
from discussion_helper.web.event_socket import SUBPROTOCOL as EVENTS_SUBPROTOCOL
from discussion_helper.web.feed import OUTPUT_KINDS
from discussion_helper.web.json_schema import TEXT, Schema, either, list_of, one_of, record, ref
from discussion_helper.web.openapi_operation import Given, Operation, Parameter, events_of, json_of, nothing, problem
from discussion_helper.web.page_routes import PAGE_FILES

__all__ = ["COMMON", "OPERATIONS", "SOCKETS", "WITH_BODY"]

_SESSION = Parameter("session_id", "path", "Of a session that is open, or ended not long ago.")
_THREAD = Parameter("thread_id", "path", "Of a stored thread.")
_LAST = Parameter("Last-Event-ID", "header", "The id of the last event that was seen: go on after it.")
_AFTER = Parameter("after", "query", "The same, of who cannot send that header.")
_KINDS = (*COARSE_KINDS, *FINE_KINDS, *OUTPUT_KINDS, "gap", "*")
_NO_SESSION = problem("There is no session of that id.")
_NO_THREAD = problem("There is no thread of that id.")
_WRONG = problem("A field of the body is wrong, and named.")
_OTHER_KIND = problem("The session is of another kind, or does not run any more.")
_NO_KEY = problem("The session has no key to press, or does not run any more.")
_PAGE: Mapping[str, Schema] = {"text/html": TEXT}

COMMON: Mapping[int, Given] = {
    401: Given(
        "The token or the cookie is missing or wrong, or was rotated since: by POST /token/rotate, or whoever runs it.",
        {**_PAGE, **problem("").contents},
        headers={"WWW-Authenticate": TEXT},
    ),
    403: problem("The Host is none of this server's, or another site's page asks."),
    413: problem("The body is too large."),
    426: Given("There is no WebSocket here.", problem("").contents, headers={"Upgrade": TEXT, "Connection": TEXT}),
    429: Given(
        "Requests, or wrong tokens and passwords, come too fast.",
        problem("").contents,
        headers={"Retry-After": {"type": "integer", "minimum": 1, "description": "Seconds to wait."}},
    ),
    431: problem("The headers are too large."),
    500: problem("The server failed; its log says at what. Also a stored thread that cannot be read."),
    503: problem("Something is missing here, or there is too much of something, or the server stops."),
}
"""What any request may get."""
WITH_BODY: Mapping[int, Given] = {
    400: problem("The request broke off."),
    408: problem("The body did not come in time."),
}
"""What a request with a body may get beside."""


def _turn(
    name: str, about: str, gives: Given, status: int = 200, *, no: Given = _OTHER_KIND, body: str = ""
) -> Operation:
    """Something done to a session."""
    answers = {status: gives, 404: _NO_SESSION, 409: no} | ({422: _WRONG} if body else {})
    return Operation(name=name, about=about, group="turns", answers=answers, parameters=(_SESSION,), body=body)


OPERATIONS: Mapping[tuple[str, str], Operation] = {
    ("GET", "/"): Operation(
        name="index",
        about="The page for a browser; for a program the main routes.",
        group="server",
        parameters=(Parameter("token", "query", "Of the link: lets a browser in, which gets a cookie."),),
        answers={
            200: Given("By what is accepted.", {**_PAGE, **json_of("", "Index").contents}),
            303: nothing("The link's token is right: to the page, with the cookie.", Location=TEXT, Set_Cookie=TEXT),
            304: nothing("It is still the same."),
        },
    ),
    ("GET", "/page/{name}"): Operation(
        name="pageFile",
        about="A file of the page.",
        group="server",
        parameters=(Parameter("name", "path", "Of the file."), Parameter("If-None-Match", "header", "What is known.")),
        answers={
            200: Given("It.", dict.fromkeys(PAGE_FILES.values(), TEXT), headers={"ETag": TEXT}),
            304: nothing("It is still the same.", ETag=TEXT),
            404: problem("There is no such file."),
        },
    ),
    ("GET", "/health"): Operation(
        name="health",
        about="What can be held here, and the fix for what cannot.",
        group="server",
        parameters=(
            Parameter("ready", "query", "The status alone tells of this use.", one_of(("voice", "remote", "text"))),
        ),
        answers={
            200: json_of("All of it, or that the use can be had.", either(ref("Health"), ref("Ready"))),
            422: problem("The server has no such use."),
            503: json_of("The use cannot be had.", either(ref("Ready"), ref("Problem"))),
        },
    ),
    ("GET", "/openapi.json"): Operation(
        name="openapi",
        about="This document.",
        group="server",
        answers={200: json_of("OpenAPI 3.1.", record({"openapi": TEXT}, more=True))},
    ),
    ("GET", "/metrics"): Operation(
        name="metrics",
        about="Counts and delays, for Prometheus.",
        group="server",
        answers={
            200: Given("The text format of Prometheus.", {"text/plain": TEXT}),
            501: problem("What writes them is not installed."),
        },
    ),
    ("GET", "/audit"): Operation(
        name="audit",
        about="Who opened a microphone, who was let in and who was not; the newest first.",
        group="server",
        answers={200: json_of("The last entries.", list_of(ref("AuditEntry")))},
    ),
    ("POST", "/token/rotate"): Operation(
        name="rotateToken",
        about="A new token. The old one and every browser's cookie get a 401 from now on, and their streams end.",
        group="server",
        answers={
            200: json_of("Told this once.", "Rotated", Set_Cookie=TEXT),
            409: problem("This server asks for no token."),
        },
    ),
    ("GET", LOGIN): Operation(
        name="loginForm",
        about="Where a browser without a link shows the password.",
        group="server",
        is_open=True,
        answers={200: Given("The form.", _PAGE)},
    ),
    ("POST", LOGIN): Operation(
        name="login",
        about="Takes the password.",
        group="server",
        is_open=True,
        form=record({"password": TEXT}, {"username": TEXT}),
        answers={
            303: nothing("It is right: to the page, with the cookie.", Location=TEXT, Set_Cookie=TEXT),
            401: Given("It is wrong: the form again; or a token that is.", COMMON[401].contents),
        },
    ),
    ("GET", "/sessions"): Operation(
        name="listSessions",
        about="Those that are open.",
        group="sessions",
        answers={200: json_of("Their ids.", list_of(TEXT))},
    ),
    ("POST", "/sessions"): Operation(
        name="openSession",
        about="Open one: in writing, at this machine's microphone, at a client's, or of fakes.",
        group="sessions",
        body="Opening",
        needs_body=False,
        answers={
            201: json_of("It runs.", "Opened", Location=TEXT),
            404: _NO_THREAD,
            409: problem("The thread cannot be opened now."),
            422: _WRONG,
        },
    ),
    ("GET", "/sessions/{session_id}"): Operation(
        name="showSession",
        about="Its state: all that a watcher needs to catch up.",
        group="sessions",
        parameters=(_SESSION,),
        answers={200: json_of("It.", "State"), 404: _NO_SESSION},
    ),
    ("DELETE", "/sessions/{session_id}"): Operation(
        name="endSession",
        about="End it and forget it.",
        group="sessions",
        parameters=(_SESSION,),
        answers={200: json_of("What was said.", "Transcript"), 404: _NO_SESSION},
    ),
    ("GET", "/sessions/{session_id}/events"): Operation(
        name="followSession",
        about="Its events as they happen; the first is a `snapshot`, unless the stream resumes.",
        group="sessions",
        parameters=(
            _SESSION,
            Parameter(
                "kinds", "query", "Which; those of a transcript without it.", list_of(one_of(_KINDS)), is_list=True
            ),
            _AFTER,
            _LAST,
        ),
        answers={
            200: events_of(
                "The last one is `ended`, or, for who does not keep up, a `gap`: come back with the last id.", "Event"
            ),
            204: nothing("The session is over, and its last event was seen: do not come back."),
            404: _NO_SESSION,
            422: problem("This session has no such kind."),
        },
    ),
    ("GET", "/events"): Operation(
        name="followSessions",
        about="Which sessions are opened and end; the first is a `snapshot`, unless the stream resumes.",
        group="sessions",
        parameters=(_AFTER, _LAST),
        answers={
            200: events_of("As long as the server.", "ListEvent"),
            204: nothing("Its last event was seen, and there will be no other."),
        },
    ),
    ("POST", "/sessions/{session_id}/say"): _turn(
        "say", "The next turn, typed.", json_of("It waits for its answer.", "Accepted"), 202, body="Say"
    ),
    ("POST", "/sessions/{session_id}/speak"): _turn(
        "speak", "The agent of a voice session says this next.", json_of("It waits.", "Accepted"), 202, body="Speak"
    ),
    ("POST", "/sessions/{session_id}/messages"): _turn(
        "sendMessage",
        "A message to a text session; its turn comes back until it is over.",
        Given("Lines of JSON; the last one is of the phase `done`.", {"application/x-ndjson": TEXT}, line="Line"),
        body="Message",
    ),
    ("POST", "/sessions/{session_id}/interrupt"): Operation(
        name="interrupt",
        about="Cut the reply; in a text session also forget what waits.",
        group="turns",
        parameters=(_SESSION,),
        answers={200: json_of("Whether there was one.", "Interrupted"), 404: _NO_SESSION},
    ),
    ("POST", "/sessions/{session_id}/press"): _turn(
        "press", "Press the key of push to talk.", json_of("Whether that cut a reply.", "Pressed"), no=_NO_KEY
    ),
    ("POST", "/sessions/{session_id}/release"): _turn(
        "release", "Release it: the turn is over.", json_of("It is up.", "Released"), no=_NO_KEY
    ),
    ("POST", "/sessions/{session_id}/mute"): _turn(
        "mute",
        "Close the microphone of a voice session on this machine, or open it again.",
        json_of("What it is now.", "Muted"),
        no=problem("The session has no microphone here."),
        body="Mute",
    ),
    ("POST", "/sessions/{session_id}/cancel"): _turn(
        "cancel", "Cancel a text session's turn; what waits is answered.", json_of("It is asked to.", "Cancelled")
    ),
    ("GET", "/threads"): Operation(
        name="listThreads",
        about="The conversations that are kept, the newest change first.",
        group="threads",
        answers={200: json_of("Their heads.", list_of(ref("ThreadHead")))},
    ),
    ("GET", "/threads/{thread_id}"): Operation(
        name="showThread",
        about="One of them, with its turns.",
        group="threads",
        parameters=(_THREAD,),
        answers={200: json_of("It.", "Thread"), 404: _NO_THREAD},
    ),
    ("DELETE", "/threads/{thread_id}"): Operation(
        name="forgetThread",
        about="Forget it.",
        group="threads",
        parameters=(_THREAD,),
        answers={204: nothing("It is gone."), 404: _NO_THREAD, 409: problem("A session is open on it.")},
    ),
}
"""By method and path. A route of the server's own that is not here fails when the document is made."""

_REFUSED: Mapping[str, str] = {
    "400": "The subprotocol is another one.",
    "401": COMMON[401].about,
    "403": COMMON[403].about,
    "429": COMMON[429].about,
}
"""What a handshake with any of them may get."""


def _events_socket(name: str, about: str, line: str, *parameters: Mapping[str, Any]) -> Schema:
    """The way of `name`'s events over a WebSocket."""
    return {
        "operationId": f"{name}OnSocket",
        "summary": about,
        "method": "GET",
        "upgrade": "websocket",
        "subprotocol": EVENTS_SUBPROTOCOL,
        "protocol": "discussion_helper/web/protocol.md",
        "description": "A text message for each event, with its `id`, its kind as `event`, and its `data`, in the "
        "order and with the content of the server-sent events at this path; `{}` is a sign of life. Close codes are "
        "those of the file named by `protocol`; the status of a request that was refused is one, 4000 higher.",
        "message": record({"event": TEXT, "data": ref(line)}, {"id": TEXT}),
        "parameters": [*parameters, {"name": "after", "in": "query", "required": False, "schema": TEXT}],
        "refusals": _REFUSED,
    }


_IN_PATH: Mapping[str, Any] = {"name": "session_id", "in": "path", "required": True, "schema": TEXT}
SOCKETS: Mapping[str, Schema] = {
    "/sessions/{session_id}/events": _events_socket(
        "followSession",
        "A session's events as they happen.",
        "Event",
        *(_IN_PATH, {"name": "kinds", "in": "query", "required": False, "schema": list_of(one_of(_KINDS))}),
    ),
    "/events": _events_socket("followSessions", "Which sessions are opened and end.", "ListEvent"),
    "/sessions/{session_id}/audio": {
        "operationId": "audio",
        "summary": "A client's microphone and loudspeaker in a session that was opened as `remote`.",
        "method": "GET",
        "upgrade": "websocket",
        "subprotocol": SUBPROTOCOL,
        "protocol": "discussion_helper/web/protocol.md",
        "description": "Frames, errors and close codes are those of the file named by `protocol`. One client has the "
        "microphone at a time; one that went away can come back within 30 s. A rotated token closes it with 1008.",
        "parameters": [_IN_PATH],
        "refusals": {
            **_REFUSED,
            "404": "There is no session of that id.",
            "409": "The session has no place for a client's microphone, or is over.",
            "503": "A model for hearing or speaking is missing, or too many watch the session.",
        },
    },
}
"""By path. OpenAPI has no words for WebSockets."""

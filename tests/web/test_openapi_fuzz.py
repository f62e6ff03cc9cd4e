"""What the OpenAPI document says holds: a real server is asked what its schemas allow, and what they do not.

Nothing is a 5xx, every status and every header is among those that are told of, every body fits its schema, what is
wrong is refused, what is right is not, and nobody is let in without the token.
"""

import socket
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import httpx
import pytest
import schemathesis
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema_rs import ValidationError
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS

from discussion_helper.errors import ModelMissing
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text import Manager, MemoryThreads, Step, TextDelta
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.voice.remote_talk import RemoteTalk
from discussion_helper.web import Limits, Server, Wish, bound_socket, create_app
from discussion_helper.web.openapi_operation import Operation
from discussion_helper.web.openapi_table import OPERATIONS
from discussion_helper.web.passwords import Password

TOKEN = "a-token-for-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
BOUNDLESS = 10**9
LIMITS = Limits(sessions=BOUNDLESS, rate=1e9, rate_of_all=1e9, wrong_a_minute=1e9, heartbeat_s=0.2)
APART = ("rotateToken", "followSessions")
"""After the first nobody would be let in; the second lasts as long as the server."""
ASKED = {key: operation for key, operation in OPERATIONS.items() if operation.name not in APART}
NEGATED = {key: each for key, each in ASKED.items() if each.body or any(p.place == "query" for p in each.parameters)}
"""A path is a text, and so is a header: whatever is there is one."""
FEW, MANY = 5, 300


@dataclass(frozen=True)
class Asked:
    """A server that runs, and what is in it."""

    url: str
    schema: Any

    def opened(self, **body: Any) -> str:
        answer = httpx.post(f"{self.url}/sessions", json=body, headers=BEARER)
        assert 201 == answer.status_code
        return str(answer.json()["id"])

    def places(self, operation: Operation) -> list[dict[str, str]]:
        """Of things that are there, for its path."""
        match [each.name for each in operation.parameters if each.place == "path"]:
            case ["name"]:
                return [{"name": "main.js"}]
            case ["thread_id"]:
                return [{"thread_id": self.opened(kind="text")}]
            case ["session_id"] if operation.name == "followSession":
                return [{"session_id": self.ended()}]
            case ["session_id"]:
                sessions = self.opened(kind="text"), self.opened(transport="fake"), self.ended()
                return [{"session_id": each} for each in sessions]
        return []

    def ended(self) -> str:
        """A session that is over, and still told of."""
        session_id = self.opened(transport="fake", turns=["Hello."])
        with httpx.stream("GET", f"{self.url}/sessions/{session_id}/events", headers=BEARER) as events:
            events.read()
        return session_id


@asynccontextmanager
async def no_devices(wish: Wish) -> AsyncIterator[Session]:
    """In the place of this machine's."""
    yield Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice(), wish.policy)


@asynccontextmanager
async def no_models(_: Wish) -> AsyncIterator[RemoteTalk]:
    """Whoever is remote types, then."""
    raise ModelMissing("The model is missing.", fix="Pull it.")
    yield


async def serve(listening: socket.socket, started: SimpleQueue[Server]) -> None:
    """With a manager, and without devices."""
    manager = Manager(MemoryThreads(), ScriptedProvider([TextDelta("Yes.")]), lambda _: Step())
    password = Password("horse staple battery")
    opening: dict[str, Any] = {"open_voice": no_devices, "open_remote": no_models}
    app = create_app(manager=manager, token=TOKEN, password=password, limits=LIMITS, **opening)
    server = Server(app, started=lambda: started.put(server), ending=manager.aclose)
    await server.serve([listening])


@pytest.fixture(scope="module")
def asked(closed: Callable[[dict[str, Any]], dict[str, Any]]) -> Iterator[Asked]:
    """In a thread of its own."""
    started: SimpleQueue[Server] = SimpleQueue()
    with bound_socket("127.0.0.1", 0) as listening, start_blocking_portal() as portal:
        serving = portal.start_task_soon(serve, listening, started)
        server = started.get(timeout=10.0)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        schema = schemathesis.openapi.from_dict(closed(httpx.get(f"{url}/openapi.json", headers=BEARER).json()))
        schema.config.update(base_url=url)
        yield Asked(url, schema)
        server.should_exit = True
        serving.result(10.0)


def ask(asked: Asked, key: tuple[str, str], mode: GenerationMode, examples: int) -> None:
    operation = asked.schema[key[1]][key[0]]
    found = [{}, *asked.places(OPERATIONS[key])]
    cases = st.one_of([operation.as_strategy(generation_mode=mode, path_parameters=place or None) for place in found])

    @settings(
        max_examples=examples, derandomize=examples == FEW, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(cases if mode is GenerationMode.NEGATIVE else cases.filter(is_sayable))
    def run(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(headers=BEARER, timeout=10.0, excluded_checks=excluded(OPERATIONS[key]))

    run()


def is_sayable(case: schemathesis.Case[Any]) -> bool:
    """What no pattern says that is read alike everywhere: phrases have a letter or a digit, of any script."""
    body: Any = case.body if isinstance(case.body, dict) else {}
    phrases = [phrase for name in ("barge_in_backchannels", "barge_in_stop_words") for phrase in body.get(name, ())]
    return all(any(map(str.isalnum, phrase)) for phrase in phrases)


def excluded(operation: Operation) -> list[Any]:
    """Which kinds there are depends on the session: a voice has no text deltas. Spaces and empty names do no harm."""
    apart = ("positive_data_acceptance", "negative_data_rejection") if operation.name == "followSession" else ()
    return [CHECKS.get_one(name) for name in apart]


def named(keys: Iterable[tuple[str, str]]) -> list[Any]:
    return [pytest.param(key, id=OPERATIONS[key].name) for key in keys]


def test_the_document_is_one_of_openapi_3_1(asked: Asked) -> None:
    asked.schema.validate()
    with pytest.raises(ValidationError, match="info"):
        schemathesis.openapi.from_dict({**asked.schema.raw_schema, "info": None}).validate()


@pytest.mark.parametrize("key", named(ASKED))
def test_what_is_allowed_is_answered_as_described(asked: Asked, key: tuple[str, str]) -> None:
    ask(asked, key, GenerationMode.POSITIVE, FEW)


@pytest.mark.parametrize("key", named(NEGATED))
def test_what_is_not_allowed_is_refused_as_described(asked: Asked, key: tuple[str, str]) -> None:
    ask(asked, key, GenerationMode.NEGATIVE, FEW)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("key", named(ASKED))
def test_much_that_is_allowed_is_answered_as_described(asked: Asked, key: tuple[str, str]) -> None:
    ask(asked, key, GenerationMode.POSITIVE, MANY)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("key", named(NEGATED))
def test_much_that_is_not_allowed_is_refused_as_described(asked: Asked, key: tuple[str, str]) -> None:
    ask(asked, key, GenerationMode.NEGATIVE, MANY)

"""The document of the HTTP interface: every route is in it, and what the server sends is what it says."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute

from discussion_helper.event import COARSE_KINDS, FINE_KINDS
from discussion_helper.policy import Policy
from discussion_helper.text import Manager, Reasoning, TextDelta
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.web import create_app
from discussion_helper.web.feed import OUTPUT_KINDS
from discussion_helper.web.openapi import document_of
from discussion_helper.web.openapi_table import OPERATIONS, SOCKETS
from discussion_helper.web.passwords import Password

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ManagerOf = Callable[..., Manager]
ClientOf = Callable[..., Any]
Closed = Callable[[dict[str, Any]], dict[str, Any]]
TOKEN = "a-token-for-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ROOT = Path(__file__).parents[2]


async def described(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.get("/openapi.json", headers=BEARER)
    assert 200 == answer.status_code
    document: dict[str, Any] = answer.json()
    return document


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object in it."""
    if isinstance(schema, dict):
        yield schema
        for inner in schema.values():
            yield from nodes(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from nodes(inner)


def checker(document: dict[str, Any], name: str) -> Draft202012Validator:
    """Of one schema."""
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": document["components"]})


async def test_it_has_every_route_and_no_other() -> None:
    app = create_app(token=TOKEN, password=Password("horse staple battery"))
    http = {(method, route.path) for route in app.routes if isinstance(route, Route) for method in route.methods or ()}
    sockets = {route.path for route in app.routes if isinstance(route, WebSocketRoute)}
    document = document_of(app.routes, cookie="a-cookie", has_password=True)

    assert http - {("HEAD", path) for _, path in http} == set(OPERATIONS)
    assert sockets == set(SOCKETS) == set(document["x-websocket"])
    assert {(method.upper(), path) for path, has in document["paths"].items() for method in has} == set(OPERATIONS)


async def test_a_route_that_is_not_described_is_found() -> None:
    async def answer(_: object) -> Any: ...

    with pytest.raises(KeyError, match="/forgotten"):
        document_of([Route("/forgotten", answer)], cookie=None, has_password=False)


async def test_routes_of_the_application_are_left_out(app_of: AppOf, client_of: ClientOf) -> None:
    async def answer(_: object) -> Any: ...

    app = app_of(routes=[Route("/own", answer), Route("/", answer)])
    async with client_of(app) as client:
        paths = (await described(client))["paths"]

    assert {"/own", "/"} & paths.keys() == set()
    assert "/sessions" in paths


async def test_it_stands_behind_the_door_and_says_what_lets_in(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of(token=TOKEN, password=Password("horse staple battery"))) as client:
        refused = await client.get("/openapi.json")
        document = await described(client)
    async with client_of(app_of()) as client:
        free = await described(client)
    schemes, paths = document["components"]["securitySchemes"], document["paths"]

    assert 401 == refused.status_code
    assert [{"bearer": []}, {"cookie": []}] == document["security"]
    assert ("bearer", "discussion-helper-7654") == (schemes["bearer"]["scheme"], schemes["cookie"]["name"])
    assert [[], []] == [paths["/login"][method]["security"] for method in ("get", "post")]
    assert "303" in paths["/sessions"]["get"]["responses"]
    assert "security" not in free
    assert "/login" not in free["paths"]
    assert not any("401" in operation["responses"] for path in free["paths"].values() for operation in path.values())


async def test_what_any_request_may_get_is_told_of_every_route(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        document = await described(client)
    responses = document["components"]["responses"]

    for operations in document["paths"].values():
        for operation in operations.values():
            assert {"401", "403", "413", "426", "429", "431", "500", "503"} <= operation["responses"].keys()
            assert ("requestBody" in operation) == ({"400", "408"} <= operation["responses"].keys())
    assert "rotate" in responses["401"]["description"]
    assert "integer" == responses["429"]["headers"]["Retry-After"]["schema"]["type"]
    refused = responses["503"]["content"]["application/json"]["schema"]
    assert {"$ref": "#/components/schemas/Problem"} == refused


async def test_every_reference_leads_somewhere_and_every_name_is_used_once(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        document = await described(client)
    places = {
        f"#/components/{group}/{name}" for group in ("schemas", "responses") for name in document["components"][group]
    }
    used = {node["$ref"] for node in nodes(document) if "$ref" in node}
    names = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]

    assert set() == used - places
    assert set() == places - used
    assert len(names) == len(set(names))
    for name in document["components"]["schemas"]:
        Draft202012Validator.check_schema(document["components"]["schemas"][name])


async def test_the_parameters_of_a_path_are_those_in_it(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of()) as client:
        document = await described(client)

    for path, operations in document["paths"].items():
        for operation in operations.values():
            named = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "path"]
            assert [part[1:-1] for part in path.split("/") if part.startswith("{")] == named


async def test_the_websocket_is_described_and_names_its_protocol(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of()) as client:
        audio = (await described(client))["x-websocket"]["/sessions/{session_id}/audio"]
    protocol = (ROOT / audio["protocol"]).read_text(encoding="utf-8")

    assert f"`{audio['subprotocol']}`" in protocol
    before = protocol.partition("Before the connection:")[2]
    assert [] == [status for status in audio["refusals"] if status not in before and status not in ("429",)]


async def test_there_is_a_schema_for_every_kind_of_event(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of()) as client:
        schemas = (await described(client))["components"]["schemas"]

    def kinds(name: str) -> set[str]:
        named = [each["$ref"].rpartition("/")[2] for each in schemas[name]["oneOf"]]
        return {schemas[each]["properties"]["kind"]["const"] for each in named}

    assert {*COARSE_KINDS, *FINE_KINDS, *OUTPUT_KINDS, "gap", "snapshot"} == kinds("Event")
    assert {*OUTPUT_KINDS, "gap"} == kinds("Line")


BODIES: tuple[Any, ...] = (
    {},
    {"kind": "text"},
    {"kind": "text", "turns": []},
    {"kind": "text", "turns": ["x"]},
    {"kind": "text", "allow_barge_in": True},
    {"kind": "text", "transport": "fake", "voice": None},
    {"transport": "fake", "turns": ["x"], "reopen_s": 5},
    {"transport": "fake", "reopen_s": 5.1},
    {"transport": "fake", "reopen_s": True},
    {"transport": "fake", "max_reply_sentences": 1.5},
    {"transport": "fake", "max_reply_sentences": 3.0},
    {"transport": "remote", "turns": ["x"]},
    {"transport": "remote", "wake_word": " "},
    {"transport": "fake", "barge_in_stop_words": ["x"]},
    {"transport": "fake", "barge_in_stop_words": ["x" * 61]},
    {"transport": "fake", "system": "You are a chess tutor."},
    {"kind": "text", "system": " "},
    {"transport": "fake", "system": "x" * 16_385},
    {"transport": "elsewhere"},
    {"transport": "fake", "another": 1},
    [],
)


async def test_a_body_that_the_document_allows_is_taken_and_no_other(
    app_of: AppOf, client_of: ClientOf, manager_of: ManagerOf, echo: ScriptedProvider
) -> None:
    async with manager_of(echo) as manager, client_of(app_of(manager=manager)) as client:
        schema = checker(await described(client), "Opening")
        statuses = [(await client.post("/sessions", json=body)).status_code for body in BODIES]

    assert [schema.is_valid(body) for body in BODIES] == [status != 422 for status in statuses]
    assert {201, 422, 503} == set(statuses)  # 503: this server has no microphone


async def test_every_field_of_a_policy_can_be_sent(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of()) as client:
        document = await described(client)
    voice = document["components"]["schemas"]["OpeningVoice"]["properties"]
    usual = json.loads(json.dumps(asdict(Policy())))

    assert usual == {name: voice[name]["default"] for name in usual}
    assert checker(document, "Opening").is_valid(usual)


async def test_the_state_and_the_events_of_a_voice_session_are_as_described(
    app_of: AppOf, client_of: ClientOf, closed: Closed, events_in: Any
) -> None:
    app = app_of()
    async with client_of(app) as client:
        document = closed(await described(client))
        opened = (await client.post("/sessions", json={"transport": "fake"})).json()
        url = opened["url"]
        session = app.state.sessions.get(opened["id"])
        async with session.events("*") as events:
            assert 202 == (await client.post(f"{url}/say", json={"text": "Hello."})).status_code
            told = [await anext(events)]
            while told[-1].kind != "timing":
                told.append(await anext(events))
        state = (await client.get(url)).json()
        await session.stop()
        async with client.stream("GET", f"{url}/events") as stream:
            last = [event.data async for event in events_in(stream)]
        ended = (await client.delete(url)).json()

    for name, content in (("Opened", opened), ("State", state), ("Transcript", ended)):
        checker(document, name).validate(content)
    for content in (*(event.as_dict() for event in told), *last):
        checker(document, "Event").validate(content)
    assert ["snapshot", "ended"] == [event["kind"] for event in last]
    assert {"floor", "utterance", "partial", "timing"} <= {event.kind for event in told}


async def test_the_lines_of_a_message_and_its_thread_are_as_described(
    app_of: AppOf, client_of: ClientOf, closed: Closed, manager_of: ManagerOf
) -> None:
    provider = ScriptedProvider([Reasoning("Hm."), TextDelta("Fine.")])
    async with manager_of(provider) as manager, client_of(app_of(manager=manager)) as client:
        document = closed(await described(client))
        opened = (await client.post("/sessions", json={"kind": "text"})).json()
        url = opened["url"]
        body = {"content": "Is it fine?", "kinds": list(OUTPUT_KINDS)}
        lines = [json.loads(line) for line in (await client.post(f"{url}/messages", json=body)).text.splitlines()]
        told = {
            "Opened": opened,
            "State": (await client.get(url)).json(),
            "Accepted": (await client.post(f"{url}/say", json={"text": "And now?"})).json(),
            "ThreadHead": (await client.get("/threads")).json()[0],
            "Thread": (await client.get(f"/threads/{opened['id']}")).json(),
        }

    for line in lines:
        checker(document, "Line").validate(line)
    for name, content in told.items():
        checker(document, name).validate(content)
    assert {"turn_complete", "lifecycle", "text_delta", "text", "reasoning"} <= {line["kind"] for line in lines}


async def test_a_new_token_is_told_as_described(app_of: AppOf, client_of: ClientOf, closed: Closed) -> None:
    async with client_of(app_of(token=TOKEN)) as client:
        document = closed(await described(client))
        rotated = await client.post("/token/rotate", headers=BEARER)
        entry = (await client.get("/audit")).json()[0]

    checker(document, "Rotated").validate(rotated.json())
    Draft202012Validator(document["components"]["schemas"]["AuditEntry"]).validate(entry)

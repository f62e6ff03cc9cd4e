"""Every route's answers, to a client in this process."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette

from discussion_helper.doctor import Finding
from discussion_helper.errors import DeviceError, EndpointUnreachable, ModelMissing
from discussion_helper.policy import Policy
from discussion_helper.registry import Sessions
from discussion_helper.responder.endpoint import EndpointResponder
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.text import Manager
from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider
from discussion_helper.web import Limits, Wish, bound_socket

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ManagerOf = Callable[..., Manager]
ClientOf = Callable[..., Any]
Settled = Callable[[], Awaitable[None]]
FAKE = {"transport": "fake"}
TEXT = {"kind": "text"}


async def test_a_fake_session_is_opened_spoken_to_and_ended(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of()) as client:
        opened = await client.post("/sessions", json=FAKE)
        state = opened.json()
        url = state["url"]
        session = session_at(client, url)
        async with session.events("timing") as events:
            said = await client.post(f"{url}/say", json={"text": "Hello"})
            await anext(events)
        shown = await client.get(url)
        ended = await client.delete(url)
        gone = [await client.get(url), await client.delete(url), await client.post(f"{url}/say", json={"text": "x"})]

    assert (201, url) == (opened.status_code, opened.headers["location"])
    assert {"id", "url", "kind", "floor", "running", "utterances", "timings"} <= state.keys()
    assert url == f"/sessions/{state['id']}"
    assert (202, 200) == (said.status_code, shown.status_code)
    assert [("user", "Hello"), ("agent", "Hello")] == [(u["speaker"], u["text"]) for u in ended.json()["utterances"]]
    assert 1 == len(ended.json()["timings"])
    assert [404, 404, 404] == [answer.status_code for answer in gone]


async def test_a_script_is_heard_to_its_end_and_the_session_is_not_spoken_to_after(
    app_of: AppOf, client_of: ClientOf
) -> None:
    async with client_of(app_of()) as client:
        url = (await client.post("/sessions", json={**FAKE, "turns": ["One", "Two"]})).json()["url"]
        session = session_at(client, url)
        await session.wait()
        said = await client.post(f"{url}/say", json={"text": "Three"})
        interrupted = await client.post(f"{url}/interrupt")
        listed = await client.get("/sessions")
        ended = await client.delete(url)

    assert 409 == said.status_code
    assert {"interrupted": False} == interrupted.json()
    assert [] == listed.json()
    assert ["One", "One", "Two", "Two"] == [u["text"] for u in ended.json()["utterances"]]


async def test_who_only_types_is_answered(app_of: AppOf, client_of: ClientOf) -> None:
    made: list[Wish] = []

    def answers(wish: Wish) -> EchoResponder:
        made.append(wish)
        return EchoResponder(2)

    async with client_of(app_of(open_responder=answers)) as client:
        body = {"transport": "remote", "language": "de", "max_reply_sentences": 1}
        url = (await client.post("/sessions", json=body)).json()["url"]
        async with session_at(client, url).events("timing") as events:
            await client.post(f"{url}/say", json={"text": "Hello"})
            await anext(events)
        state = (await client.get(url)).json()

    assert ["Hello", "Hello"] == [u["text"] for u in state["utterances"]]
    assert ("de", 1) == (made[0].language, made[0].policy.max_reply_sentences)


async def test_a_local_session_has_its_devices_for_as_long_as_it_lasts(
    app_of: AppOf, client_of: ClientOf, settled: Settled
) -> None:
    held: list[str] = []

    @asynccontextmanager
    async def devices(wish: Wish) -> AsyncIterator[Session]:
        held.append("open")
        try:
            listener = ScriptedListener([], stays_open=True)
            yield Session(listener, EchoResponder(), SilentVoice(), wish.policy)
        finally:
            held.append("closed")

    async with client_of(app_of(open_voice=devices)) as client:
        first = (await client.post("/sessions", json={"transport": "local"})).json()
        await client.delete(first["url"])
        await settled()
        assert ["open", "closed"] == held
        second = await client.post("/sessions")
        assert (201, True) == (second.status_code, second.json()["running"])

    assert ["open", "closed"] * 2 == held


async def test_a_session_at_a_microphone_has_the_servers_policy_as_far_as_it_brings_none(
    app_of: AppOf, client_of: ClientOf
) -> None:
    made: list[Policy] = []

    @asynccontextmanager
    async def devices(wish: Wish) -> AsyncIterator[Session]:
        made.append(wish.policy)
        yield Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice(), wish.policy)

    def remote(wish: Wish) -> Any:
        made.append(wish.policy)
        return fake_remote_talk((), policy=wish.policy)

    usual = Policy(turn_policy="push_to_talk", barge_in_min_words=2)
    async with client_of(app_of(open_voice=devices, open_remote=remote, policy=usual)) as client:
        for transport in ("local", "remote"):
            await client.post("/sessions", json={"transport": transport, "turn_policy": "open"})
            at = await client.post("/sessions", json={"transport": transport, "max_reply_sentences": 2})
        pressed = await client.post(f"{at.json()['url']}/press")
        wrong = await client.post("/sessions", json={"turn_policy": "closed"})
        fake = (await client.post("/sessions", json=FAKE)).json()

    assert [replace(usual, turn_policy="open"), replace(usual, max_reply_sentences=2)] * 2 == made
    assert "push_to_talk" == at.json()["turn_policy"]
    assert "No key: the microphone is muted." == pressed.json()["error"]  # there is one: nobody is at it yet
    assert "connect the client" in pressed.json()["fix"]
    assert (422, "open") == (wrong.status_code, fake["turn_policy"])


@pytest.mark.parametrize(
    ("error", "status"),
    [(ModelMissing("No model.", fix="Pull it."), 503), (DeviceError("No device.", fix="Pull it."), 503)],
)
async def test_a_missing_part_is_told_with_the_fix(
    app_of: AppOf, error: Exception, status: int, client_of: ClientOf
) -> None:
    @asynccontextmanager
    async def devices(_: Wish) -> AsyncIterator[Session]:
        raise error
        yield

    async with client_of(app_of(open_voice=devices)) as client:
        answer = await client.post("/sessions", json={"transport": "local"})
        none = await client.get("/sessions")

    assert (status, "Pull it.") == (answer.status_code, answer.json()["fix"])
    assert [] == none.json()


@pytest.mark.parametrize("body", [{"transport": "local"}, TEXT, {**FAKE, "thread_id": "abcdefgh"}])
async def test_what_this_server_does_not_have_is_told_with_the_fix(
    app_of: AppOf, body: dict[str, str], client_of: ClientOf
) -> None:
    async with client_of(app_of()) as client:
        answers = [await client.post("/sessions", json=body), await client.get("/threads")]

    for answer in answers:
        assert (503, True) == (answer.status_code, "create_app" in answer.json()["fix"])


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "body: "),
        (b"[1]", "body: "),
        (b"\xff", "body: "),
        (b'{"turns": ["\\ud800"]}', "body: "),
        (b'{"turns":' + b"[" * 5000, "body: "),
        (b'{"kind": "video"}', "kind: "),
        (b'{"transport": 1}', "transport: "),
        (b'{"transport": "fake", "turns": ["a", 1]}', "turns[1]: "),
        (b'{"transport": "remote", "turns": ["a"]}', "turns: "),
        (b'{"nonsense": 1}', "nonsense: "),
        (b'{"transport": "fake", "max_reply_sentences": -1}', "max_reply_sentences: "),
        (b'{"transport": "fake", "silence_timeout_s": NaN}', "silence_timeout_s: "),
        (b'{"kind": "text", "allow_barge_in": true}', "allow_barge_in: "),
    ],
)
async def test_a_bad_body_is_refused_by_the_fields_name_with_the_fix(
    app_of: AppOf, body: bytes, says: str, client_of: ClientOf
) -> None:
    async with client_of(app_of()) as client:
        answer = await client.post("/sessions", content=body)

    assert 422 == answer.status_code
    assert answer.json()["error"].startswith(says)
    assert answer.json()["fix"]
    assert {"error", "fix"} == answer.json().keys()


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("say", {}, "text: "),
        ("say", {"text": " "}, "text: "),
        ("say", {"text": "a", "loud": True}, "loud: "),
        ("messages", {"content": 1}, "content: "),
        ("messages", {"content": "a", "kinds": ["nonsense"]}, "kinds: "),
    ],
)
async def test_bad_words_are_refused(
    app_of: AppOf, manager_of: ManagerOf, echo: ScriptedProvider, path: str, body: Any, says: str, client_of: ClientOf
) -> None:
    async with manager_of(echo) as manager, client_of(app_of(manager=manager)) as client:
        url = (await client.post("/sessions", json=TEXT)).json()["url"]
        answer = await client.post(f"{url}/{path}", json=body)

    assert (422, True) == (answer.status_code, answer.json()["error"].startswith(says))
    assert [] == echo.states


async def test_a_text_session_is_opened_on_a_new_thread_and_again_on_the_stored_one(
    app_of: AppOf, manager_of: ManagerOf, echo: ScriptedProvider, client_of: ClientOf
) -> None:
    async with manager_of(echo) as manager, client_of(app_of(manager=manager)) as client:
        first = (await client.post("/sessions", json=TEXT)).json()
        lines = await client.post(f"{first['url']}/messages", json={"content": "hi"})
        busy = await client.delete(f"/threads/{first['id']}")
        ended = await client.delete(first["url"])
        again = await client.post("/sessions", json={**TEXT, "thread_id": first["id"]})
        unknown = [
            await client.post("/sessions", json={**TEXT, "thread_id": name}) for name in ("unknown-thread", "../x")
        ]

    assert ("text", True) == (first["kind"], first["running"])
    assert 200 == lines.status_code
    assert (409, True) == (busy.status_code, first["id"] in busy.json()["fix"])
    assert ["hi", "Hello world"] == [u["text"] for u in ended.json()["utterances"]]
    assert (201, first["id"]) == (again.status_code, again.json()["id"])
    assert ["hi", "Hello world"] == [u["text"] for u in again.json()["utterances"]]
    assert [404, 404] == [answer.status_code for answer in unknown]


async def test_threads_are_listed_shown_and_deleted(
    app_of: AppOf, manager_of: ManagerOf, echo: ScriptedProvider, client_of: ClientOf
) -> None:
    async with manager_of(echo) as manager, client_of(app_of(manager=manager)) as client:
        none = await client.get("/threads")
        opened = (await client.post("/sessions", json=TEXT)).json()
        await client.post(f"{opened['url']}/messages", json={"content": "hi"})
        await client.delete(opened["url"])
        listed = (await client.get("/threads")).json()
        shown = (await client.get(f"/threads/{opened['id']}")).json()
        deleted = [await client.delete(f"/threads/{opened['id']}") for _ in range(2)]
        missing = await client.get("/threads/..%2F..%2Fetc")

    assert [] == none.json()
    assert [{key: shown[key] for key in ("id", "created_at", "updated_at", "turn_count", "first")}] == listed
    assert (2, "hi") == (shown["turn_count"], shown["first"])
    assert [("user", "hi"), ("assistant", "Hello world")] == [
        (turn["role"], turn["artifacts"][0]["content"]) for turn in shown["turns"]
    ]
    assert [204, 404] == [answer.status_code for answer in deleted]
    assert 404 == missing.status_code


async def test_a_spoken_session_is_stored_in_a_thread(
    app_of: AppOf, manager_of: ManagerOf, echo: ScriptedProvider, client_of: ClientOf
) -> None:
    async with manager_of(echo) as manager, client_of(app_of(manager=manager)) as client:
        thread = await manager.store.create()
        body = {**FAKE, "turns": ["Hello"], "thread_id": thread.id}
        url = (await client.post("/sessions", json=body)).json()["url"]
        await session_at(client, url).wait()
        turns = (await client.get(f"/threads/{thread.id}")).json()["turns"]

    assert ["user", "assistant"] == [turn["role"] for turn in turns]


async def test_cancel_ends_the_running_turn_alone_and_interrupt_what_waits_too(
    app_of: AppOf, manager_of: ManagerOf, client_of: ClientOf, settled: Settled
) -> None:
    stuck = ScriptedProvider([FOREVER])
    async with manager_of(stuck) as manager, client_of(app_of(manager=manager)) as client:
        url = (await client.post("/sessions", json=TEXT)).json()["url"]
        idle = [await client.post(f"{url}/cancel"), await client.post(f"{url}/interrupt")]
        for text in ("one", "two", "three"):
            await client.post(f"{url}/say", json={"text": text})
        await stuck.asked()
        cancelled = await client.post(f"{url}/cancel")
        await stuck.asked(2)
        interrupted = await client.post(f"{url}/interrupt")
        stream = manager.list()[0]
        async with stream.subscribe("lifecycle") as phases:
            while stream.busy or stream.pending:
                await anext(phases)
                await settled()

    assert [{"cancelled": False}, {"interrupted": False}] == [answer.json() for answer in idle]
    assert {"cancelled": True} == cancelled.json()
    assert {"interrupted": True} == interrupted.json()
    assert 2 == len(stuck.states)


async def test_what_a_voice_session_cannot_do_is_told(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of()) as client:
        url = (await client.post("/sessions", json=FAKE)).json()["url"]
        answers = [
            await client.post(f"{url}/cancel"),
            await client.post(f"{url}/messages", json={"content": "hi"}),
            await client.get(f"{url}/events?kinds=text_delta"),
            await client.get(f"{url}/events?kinds=floor,nonsense"),
        ]
        head = await client.head(f"{url}/events")

    assert [409, 409, 422, 422] == [answer.status_code for answer in answers]
    assert "'nonsense'" in answers[3].json()["error"]
    assert (200, b"") == (head.status_code, head.content)


async def test_the_registry_that_is_given_is_used_also_an_empty_one_and_left_to_its_owner(
    app_of: AppOf, client_of: ClientOf
) -> None:
    sessions: Sessions[Any] = Sessions()
    async with client_of(app_of(sessions)) as client:
        opened = (await client.post("/sessions", json=FAKE)).json()
        assert [opened["id"]] == sessions.ids() == (await client.get("/sessions")).json()

    assert [opened["id"]] == sessions.ids()
    await sessions.aclose()


async def test_an_apps_own_registry_ends_with_it(app_of: AppOf, client_of: ClientOf) -> None:
    app = app_of()
    async with client_of(app) as client:
        opened = (await client.post("/sessions", json=FAKE)).json()
        session = app.state.sessions.get(opened["id"])

    assert session.ended


async def test_a_manager_of_another_registry_is_refused(
    app_of: AppOf, manager_of: ManagerOf, echo: ScriptedProvider
) -> None:
    with pytest.raises(ValueError, match="manager: "):
        app_of(Sessions(), manager=manager_of(echo))


async def test_no_more_sessions_than_may_be(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of(limits=Limits(sessions=3))) as client:
        answers = [await client.post("/sessions", json=FAKE) for _ in range(4)]
        await client.delete(answers[0].json()["url"])
        again = await client.post("/sessions", json=FAKE)

    assert [201, 201, 201, 503] == [answer.status_code for answer in answers]
    fix = "Close one of them, or raise the limit (create_app: Limits.sessions)."
    assert (201, fix) == (again.status_code, answers[3].json()["fix"])


async def test_a_thousand_sessions_and_not_one_more(app_of: AppOf, client_of: ClientOf) -> None:
    sessions: Sessions[Any] = Sessions()
    for _ in range(1000):
        sessions.add(Session(ScriptedListener([]), EchoResponder(), SilentVoice()))
    async with client_of(app_of(sessions)) as client:
        answer = await client.post("/sessions", json=FAKE)

    assert 503 == answer.status_code


async def test_health_tells_each_part_and_looks_again_only_after_a_while(app_of: AppOf, client_of: ClientOf) -> None:
    looked: list[int] = []

    class Found:
        part, ok, found, fix, uses = "voice", False, "no model", "Pull it.", ("voice",)

    def examine() -> list[Found]:
        looked.append(1)
        return [Found()]

    async with client_of(app_of(examine=examine)) as client:
        answers = [await client.get("/health") for _ in range(2)]
    async with client_of(app_of()) as client:
        bare = await client.get("/health")

    parts = [{"part": "voice", "ok": False, "found": "no model", "fix": "Pull it."}]
    uses = {"voice": {"ok": False, "missing": ["voice"]}}
    told = {"ok": False, "uses": uses, "parts": parts, "sessions": 0, "keeps": False}
    assert told == answers[0].json() == answers[1].json()
    assert [1] == looked
    uses = {"voice": {"ok": True, "missing": []}}
    assert {"ok": True, "uses": uses, "parts": [], "sessions": 0, "keeps": False} == bare.json()


async def test_health_tells_what_the_server_can_be_used_for(
    app_of: AppOf, manager_of: ManagerOf, echo: ScriptedProvider, client_of: ClientOf
) -> None:
    silent = Finding("microphone", False, "none", "Connect one.")
    mute = Finding("language model", False, "none", "Pull it.", ("voice", "text"))
    told = []
    async with manager_of(echo) as manager:
        for found in ([], [silent], [silent, mute]):
            async with client_of(app_of(manager=manager, examine=lambda found=found: found)) as client:
                health = (await client.get("/health")).json()
            told.append((health["ok"], *(health["uses"][use]["missing"] for use in ("voice", "text"))))

    assert (True, [], []) == told[0]
    assert (True, ["microphone"], []) == told[1]
    assert (False, ["microphone", "language model"], ["language model"]) == told[2]


async def test_an_unknown_address_and_a_wrong_method_are_told_in_json(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of()) as client:
        answers = [
            await client.get("/nothing"),
            await client.get("/sessions/"),
            await client.put("/sessions"),
            await client.get("/sessions/no-such-session/events"),
        ]

    assert [404, 404, 405, 404] == [answer.status_code for answer in answers]
    assert all({"error", "fix"} == answer.json().keys() for answer in answers)
    assert "Use /health, /sessions, /sessions/ID/events or /threads." == answers[0].json()["fix"]
    assert ("GET, HEAD, POST", "Use GET, HEAD, POST.") == (answers[2].headers["allow"], answers[2].json()["fix"])


async def test_a_failure_inside_is_a_plain_500_and_in_the_log(
    app_of: AppOf, caplog: pytest.LogCaptureFixture, client_of: ClientOf
) -> None:
    def broken(_: Wish) -> Session:
        raise ZeroDivisionError("a secret detail")

    async with client_of(app_of(open_fake=broken)) as client:
        with caplog.at_level(logging.ERROR):
            answer = await client.post("/sessions", json=FAKE)

    assert 500 == answer.status_code
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    assert "a secret detail" in caplog.text


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_that_is_too_large_is_refused(app_of: AppOf, chunked: bool, client_of: ClientOf) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(70):
            yield b" " * 1024

    async with client_of(app_of()) as client:
        answer = await client.post("/sessions", content=pieces() if chunked else b" " * 70_000)
        fits = await client.post("/sessions", content=b'{"transport": "fake"}' + b" " * 60_000)

    assert 413 == answer.status_code
    assert 201 == fits.status_code


async def test_a_body_that_does_not_come_and_an_answer_that_does_not_come_have_a_limit(
    app_of: AppOf, client_of: ClientOf
) -> None:
    never = anyio.Event()

    @asynccontextmanager
    async def stuck(_: Wish) -> AsyncIterator[Session]:
        await never.wait()
        raise AssertionError
        yield

    async def slow() -> AsyncIterator[bytes]:
        yield b"{"
        await never.wait()

    app = app_of(open_voice=stuck, limits=Limits(request_s=0.2, body_s=0.1))
    async with client_of(app) as client:
        late = [await client.post("/sessions", content=slow()), await client.post("/sessions")]

    assert [408, 503] == [answer.status_code for answer in late]


@pytest.mark.parametrize("limits", [{"sessions": 0}, {"body": -1}, {"send_s": float("nan")}])
def test_a_limit_that_is_none_is_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(limits))}: "):
        Limits(**limits)


async def test_the_state_of_a_voice_session_that_failed_says_why_and_holds_no_secret(
    app_of: AppOf, client_of: ClientOf
) -> None:
    with bound_socket("127.0.0.1", 0) as free:
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    responder = EndpointResponder(base_url=nobody, model="m", api_key="sk-secret", first_token_s=1.0)
    session = Session(ScriptedListener(["Hello"]), responder, SilentVoice(), id="failed-one")
    app = app_of()
    async with client_of(app) as client:
        app.state.sessions.add(session.start())
        with pytest.raises(EndpointUnreachable):
            await session.wait()
        shown = await client.get("/sessions/failed-one")

    state = shown.json()
    assert (False, "failed") == (state["running"], state["reason"])
    assert "cannot be reached" in state["error"]
    assert "sk-secret" not in shown.text


async def test_the_state_says_what_the_key_is_for(app_of: AppOf, client_of: ClientOf) -> None:
    async with client_of(app_of()) as client:
        url = (await client.post("/sessions", json={**FAKE, "turn_policy": "push_to_talk"})).json()["url"]
        session_at(client, url).discussion._record.report("attention", state="pressed", why="push to talk")
        state = (await client.get(url)).json()

    assert ("push_to_talk", "pressed") == (state["turn_policy"], state["attention"])


def session_at(client: Any, url: str) -> Any:
    """The session at that address, in the registry of the app that the client asks."""
    return client._transport.app.state.sessions.get(url.rpartition("/")[2])


@pytest.mark.parametrize("what", ["press", "release"])
async def test_a_key_is_pressed_where_there_is_one(app_of: AppOf, client_of: ClientOf, what: str) -> None:
    async with client_of(app_of()) as client:
        url = (await client.post("/sessions", json={**FAKE, "turn_policy": "push_to_talk"})).json()["url"]
        session = session_at(client, url)
        refused = await client.post(f"{url}/{what}")
        listener, pressed = session.discussion.listener, []

        async def key(down: bool) -> None:
            pressed.append(down)

        listener.press, listener.release = (lambda: key(True)), (lambda: key(False))
        taken = await client.post(f"{url}/{what}")

    assert (409, 200) == (refused.status_code, taken.status_code)
    assert [what == "press"] == pressed
    assert (what == "press") is taken.json()["pressed"]


async def test_a_microphone_is_muted_where_there_is_one(
    app_of: AppOf, manager_of: ManagerOf, client_of: ClientOf, settled: Settled
) -> None:
    told: list[bool] = []

    class Ear(ScriptedListener):
        async def mute(self, on: bool) -> None:
            told.append(on)
            assert self._reporter is not None
            self._reporter.report("device", which="microphone", state="muted" if on else "open")

    @asynccontextmanager
    async def open_voice(wish: Wish) -> AsyncIterator[Session]:
        yield Session(Ear((), stays_open=True), EchoResponder(), SilentVoice(), wish.policy)

    app = app_of(manager=manager_of(ScriptedProvider()), open_voice=open_voice)
    async with client_of(app) as client:
        local, fake, text = [
            (await client.post("/sessions", json=body)).json()["url"] for body in ({"transport": "local"}, FAKE, TEXT)
        ]
        await settled()  # it runs
        muted = await client.post(f"{local}/mute", json={"on": True})
        state = (await client.get(local)).json()
        opened = await client.post(f"{local}/mute", json={"on": False})
        without = [await client.post(f"{url}/mute", json={"on": True}) for url in (fake, text)]
        wrong = [await client.post(f"{local}/mute", json=body) for body in ({}, {"on": 1}, {"on": "true"})]

    assert [True, False] == told
    assert [{"muted": True}, {"muted": False}] == [muted.json(), opened.json()]
    assert ("local", "muted") == (state["transport"], state["microphone"])
    assert [409, 409] == [answer.status_code for answer in without]
    assert [422, 422, 422] == [answer.status_code for answer in wrong]
    assert all(answer.json()["error"].startswith("on: ") for answer in wrong)

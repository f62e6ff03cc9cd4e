"""What is no id, no cursor and no kind goes into no request."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from discussion_helper.client import Client, Link
from discussion_helper.client.audio import AudioClient
from discussion_helper.client.paths import LONGEST_ID, check_cursor, session_path, thread_path
from discussion_helper.errors import SettingError

pytestmark = pytest.mark.anyio

NO_IDS: list[Any] = [
    *("", ".", "..", "...", " ", ". .", "a/b", "../threads", "a\\b", "%2e%2e", "%2f", "a?b", "a#b"),
    *("a\nb", "a\x00", "a\u2028", "\ud800", "x" * (LONGEST_ID + 1), "x" * 1000, None, 5, b"abc"),
]
CALLS: dict[str, Callable[[Client, Any], Any]] = {
    "state": lambda client, told: client.state(told),
    "say": lambda client, told: client.say(told, "hi"),
    "speak": lambda client, told: client.speak(told, "hi"),
    "interrupt": lambda client, told: client.interrupt(told),
    "cancel": lambda client, told: client.cancel(told),
    "press": lambda client, told: client.press(told),
    "release": lambda client, told: client.release(told),
    "mute": lambda client, told: client.mute(told),
    "end": lambda client, told: client.end(told),
    "thread": lambda client, told: client.thread(told),
    "forget": lambda client, told: client.forget(told),
}


@pytest.mark.parametrize("told", NO_IDS, ids=range(len(NO_IDS)))
async def test_what_is_no_id_is_told_by_its_name_and_asked_for_nowhere(told: Any) -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={})

    async with Client("http://127.0.0.1:1", transport=httpx.MockTransport(answer)) as client:
        for name, call in CALLS.items():
            field = "thread_id" if name in ("thread", "forget") else "session_id"
            with pytest.raises(SettingError, match=f"^{field}: .* is no id\\. Use one that the server gave"):
                await call(client, told)
        with pytest.raises(SettingError, match="session_id: "):
            client.follow(told)
    with pytest.raises(SettingError, match="session_id: "):
        AudioClient(Link.of("http://127.0.0.1:1"), told)

    assert [] == asked


@pytest.mark.parametrize(
    ("told", "path"),
    [
        ("Zx9_-aB3.d~e", "Zx9_-aB3.d~e"),
        ("call 17", "call%2017"),
        ("K\u00fcche", "K%C3%BCche"),
        ("..a", "..a"),
        ("a:b@c&d=e+f;g", "a%3Ab%40c%26d%3De%2Bf%3Bg"),
    ],
)
async def test_an_id_is_quoted_and_arrives_as_it_is(told: str, path: str) -> None:
    paths: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path.decode())
        return httpx.Response(200, json={"interrupted": True})

    async with Client("http://127.0.0.1:1", transport=httpx.MockTransport(answer)) as client:
        await client.interrupt(told)

    assert [f"/sessions/{path}/interrupt"] == paths
    assert (f"/sessions/{path}", f"/threads/{path}") == (session_path(told), thread_path(told))


@pytest.mark.parametrize(
    "told", ["\u00e9", "a\nb", "a\r\nX: y", "\ud800", "x" * 201, None, 5, " ", " abc", "abc ", "a b"], ids=range(11)
)
def test_what_no_event_has_as_its_id_is_told_by_its_name(told: Any) -> None:
    client = Client("http://127.0.0.1:1")
    with pytest.raises(SettingError, match=r"^after: .* is the id of no event"):
        client.follow("a-session", after=told)
    with pytest.raises(SettingError, match=r"^cursor: "):
        check_cursor("cursor", told)


def test_what_is_no_kind_is_told() -> None:
    client = Client("http://127.0.0.1:1")
    no_kinds: list[Any] = ["\ud800", "a\nb", None, "", " ", "a ", "a,b", ",", "x" * 65, "x" * 70_000]
    for kind in no_kinds:
        for kinds in ((kind,), ("floor", kind)):
            with pytest.raises(SettingError, match=r"^kinds: .* is no kind of event"):
                client.follow("a-session", *kinds)
    with pytest.raises(SettingError, match=r"^kinds: there are no 2000 kinds"):
        client.follow("a-session", *map(str, range(2000)))


@pytest.mark.parametrize("kinds", [("*",), ("floor", "tool-call", "a.b:c_9"), tuple(f"{n:064}" for n in range(100))])
async def test_what_may_be_one_is_asked_for(kinds: tuple[str, ...]) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.params["kinds"])
        return httpx.Response(204)

    client = Client("http://127.0.0.1:1", transport=httpx.MockTransport(answer))
    async with client, client.follow("a-session", *kinds):
        pass

    assert [",".join((*kinds, "ended"))] == asked

"""What the audit keeps, whatever floods it."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette

from discussion_helper.web.audit import Audit
from discussion_helper.web.entries import KEPT, Entries

FLOOD = 5 * KEPT


def kinds_of(audit: Audit, **about: str) -> list[str]:
    return [entry["kind"] for entry in audit.entries if about.items() <= entry.items()]


def test_a_flood_of_refused_tokens_pushes_out_nothing_else() -> None:
    audit = Audit()
    audit.note("login", by="link", address="10.0.0.1")
    audit.note("microphone_opened", where="local", session="mine", by="me")
    audit.note("token_rotated", by="signal")
    for number in range(FLOOD):
        audit.note("login_failed", by="token", address=f"10.1.{number % 250}.{number // 250}")

    assert ["token_rotated", "microphone_opened", "login"] == [
        entry["kind"] for entry in audit.entries if entry["kind"] != "login_failed"
    ]
    assert KEPT + 3 == len(audit.entries)


def test_a_flood_of_one_session_leaves_the_openings_of_the_others() -> None:
    audit = Audit()
    for session in ("first", "second"):
        audit.note("microphone_opened", where="remote", session=session, by="me")
    for _ in range(FLOOD):
        for kind in ("microphone_opened", "microphone_closed"):
            audit.note(kind, where="remote", session="loud", by="somebody")

    assert ["microphone_opened"] == kinds_of(audit, session="first") == kinds_of(audit, session="second")
    assert ["microphone_closed", "microphone_opened"] == kinds_of(audit)[:2]
    assert 2 * KEPT == len(audit.entries)


def test_somebody_with_64_bits_of_addresses_pushes_out_no_failures_of_others() -> None:
    audit = Audit()
    for number in range(5):
        audit.note("login_failed", by="password", address=f"10.0.0.{number}")
    for number in range(FLOOD):
        audit.note("login_failed", by="password", address=f"2001:db8::{number:x}")

    assert 5 == sum(entry["address"].startswith("10.") for entry in audit.entries)


def test_of_many_who_fail_once_the_newest_are_kept_in_their_order() -> None:
    entries = Entries()
    for number in range(KEPT + 10):
        entries.add({"kind": "login_failed" if number % 2 else "login", "address": str(number)})
        entries.add({"kind": "login_failed", "address": str(number)})

    told = [int(entry["address"]) for entry in entries.newest_first]
    assert sorted(told, reverse=True) == told
    assert (KEPT + 9, KEPT) == (told[0], sum(entry["kind"] == "login_failed" for entry in entries.newest_first))


@pytest.mark.anyio
async def test_who_mutes_a_remote_session_over_http_is_on_record(
    app_of: Callable[..., Starlette], client_of: Any
) -> None:
    app = app_of()
    async with client_of(app, headers={"User-Agent": "a test"}) as client:
        url = (await client.post("/sessions", json={"transport": "fake"})).json()["url"]
        session = app.state.sessions.get(url.rpartition("/")[2])
        muted: list[bool] = []

        async def mute(on: bool) -> None:
            muted.append(on)

        session.mute = mute
        with app.state.audit.remote(session.id, "10.0.0.1 Chrome", "my phone") as microphone:
            microphone.is_now(True)
            for on in (True, False):
                assert 200 == (await client.post(f"{url}/mute", json={"on": on})).status_code
        await client.post(f"{url}/mute", json={"on": True})  # nobody has it: nothing is closed
        told = list(reversed((await client.get("/audit")).json()))

    assert [True, False, True] == muted
    assert [
        ("microphone_opened", "10.0.0.1 Chrome"),
        ("microphone_closed", "127.0.0.1 a test"),
        ("microphone_opened", "127.0.0.1 a test"),
        ("microphone_closed", "10.0.0.1 Chrome"),
    ] == [(entry["kind"], entry["by"]) for entry in told]
    assert {("remote", session.id, "my phone")} == {(e["where"], e["session"], e["name"]) for e in told}

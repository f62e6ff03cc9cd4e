"""/health?ready=USE, for what starts servers and looks whether they can be used."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette

from discussion_helper.doctor import Finding
from discussion_helper.text import Manager
from discussion_helper.text.providers.scripted import ScriptedProvider

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]


async def test_the_status_says_whether_one_use_can_be_had(
    app_of: AppOf, client_of: Any, manager_of: Callable[..., Manager], echo: ScriptedProvider
) -> None:
    found = [Finding("microphone", False, "none", "Connect one."), Finding("disk", True, "much")]
    async with manager_of(echo) as manager, client_of(app_of(manager=manager, examine=lambda: found)) as client:
        text, voice, other = [
            await client.get("/health", params={"ready": use}) for use in ("text", "voice", "x" * 200)
        ]

    assert (200, {"ready": "text", "ok": True, "missing": [], "fixes": []}) == (text.status_code, text.json())
    told = {"ready": "voice", "ok": False, "missing": ["microphone"], "fixes": ["Connect one."]}
    assert (503, told) == (voice.status_code, voice.json())
    assert (422, "Use voice or text.") == (other.status_code, other.json()["fix"])
    assert len(other.json()["error"]) < 200


async def test_it_is_behind_the_same_door(app_of: AppOf, client_of: Any) -> None:
    async with client_of(app_of(token="a-token")) as client:
        assert 401 == (await client.get("/health?ready=voice")).status_code

"""/health?ready=USE, for what starts servers and looks whether they can be used."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from discussion_helper.doctor import Finding, examine
from discussion_helper.errors import DeviceError
from discussion_helper.settings import Settings
from discussion_helper.testing.remote import fake_remote_talk
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


async def test_what_a_server_is_not_there_for_cannot_be_had(app_of: AppOf, client_of: Any) -> None:
    async with client_of(app_of()) as client:
        answers = [await client.get(f"/health?ready={use}") for use in ("voice", "remote", "text")]

    assert [200, 503, 503] == [answer.status_code for answer in answers]
    assert ["open_remote" in answers[1].json()["fix"], "manager" in answers[2].json()["fix"]] == [True, True]


async def test_a_server_for_browsers_needs_no_devices_of_its_own(
    app_of: AppOf, client_of: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_device(*_: object) -> None:
        raise DeviceError("There is none.", fix="Connect one.")

    monkeypatch.setattr("discussion_helper.audio.devices.find_device", no_device)
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    app = app_of(open_remote=lambda _: fake_remote_talk(()), examine=lambda: examine(Settings()))
    async with client_of(app) as client:
        uses = (await client.get("/health")).json()["uses"]
        remote = await client.get("/health", params={"ready": "remote"})

    assert ["voice", "remote"] == list(uses)
    assert {"microphone", "loudspeaker"} == set(uses["voice"]["missing"]) - set(uses["remote"]["missing"])
    assert ["recogniser", "language model", "voice"] == uses["remote"]["missing"]
    assert 503 == remote.status_code
    assert all("models pull" in fix for fix in remote.json()["fixes"])


async def test_without_devices_and_with_the_models_it_is_ready_for_them(app_of: AppOf, client_of: Any) -> None:
    found = [Finding("microphone", False, "none", "Connect one."), Finding("recogniser", True, "", uses=("remote",))]
    app = app_of(open_remote=lambda _: fake_remote_talk(()), examine=lambda: found)
    async with client_of(app) as client:
        ready = {use: (await client.get(f"/health?ready={use}")).status_code for use in ("voice", "remote")}
        whole = (await client.get("/health")).json()

    assert {"voice": 503, "remote": 200} == ready
    assert (True, {"ok": True, "missing": []}) == (whole["ok"], whole["uses"]["remote"])


async def test_it_is_behind_the_same_door(app_of: AppOf, client_of: Any) -> None:
    async with client_of(app_of(token="a-token")) as client:
        assert 401 == (await client.get("/health?ready=voice")).status_code

"""Fields of a session that somebody names as in the settings file: refused, with the name that is meant."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette

from discussion_helper.config_keys import KEYS, POLICY_FIELDS

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
ANOTHER = {key: name for key, name in POLICY_FIELDS.items() if key != name}
OF_THE_SERVER = sorted(set(KEYS) - set(POLICY_FIELDS) - {"voice", "language", "system"})


async def refused(app_of: AppOf, client_of: Any, body: dict[str, Any]) -> tuple[int, str, str]:
    async with client_of(app_of()) as client:
        answer = await client.post("/sessions", json={"transport": "fake", **body})
    return answer.status_code, *answer.json().values()


@pytest.mark.parametrize(("key", "name"), sorted(ANOTHER.items()))
async def test_the_name_of_the_settings_file_is_refused_with_the_one_to_use(
    app_of: AppOf, client_of: Any, key: str, name: str
) -> None:
    status, what, fix = await refused(app_of, client_of, {key: True})

    assert (422, f"{key}: that is a name in the settings file.") == (status, what)
    assert f"Here its name is {name}." == fix


@pytest.mark.parametrize("key", OF_THE_SERVER)
async def test_what_only_the_server_has_is_named_as_such(app_of: AppOf, client_of: Any, key: str) -> None:
    status, what, fix = await refused(app_of, client_of, {key: "x"})

    assert (422, True) == (status, what.startswith(f"{key}: no session has"))
    assert "settings file" in fix


async def test_what_is_in_neither_is_no_field(app_of: AppOf, client_of: Any) -> None:
    status, what, fix = await refused(app_of, client_of, {"barge-in": True})

    assert (422, "barge-in: there is no such field.") == (status, what)
    assert "allow_barge_in" in fix

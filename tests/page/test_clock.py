"""The clock of a session in the page: it never runs backwards, and tells for how long a connection is lost."""

from typing import Any

import pytest

from discussion_helper.web import create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TEXTS = """async steps => {
  const { Clock } = await import('/page/clock.js');
  const clock = new Clock();
  return steps.map(([session, state, now]) => clock.text(session, { state }, 1000 * now));
}"""


def at(elapsed_s: float, **more: Any) -> dict[str, Any]:
    return {"id": "a-session", "running": True, "elapsed_s": elapsed_s, **more}


STEPS: list[tuple[Any, str, float, str]] = [
    (None, "connecting", 100.0, ""),
    (at(8.2), "live", 100.0, "0:08"),
    (at(8.2), "live", 115.0, "0:23"),  # nothing happened
    (at(8.2), "lost", 116.0, "lost for 0:00"),
    (at(8.2), "lost", 124.0, "lost for 0:08"),
    (at(9.0), "live", 130.0, "0:38"),  # an event that comes late tells an earlier time
    (at(38.2), "live", 130.1, "0:38"),
    (at(45.0), "live", 131.0, "0:45"),
    (at(45.0), "lost", 140.0, "lost for 0:00"),
    (at(45.0), "gone", 150.0, ""),
    (at(3.0, id="another"), "live", 151.0, "0:03"),
    (at(7.5, id="another", running=False), "over", 160.0, "0:07"),
]


async def test_the_clock_goes_on_or_tells_since_when_it_does_not_know(serving: Any, browsing: Any) -> None:
    async with serving(create_app(token="a-token-for-the-page")) as served, browsing(served) as (open_page, _):
        told = await (await open_page()).evaluate(TEXTS, [step[:3] for step in STEPS])
    assert [step[3] for step in STEPS] == told

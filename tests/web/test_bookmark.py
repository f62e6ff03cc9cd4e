"""The ids of events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.web.bookmark import Bookmark


@given(number=st.integers(1, 10**9), events=st.integers(1, 2))
def test_every_event_of_an_item_has_an_id_of_its_own_that_is_read_back(number: int, events: int) -> None:
    places = [Bookmark.at("0a1b2c3d", number, part, of=events) for part in range(1, events + 1)]

    assert places == [Bookmark.parse(str(place)) for place in places]
    assert len(set(places)) == events
    assert f"0a1b2c3d-{number}" == str(places[-1])


@pytest.mark.parametrize(
    "text", ["", "1", "0a1b2c3d", "0a1b2c3d-", "0a1b2c3d-1.", "0A1B2C3D-1", "0a1b2c3d-\u0661", "x" * 99]
)
def test_what_is_no_id_is_none(text: str) -> None:
    assert Bookmark.parse(text) is None


@given(st.text())
def test_any_text_is_an_id_or_none(text: str) -> None:
    place = Bookmark.parse(text)

    assert place is None or Bookmark.parse(str(place)) == place

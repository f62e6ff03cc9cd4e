"""Where a server is, and what lets a program in."""

import pytest

from discussion_helper.client import Link
from discussion_helper.errors import SettingError


@pytest.mark.parametrize(
    ("url", "token", "address", "shown"),
    [
        ("http://127.0.0.1:7654/?token=a.b_c~d-e", None, "http://127.0.0.1:7654", "a.b_c~d-e"),
        ("http://127.0.0.1:7654/?token=old", "new", "http://127.0.0.1:7654", "new"),
        ("http://localhost", None, "http://localhost", None),
        (" https://home.lan:8443/ ", "t", "https://home.lan:8443", "t"),
        ("http://[::1]:7654", "t", "http://[::1]:7654", "t"),
        ("http://home.lan", None, "http://home.lan", None),
    ],
)
def test_a_link_is_the_address_and_the_token(url: str, token: str | None, address: str, shown: str | None) -> None:
    link = Link.of(url, token)

    assert (address, shown) == (link.url, link.token)
    assert ({} if shown is None else {"Authorization": f"Bearer {shown}"}) == link.headers


@pytest.mark.parametrize(
    ("url", "token", "says"),
    [
        ("", None, "url: "),
        ("127.0.0.1:7654", None, "url: "),
        ("ftp://127.0.0.1", None, "url: "),
        ("http://127.0.0.1:0", None, "url: "),
        ("http://127.0.0.1:x", None, "url: "),
        ("http://[::1", None, "url: "),
        ("http://me:secret@127.0.0.1", None, "url: "),
        ("http://127.0.0.1/page", None, "url: "),
        ("http://127.0.0.1", "two words", "token: "),
        ("http://127.0.0.1", "", "token: "),
        ("http://home.lan/?token=secret", None, "url: .*clear text"),
    ],
)
def test_what_is_no_link_is_told_without_what_may_be_a_secret(url: str, token: str | None, says: str) -> None:
    with pytest.raises(SettingError, match=says) as refused:
        Link.of(url, token)

    assert "secret" not in str(refused.value)


def test_a_token_goes_to_another_machine_in_clear_text_when_that_was_said() -> None:
    assert "t" == Link.of("http://home.lan", "t", insecure=True).token


def test_no_text_of_it_holds_the_token() -> None:
    assert "secret" not in repr(Link.of("http://127.0.0.1/?token=secret"))


def test_the_address_of_the_sound() -> None:
    assert "ws://127.0.0.1:1/sessions/a%20b/audio" == Link.of("http://127.0.0.1:1").audio_url("a b")
    assert "wss://home.lan/sessions/a/audio" == Link.of("https://home.lan").audio_url("a")

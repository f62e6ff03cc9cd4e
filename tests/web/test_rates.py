"""Token buckets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.web import rates
from discussion_helper.web.audit import LONGEST, NAME, Audit
from discussion_helper.web.entries import KEPT
from discussion_helper.web.rates import ADDRESSES, Rates


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in its first element."""
    time = [0.0]
    monkeypatch.setattr(rates, "now", lambda: time[0])
    return time


def test_a_bucket_fills_up_and_not_further(clock: list[float]) -> None:
    asked = Rates(2.0, 100.0, burst_s=1.0)
    assert [0.0, 0.0, 0.5] == [asked.take("a") for _ in range(3)]
    clock[0] = 0.25
    assert 0.25 == asked.take("a")
    clock[0] = 100.0
    assert [0.0, 0.0, 0.5] == [asked.take("a") for _ in range(3)]
    assert 0.0 == asked.take("b")


def test_all_together_have_one_bucket_which_a_refused_one_takes_nothing_from(clock: list[float]) -> None:
    asked = Rates(1.0, 3.0, burst_s=1.0)
    assert [0.0, 1.0, 1.0, 1.0] == [asked.take("a") for _ in range(4)]
    assert [0.0, 0.0] == [asked.take("b"), asked.take("c")]
    assert pytest.approx(1 / 3) == asked.take("d")


@given(
    asked=st.lists(st.tuples(st.floats(0.0, 3.0), st.sampled_from("abc")), max_size=80),
    per_s=st.sampled_from([0.5, 1.0, 3.0]),
    of_all_per_s=st.sampled_from([1.0, 4.0]),
    burst_s=st.sampled_from([0.5, 2.0, 5.0]),
    shared=st.booleans(),
)
def test_nobody_ever_takes_more_than_the_burst_and_the_rate_allow_and_who_waited_gets_one(
    asked: list[tuple[float, str]], per_s: float, of_all_per_s: float, burst_s: float, shared: bool
) -> None:
    time = [0.0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rates, "now", lambda: time[0])
        bounded = Rates(per_s, of_all_per_s, burst_s=burst_s, shared=shared)
        taken: list[tuple[float, str]] = []
        for pause_s, who in asked:
            time[0] += pause_s
            wait_s = bounded.take(who)
            if wait_s:
                time[0] += wait_s + 1e-9
                assert 0.0 == bounded.take(who)
            taken.append((time[0], who))
    most = 2 * max(1.0, of_all_per_s / 2 * burst_s) if shared else max(1.0, of_all_per_s * burst_s)
    for first, (began_s, _) in enumerate(taken):
        for last in range(first, len(taken)):
            length_s = taken[last][0] - began_s
            some = [who for _, who in taken[first : last + 1]]
            assert len(some) <= most + of_all_per_s * length_s + 1e-6
            assert all(some.count(who) <= max(1.0, per_s * burst_s) + per_s * length_s + 1e-6 for who in "abc")


@pytest.mark.parametrize("where", ["127.0.0.{}", "2001:db8:0:{}::1"])
def test_who_has_taken_nothing_of_late_has_a_share_that_somebody_with_many_addresses_leaves(
    clock: list[float], where: str
) -> None:
    asked = Rates(1.0, 8.0, burst_s=5.0, shared=True)
    crowd = [where.format(number) for number in range(10, 20)]
    taken = [asked.take(address) for _ in range(10) for address in crowd].count(0.0)
    assert 10 + 20 == taken  # the first of each, and half of what is there for all
    assert [0.0, False] == [asked.take("10.0.0.1"), asked.is_its_own("10.0.0.1")]
    assert [True, False] == [asked.take(crowd[-1]) > 0, asked.is_its_own(crowd[-1])]
    assert asked.take("10.0.0.1") > 0
    clock[0] = asked.wait_s("10.0.0.1")
    assert 0.0 == asked.take("10.0.0.1")


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("2001:db8::1", "2001:db8:0:0:ffff::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("a:b", "a:c", False),
    ],
)
def test_64_bits_of_addresses_are_somebodys(clock: list[float], first: str, second: str, same: bool) -> None:
    asked = Rates(1.0, 100.0, burst_s=1.0)
    assert (0.0, same) == (asked.take(first), asked.is_its_own(second))


def test_it_keeps_no_more_addresses_than_it_says(clock: list[float]) -> None:
    asked = Rates(1.0, 1e6, burst_s=1.0)
    for number in range(ADDRESSES + 10):
        asked.take(str(number))
    assert len(asked._of) == ADDRESSES


def test_the_audit_keeps_the_newest_and_lets_nobody_write_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", NAME)
    audit = Audit()
    for number in range(KEPT + 5):
        audit.note("login", by=str(number))
    audit.note("login_failed", by="x\n2026 token_rotated\x1b[0m" + "y" * 1000, address=None)

    newest, second, *_ = audit.entries
    assert len(audit.entries) == KEPT + 1  # of each kind
    assert {"at", "kind", "by"} == newest.keys()
    assert LONGEST == len(newest["by"])
    assert newest["by"].isprintable()
    assert str(KEPT + 4) == second["by"]
    assert "\n" not in caplog.messages[-1]

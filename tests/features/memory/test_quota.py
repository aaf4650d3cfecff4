"""No client writes more often than it may."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.core.errors import RateLimited
from scrubjay.core.policies import Allowance
from scrubjay.features.memory import quota as module
from scrubjay.features.memory.quota import Quota


class Moment:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def admitted(quota: Quota, client: str | None) -> bool:
    try:
        quota.admit(client)
    except RateLimited:
        return False
    return True


def test_as_many_writes_as_fit_into_a_minute_may_come_at_once_and_then_one_by_one() -> None:
    now = Moment()
    quota = Quota(writes_per_minute=30, now=now)
    assert [admitted(quota, "ada") for _ in range(31)] == [True] * 30 + [False]
    with pytest.raises(RateLimited) as refused:
        quota.admit("ada")
    assert refused.value.details == {"retry_after_seconds": 2.0, "writes_per_minute": 30}
    assert admitted(quota, "grace"), "one client's haste is not another's"
    assert admitted(quota, None)
    now.seconds = 1.9
    assert not admitted(quota, "ada")
    now.seconds = 2.1
    assert admitted(quota, "ada")
    assert not admitted(quota, "ada")


@given(
    st.integers(1, 50),
    st.lists(st.one_of(st.none(), st.floats(0, 90)), min_size=1, max_size=200),
)
def test_in_no_minute_are_there_more_than_a_full_bucket_and_what_flowed_into_it(
    limit: int, steps: list[float | None]
) -> None:
    now = Moment()
    quota = Quota(writes_per_minute=limit, now=now)
    times: list[float] = []
    for step in steps:
        if step is None:
            if admitted(quota, "ada"):
                times.append(now.seconds)
        else:
            now.seconds += step
    for first, start in enumerate(times):
        for last in range(first, len(times)):
            assert last - first + 1 <= limit + (times[last] - start) * limit / 60 + 1e-6


def test_no_limit_is_no_limit() -> None:
    quota = Quota()
    assert all(admitted(quota, "ada") for _ in range(10_000))
    assert quota.allowance("ada") is None


def test_the_allowance_of_a_client_is_the_operators_and_the_nameless_share_one() -> None:
    quota = Quota(memories_per_client=5)
    assert quota.allowance("ada") == Allowance("ada", 5)
    assert quota.allowance(None) == Allowance("", 5)


def test_clients_that_are_long_gone_are_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BUCKETS", 3)
    now = Moment()
    quota = Quota(writes_per_minute=1, now=now)
    for client in "abcde":
        assert admitted(quota, client)
    assert len(quota._buckets) == 3  # pyright: ignore[reportPrivateUsage]
    now.seconds = 61
    assert admitted(quota, "e")
    assert len(quota._buckets) == 1  # pyright: ignore[reportPrivateUsage]

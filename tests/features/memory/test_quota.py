"""Limits on writes per minute and on memories per client."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.core.errors import RateLimited
from scrubjay.core.policies import StorageQuota
from scrubjay.features.memory import quota as module
from scrubjay.features.memory.quota import Quota


class FakeMonotonic:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def is_admitted(quota: Quota, client: str | None) -> bool:
    try:
        quota.admit(client)
    except RateLimited:
        return False
    return True


def test_a_burst_of_one_minutes_writes_is_allowed_then_the_steady_rate() -> None:
    now = FakeMonotonic()
    quota = Quota(writes_per_minute=30, now=now)
    assert [is_admitted(quota, "ada") for _ in range(31)] == [True] * 30 + [False]
    with pytest.raises(RateLimited) as refused:
        quota.admit("ada")
    assert refused.value.details == {"retry_after_seconds": 2.0, "writes_per_minute": 30}
    assert is_admitted(quota, "grace"), "the limit applies to each client separately"
    assert is_admitted(quota, None)
    now.seconds = 1.9
    assert not is_admitted(quota, "ada")
    now.seconds = 2.1
    assert is_admitted(quota, "ada")
    assert not is_admitted(quota, "ada")


@given(
    st.integers(1, 50),
    st.lists(st.one_of(st.none(), st.floats(0, 90)), min_size=1, max_size=200),
)
def test_no_minute_has_more_writes_than_the_bucket_and_its_refill(limit: int, steps: list[float | None]) -> None:
    now = FakeMonotonic()
    quota = Quota(writes_per_minute=limit, now=now)
    times: list[float] = []
    for step in steps:
        if step is None:
            if is_admitted(quota, "ada"):
                times.append(now.seconds)
        else:
            now.seconds += step
    for first, start in enumerate(times):
        for last in range(first, len(times)):
            assert last - first + 1 <= limit + (times[last] - start) * limit / 60 + 1e-6


def test_a_limit_of_zero_means_unlimited() -> None:
    quota = Quota()
    assert all(is_admitted(quota, "ada") for _ in range(10_000))
    assert quota.allowance("ada") is None


def test_the_allowance_comes_from_the_settings_and_unnamed_clients_share_one() -> None:
    quota = Quota(memories_per_client=5)
    assert quota.allowance("ada") == StorageQuota("ada", 5)
    assert quota.allowance(None) == StorageQuota("", 5)


def test_buckets_of_idle_clients_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BUCKETS", 3)
    now = FakeMonotonic()
    quota = Quota(writes_per_minute=1, now=now)
    for client in "abcde":
        assert is_admitted(quota, client)
    assert len(quota._buckets) == 3  # pyright: ignore[reportPrivateUsage]
    now.seconds = 61
    assert is_admitted(quota, "e")
    assert len(quota._buckets) == 1  # pyright: ignore[reportPrivateUsage]

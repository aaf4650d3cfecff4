"""Throttling of programs to their CPU share. Numbers are rows of the feature table."""

from dataclasses import dataclass

import pytest

from scrubjay.features.sandbox import time_limits
from scrubjay.features.sandbox.time_limits import BURST_SECONDS, TimeBudget


@dataclass
class Clock:
    wall: float = 1000.0
    cpu: float = 5.0

    def monotonic(self) -> float:
        return self.wall

    def thread_time(self) -> float:
        return self.cpu


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time_limits, "time", clock)
    return clock


def do_nothing() -> None:
    pass


def test_123_the_first_quarter_of_a_second_is_free(clock: Clock) -> None:
    budget = TimeBudget(seconds=10, cpu_share=0.1, on_tick=do_nothing)
    clock.wall += BURST_SECONDS
    clock.cpu += BURST_SECONDS
    assert budget.throttle_seconds == 0


def test_123_a_program_over_its_share_is_paused_until_it_is_within_it(clock: Clock) -> None:
    budget = TimeBudget(seconds=10, cpu_share=0.25, on_tick=do_nothing)
    clock.wall += 1
    clock.cpu += 1
    assert budget.throttle_seconds == pytest.approx((1 - BURST_SECONDS - 0.25) / 0.25)
    clock.wall += budget.throttle_seconds
    assert budget.throttle_seconds == pytest.approx(0)


def test_123_a_program_with_a_whole_core_is_never_paused(clock: Clock) -> None:
    budget = TimeBudget(seconds=10, cpu_share=1, on_tick=do_nothing)
    clock.wall += 5
    clock.cpu += 5
    assert budget.throttle_seconds == 0


def test_123_a_pause_never_exceeds_the_remaining_time(clock: Clock) -> None:
    budget = TimeBudget(seconds=2, cpu_share=0.01, on_tick=do_nothing)
    clock.wall += 1.5
    clock.cpu += 1.5
    assert budget.throttle_seconds == pytest.approx(0.5)

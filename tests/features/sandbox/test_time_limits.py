"""How long a program waits for its share of a processor. Numbers are rows of the feature table."""

from dataclasses import dataclass

import pytest

from scrubjay.features.sandbox import time_limits as clockwork
from scrubjay.features.sandbox.time_limits import BURST_SECONDS, Allowance


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
    monkeypatch.setattr(clockwork, "time", clock)
    return clock


def nothing() -> None:
    pass


def test_123_the_first_quarter_of_a_second_is_free(clock: Clock) -> None:
    allowance = Allowance(seconds=10, cpu_share=0.1, each_tick=nothing)
    clock.wall += BURST_SECONDS
    clock.cpu += BURST_SECONDS
    assert allowance.pause == 0


def test_123_who_is_ahead_waits_until_it_is_not(clock: Clock) -> None:
    allowance = Allowance(seconds=10, cpu_share=0.25, each_tick=nothing)
    clock.wall += 1
    clock.cpu += 1
    assert allowance.pause == pytest.approx((1 - BURST_SECONDS - 0.25) / 0.25)
    clock.wall += allowance.pause
    assert allowance.pause == pytest.approx(0)


def test_123_who_has_a_whole_processor_never_waits(clock: Clock) -> None:
    allowance = Allowance(seconds=10, cpu_share=1, each_tick=nothing)
    clock.wall += 5
    clock.cpu += 5
    assert allowance.pause == 0


def test_123_nobody_waits_longer_than_the_run_may_last(clock: Clock) -> None:
    allowance = Allowance(seconds=2, cpu_share=0.01, each_tick=nothing)
    clock.wall += 1.5
    clock.cpu += 1.5
    assert allowance.pause == pytest.approx(0.5)

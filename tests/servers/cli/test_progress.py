import pytest

from scrubjay.servers.cli.progress import LineProgress


async def lines(capsys: pytest.CaptureFixture[str], *reports: tuple[float, float | None, str]) -> list[str]:
    display = LineProgress("build")
    for report in reports:
        await display.report(*report)
    display.close()
    return capsys.readouterr().err.splitlines()


async def test_a_log_gets_a_line_for_every_ten_per_cent(capsys: pytest.CaptureFixture[str]):
    reports = [(float(done), 1000.0, f"part {done}") for done in range(1001)]
    assert await lines(capsys, *reports) == [
        f"build: {percent}% ({percent * 10}/1000) part {percent * 10}" for percent in range(0, 101, 10)
    ]


async def test_without_a_total_there_is_a_line_each_time_the_count_doubles(capsys: pytest.CaptureFixture[str]):
    reports = [(float(done), None, "") for done in range(100)]
    assert await lines(capsys, *reports) == [f"build: {done}" for done in (0, 1, 2, 4, 8, 16, 32, 64)]


async def test_a_message_stays_on_one_line_and_is_escaped(capsys: pytest.CaptureFixture[str]):
    assert await lines(capsys, (1, 1, "a\nb\x1b[31m")) == ["build: 100% (1/1) a\\nb\\x1b[31m"]

"""Who called what is written once, whole and without secrets, by however many processes."""

import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from scrubjay.core.callers import Caller
from scrubjay.core.errors import InvalidRequest
from scrubjay.features.monitoring.audit import log, repeats
from scrubjay.features.monitoring.audit.file import SharedLines
from scrubjay.features.monitoring.audit.log import AuditLog
from scrubjay.features.monitoring.audit.reader import Wanted, read_page
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.events import CallEnded, RequestRefused, SecurityEvent
from scrubjay.tooling.process_events import PROCESS_EVENTS
from scrubjay.tooling.security_events import request_refused

GITHUB_TOKEN = "ghp_" + "a1B2c3D4e5" * 4


@pytest.fixture
def audit(tmp_path: Path) -> Generator[AuditLog]:
    made = AuditLog(tmp_path / "home", max_bytes=1_000_000, keep_files=3)
    made.subscribe()
    yield made
    made.close()


def entries_in(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home / "audit.jsonl").read_text("utf-8").splitlines()]


def call(
    tool: str = "recall", outcome: str = "ok", caller: str = "owner", key_id: str | None = None, **given: Any
) -> None:
    """Publish a call; `given` are fields of its context, its ids and arguments."""
    ids, arguments = given.pop("ids", ()), given.pop("arguments", {})
    PROCESS_EVENTS.publish(
        CallEnded(
            name=tool, tool=None, arguments=arguments, started=None, accepted=True, outcome=outcome, problem="",
            answer=None, milliseconds=1.5, ids=ids, time=time.time(),
            context=CallContext(surface="rest", caller=Caller(caller, key_id=key_id), **given),
        )
    )  # fmt: skip


def test_021_an_orderly_end_loses_nothing_and_only_the_owner_can_read_it(audit: AuditLog, tmp_path: Path) -> None:
    for number in range(1234):
        call(request_id=f"r{number}")
    audit.close()
    assert [entry["request_id"] for entry in entries_in(tmp_path / "home")] == [f"r{n}" for n in range(1234)]
    assert stat.S_IMODE((tmp_path / "home" / "audit.jsonl").stat().st_mode) == 0o600
    call(request_id="later")
    assert len(entries_in(tmp_path / "home")) == 1234


def test_021_an_entry_tells_who_what_and_the_decision_and_nothing_else(audit: AuditLog, tmp_path: Path) -> None:
    who = {"caller": "ci", "key_id": "key_1", "client": "http:bot", "address": "10.0.0.9"}
    trace = "ab" * 16
    given = {
        "ids": ["mem_" + "0" * 26],
        "arguments": {"content": "private"},
        "traceparent": f"00-{trace}-{'cd' * 8}-01",
    }
    call(request_id="r1", **given, **who)
    call(request_id="r2", outcome="forbidden")
    call(request_id="r3", outcome="not_found")
    request_refused("too_large", request_id="r4", outcome="too_large", path="/x", method="POST")
    PROCESS_EVENTS.publish("something else")
    audit.close()
    entries = entries_in(tmp_path / "home")
    assert [(entry["request_id"], entry["kind"], entry["decision"]) for entry in entries] == [
        ("r1", "call", "allowed"),
        ("r2", "call", "refused"),
        ("r3", "call", "failed"),
        ("r4", "refusal", "refused"),
    ]
    first = entries[0]
    assert first.pop("id").startswith("aud_")
    assert datetime.fromisoformat(first.pop("time")).tzinfo is not None
    assert first == {
        "kind": "call", "decision": "allowed", "tool": "recall", "surface": "rest", "outcome": "ok", "ms": 1.5,
        "request_id": "r1", "ids": ["mem_" + "0" * 26], "trace_id": trace, **who,
    }  # fmt: skip


def test_021_secrets_are_not_in_it(audit: AuditLog, tmp_path: Path) -> None:
    refused = RequestRefused(event="forbidden", event_id="e1", outcome="forbidden", path=f"/x/{GITHUB_TOKEN}")
    PROCESS_EVENTS.publish(refused)
    call(client=f"http:{GITHUB_TOKEN}", request_id=GITHUB_TOKEN)
    audit.close()
    assert GITHUB_TOKEN not in (tmp_path / "home" / "audit.jsonl").read_text("utf-8")


def test_021_an_event_of_security_is_written_at_once(
    audit: AuditLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "WRITE_SECONDS", 3600.0)
    written = threading.Event()
    append = audit.lines.append

    def noticed(lines: bytes, *, durably: bool = False) -> None:
        append(lines, durably=durably)
        assert durably
        written.set()

    monkeypatch.setattr(audit.lines, "append", noticed)
    told: dict[str, Any] = {
        "event": "wrong_key",
        "event_id": "e1",
        "reason": "Invalid API key",
        "address": "10.0.0.9",
        "path": "/x",
    }
    PROCESS_EVENTS.publish(SecurityEvent(**told))
    assert written.wait(5)
    (entry,) = entries_in(tmp_path / "home")
    assert {**entry, **told, "kind": "security", "decision": "refused"} == entry


def test_021_what_cannot_be_written_is_written_later(audit: AuditLog, tmp_path: Path) -> None:
    (tmp_path / "home" / "audit.jsonl").mkdir(parents=True)
    call(request_id="r1")
    audit.write()
    (tmp_path / "home" / "audit.jsonl").rmdir()
    call(request_id="r2")
    audit.close()
    assert [entry["request_id"] for entry in entries_in(tmp_path / "home")] == ["r1", "r2"]


WRITER = """
import sys
from pathlib import Path
from scrubjay.features.monitoring.audit.file import SharedLines
lines = SharedLines(Path(sys.argv[1]) / "audit.jsonl", max_bytes=20_000, keep_files=1000)
for number in range(200):
    line = b'{"id":"%s-%03d","filler":"%s"}\\n' % (sys.argv[2].encode(), number, b"x" * (number * 7 % 900))
    lines.append(line * 2)
"""


def test_021_processes_neither_tear_lines_nor_lose_any_when_files_are_put_aside(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name], env=environment) for name in "abc"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    files = sorted(tmp_path.glob("audit.jsonl*"))
    assert len(files) > 5
    assert all(file.stat().st_size <= 20_000 for file in files)
    found = [json.loads(line)["id"] for file in files for line in file.read_text("utf-8").splitlines()]
    assert sorted(found) == sorted([f"{name}-{number:03}" for name in "abc" for number in range(200)] * 2)


def test_021_only_so_many_files_are_kept(tmp_path: Path) -> None:
    lines = SharedLines(tmp_path / "audit.jsonl", max_bytes=100, keep_files=3)
    for number in range(10):
        lines.append(b"%02d%s\n" % (number, b"." * 60))
    lines.close()
    kept = {file.name: file.read_text("utf-8")[:2] for file in tmp_path.glob("audit.jsonl*")}
    assert kept == {"audit.jsonl": "09", "audit.jsonl.1": "08", "audit.jsonl.2": "07"}


def test_021_who_had_a_file_open_that_another_put_aside_goes_on_in_the_new_one(tmp_path: Path) -> None:
    lines, other = (SharedLines(tmp_path / "audit.jsonl", max_bytes=100, keep_files=3) for _ in range(2))
    lines.append(b"first\n")
    other.append(b"." * 98 + b"\n")
    lines.append(b"\n")
    assert (tmp_path / "audit.jsonl.1").read_bytes() == b"first\n"
    assert (tmp_path / "audit.jsonl").read_bytes() == b"." * 98 + b"\n\n"
    lines.close()
    other.close()


def test_021_a_process_that_stands_still_does_not_silence_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrubjay.features.monitoring.audit.file.LOCK_SECONDS", 0.01)
    lines, other = (SharedLines(tmp_path / "audit.jsonl", max_bytes=100, keep_files=3) for _ in range(2))
    with other._lock():  # pyright: ignore[reportPrivateUsage]
        for _ in range(3):
            lines.append(b"." * 60 + b"\n")
    lines.close()
    assert (tmp_path / "audit.jsonl").stat().st_size == 183
    assert not (tmp_path / "audit.jsonl.1").exists()


# -- reading ---------------------------------------------------------------------------------------------


def test_021_pages_go_back_through_all_files_while_more_is_written(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path, max_bytes=10_000, keep_files=100)
    audit.subscribe()
    for number in range(150):
        call(request_id=f"r{number}")
        audit.write()
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = read_page(audit.lines, Wanted(exactly={"kind": "call"}, before=cursor, limit=40))
        seen += [entry["request_id"] for entry in page.entries]
        call(request_id="new")
        audit.write()
        if not page.more:
            break
        cursor = page.entries[-1]["id"]
    audit.close()
    assert len(list(tmp_path.glob("audit.jsonl.*"))) > 1
    assert seen == [f"r{number}" for number in reversed(range(150))]
    with pytest.raises(InvalidRequest, match="cursor"):
        read_page(audit.lines, Wanted(before="aud_" + "0" * 26))


def test_021_filters_and_a_torn_line(audit: AuditLog, tmp_path: Path) -> None:
    call(request_id="r1", tool="recall")
    call(request_id="r2", tool="forget", caller="ci")
    audit.write()
    with (tmp_path / "home" / "audit.jsonl").open("ab") as file:
        file.write(b'{"id":"aud_torn","tool":"forg\n')

    def found(**wanted: Any) -> list[str]:
        return [entry["request_id"] for entry in read_page(audit.lines, Wanted(**wanted)).entries]

    assert found() == ["r2", "r1"]
    assert found(exactly={"tool": "forget", "caller": "ci"}) == ["r2"]
    assert found(exactly={"tool": "for"}) == []
    now = datetime.now(UTC)
    assert found(since=now - timedelta(minutes=1)) == ["r2", "r1"]
    assert found(since=now + timedelta(minutes=1)) == []
    assert found(until=now - timedelta(minutes=1)) == []
    assert read_page(audit.lines, Wanted()).unreadable == 1


def test_021_whoever_is_refused_again_and_again_does_not_push_others_out_of_the_log(
    audit: AuditLog, tmp_path: Path
) -> None:
    def refuse(address: str) -> None:
        request_refused("unauthenticated", outcome="unauthenticated", path="/x", address=address)

    call(request_id="before")
    for _ in range(1_000):
        refuse("203.0.113.7")
    refuse("203.0.113.8")
    call(request_id="after")
    audit.close()
    entries = entries_in(tmp_path / "home")
    of_one = [entry for entry in entries if entry.get("address") == "203.0.113.7"]
    assert len(of_one) == repeats.MOST_OF_ONE + 1
    assert (of_one[-1]["kind"], of_one[-1]["event"], of_one[-1]["reason"]) == ("refusal", "repeated", "940 more")
    assert [entry["kind"] for entry in entries if entry.get("address") == "203.0.113.8"] == ["refusal"]
    assert [entry["request_id"] for entry in entries if entry["kind"] == "call"] == ["before", "after"]


def test_021_refusals_of_however_many_addresses_are_bounded_and_told_when_the_minute_is_over() -> None:
    now = 1000.0
    counted = repeats.Repeats(lambda: now)
    entries = [{"kind": "refusal", "address": f"10.0.{number // 250}.{number % 250}"} for number in range(5_000)]
    assert sum(not counted.leaves_out(entry) for entry in entries) == repeats.MOST_OF_ALL
    assert counted.summaries() == []
    now += repeats.WINDOW_SECONDS
    told = counted.summaries()
    assert len(told) == repeats.MOST_ADDRESSES + 1
    assert sum(int(entry["reason"].removesuffix(" more")) for entry in told) == 5_000 - repeats.MOST_OF_ALL
    assert not counted.leaves_out(entries[0])


def test_021_a_log_that_cannot_be_written_says_so(audit: AuditLog, tmp_path: Path) -> None:
    assert audit.is_written
    (tmp_path / "home" / "audit.jsonl").mkdir(parents=True)
    call()
    audit.write()
    assert not audit.is_written
    (tmp_path / "home" / "audit.jsonl").rmdir()
    audit.write()
    assert audit.is_written
    assert not AuditLog(tmp_path, max_bytes=1, keep_files=1, enabled=False).is_written

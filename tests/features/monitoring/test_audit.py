"""The audit log: lossless writing by several processes, masked secrets, rotation, reading and throttling."""

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
from scrubjay.features.monitoring.audit import log, refusal_throttle
from scrubjay.features.monitoring.audit.file import SharedLines
from scrubjay.features.monitoring.audit.log import AuditLog
from scrubjay.features.monitoring.audit.reader import AuditQuery, read_page
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.events import CallEnded, RequestRefused, SecurityEvent
from scrubjay.tooling.process_events import PROCESS_EVENTS
from scrubjay.tooling.security_events import request_refused

GITHUB_TOKEN = "ghp_" + "a1B2c3D4e5" * 4


@pytest.fixture
def audit(tmp_path: Path) -> Generator[AuditLog]:
    log = AuditLog(tmp_path / "home", max_bytes=1_000_000, keep_files=3)
    log.subscribe()
    yield log
    log.close()


def entries_in(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home / "audit.jsonl").read_text("utf-8").splitlines()]


def call(
    tool: str = "recall", outcome: str = "ok", caller: str = "owner", key_id: str | None = None, **fields: Any
) -> None:
    """Publish a call; `fields` are the fields of its context, its ids and its arguments."""
    ids, arguments = fields.pop("ids", ()), fields.pop("arguments", {})
    PROCESS_EVENTS.publish(
        CallEnded(
            name=tool, tool=None, arguments=arguments, started=None, accepted=True, outcome=outcome, problem="",
            answer=None, milliseconds=1.5, ids=ids, time=time.time(),
            context=CallContext(surface="rest", caller=Caller(caller, key_id=key_id), **fields),
        )
    )  # fmt: skip


def test_021_closing_writes_all_entries_to_a_private_file(audit: AuditLog, tmp_path: Path) -> None:
    for number in range(1234):
        call(request_id=f"r{number}")
    audit.close()
    assert [entry["request_id"] for entry in entries_in(tmp_path / "home")] == [f"r{n}" for n in range(1234)]
    assert stat.S_IMODE((tmp_path / "home" / "audit.jsonl").stat().st_mode) == 0o600
    call(request_id="later")
    assert len(entries_in(tmp_path / "home")) == 1234


def test_021_an_entry_has_caller_action_and_decision_and_nothing_else(audit: AuditLog, tmp_path: Path) -> None:
    caller = {"caller": "ci", "key_id": "key_1", "client": "http:bot", "address": "10.0.0.9"}
    trace = "ab" * 16
    fields = {
        "ids": ["mem_" + "0" * 26],
        "arguments": {"content": "private"},
        "traceparent": f"00-{trace}-{'cd' * 8}-01",
    }
    call(request_id="r1", **fields, **caller)
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
        "request_id": "r1", "ids": ["mem_" + "0" * 26], "trace_id": trace, **caller,
    }  # fmt: skip


def test_021_secrets_are_masked(audit: AuditLog, tmp_path: Path) -> None:
    refused = RequestRefused(event="forbidden", event_id="e1", outcome="forbidden", path=f"/x/{GITHUB_TOKEN}")
    PROCESS_EVENTS.publish(refused)
    call(client=f"http:{GITHUB_TOKEN}", request_id=GITHUB_TOKEN)
    audit.close()
    assert GITHUB_TOKEN not in (tmp_path / "home" / "audit.jsonl").read_text("utf-8")


def test_021_a_security_event_is_written_immediately(
    audit: AuditLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "WRITE_SECONDS", 3600.0)
    written = threading.Event()
    append = audit.lines.append

    def append_and_notify(lines: bytes, *, durably: bool = False) -> None:
        append(lines, durably=durably)
        assert durably
        written.set()

    monkeypatch.setattr(audit.lines, "append", append_and_notify)
    event: dict[str, Any] = {
        "event": "wrong_key",
        "event_id": "e1",
        "reason": "Invalid API key",
        "address": "10.0.0.9",
        "path": "/x",
    }
    PROCESS_EVENTS.publish(SecurityEvent(**event))
    assert written.wait(5)
    (entry,) = entries_in(tmp_path / "home")
    assert {**entry, **event, "kind": "security", "decision": "refused"} == entry


def test_021_a_failed_write_is_retried(audit: AuditLog, tmp_path: Path) -> None:
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


def test_021_processes_neither_tear_nor_lose_lines_during_rotation(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name], env=environment) for name in "abc"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    files = sorted(tmp_path.glob("audit.jsonl*"))
    assert len(files) > 5
    assert all(file.stat().st_size <= 20_000 for file in files)
    found = [json.loads(line)["id"] for file in files for line in file.read_text("utf-8").splitlines()]
    assert sorted(found) == sorted([f"{name}-{number:03}" for name in "abc" for number in range(200)] * 2)


def test_021_the_number_of_files_is_limited(tmp_path: Path) -> None:
    lines = SharedLines(tmp_path / "audit.jsonl", max_bytes=100, keep_files=3)
    for number in range(10):
        lines.append(b"%02d%s\n" % (number, b"." * 60))
    lines.close()
    starts = {file.name: file.read_text("utf-8")[:2] for file in tmp_path.glob("audit.jsonl*")}
    assert starts == {"audit.jsonl": "09", "audit.jsonl.1": "08", "audit.jsonl.2": "07"}


def test_021_a_process_with_a_rotated_file_continues_in_the_new_one(tmp_path: Path) -> None:
    lines, other = (SharedLines(tmp_path / "audit.jsonl", max_bytes=100, keep_files=3) for _ in range(2))
    lines.append(b"first\n")
    other.append(b"." * 98 + b"\n")
    lines.append(b"\n")
    assert (tmp_path / "audit.jsonl.1").read_bytes() == b"first\n"
    assert (tmp_path / "audit.jsonl").read_bytes() == b"." * 98 + b"\n\n"
    lines.close()
    other.close()


def test_021_a_stopped_process_does_not_block_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrubjay.features.monitoring.audit.file.LOCK_SECONDS", 0.01)
    lines, other = (SharedLines(tmp_path / "audit.jsonl", max_bytes=100, keep_files=3) for _ in range(2))
    with other._lock():  # pyright: ignore[reportPrivateUsage]
        for _ in range(3):
            lines.append(b"." * 60 + b"\n")
    lines.close()
    assert (tmp_path / "audit.jsonl").stat().st_size == 183
    assert not (tmp_path / "audit.jsonl.1").exists()


# -- reading ---------------------------------------------------------------------------------------------


def test_021_pages_cover_all_files_newest_first_while_entries_are_added(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path, max_bytes=10_000, keep_files=100)
    audit.subscribe()
    for number in range(150):
        call(request_id=f"r{number}")
        audit.write()
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = read_page(audit.lines, AuditQuery(exactly={"kind": "call"}, before=cursor, limit=40))
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
        read_page(audit.lines, AuditQuery(before="aud_" + "0" * 26))


def test_021_filters_work_and_a_torn_line_is_counted(audit: AuditLog, tmp_path: Path) -> None:
    call(request_id="r1", tool="recall")
    call(request_id="r2", tool="forget", caller="ci")
    audit.write()
    with (tmp_path / "home" / "audit.jsonl").open("ab") as file:
        file.write(b'{"id":"aud_torn","tool":"forg\n')

    def found(**filters: Any) -> list[str]:
        return [entry["request_id"] for entry in read_page(audit.lines, AuditQuery(**filters)).entries]

    assert found() == ["r2", "r1"]
    assert found(exactly={"tool": "forget", "caller": "ci"}) == ["r2"]
    assert found(exactly={"tool": "for"}) == []
    now = datetime.now(UTC)
    assert found(since=now - timedelta(minutes=1)) == ["r2", "r1"]
    assert found(since=now + timedelta(minutes=1)) == []
    assert found(until=now - timedelta(minutes=1)) == []
    assert read_page(audit.lines, AuditQuery()).unreadable == 1


def test_021_repeated_refusals_do_not_displace_other_entries(audit: AuditLog, tmp_path: Path) -> None:
    def refuse(address: str) -> None:
        request_refused("unauthenticated", outcome="unauthenticated", path="/x", address=address)

    call(request_id="before")
    for _ in range(1_000):
        refuse("203.0.113.7")
    refuse("203.0.113.8")
    call(request_id="after")
    audit.close()
    entries = entries_in(tmp_path / "home")
    repeated = [entry for entry in entries if entry.get("address") == "203.0.113.7"]
    assert len(repeated) == refusal_throttle.MAX_PER_ADDRESS + 1
    assert (repeated[-1]["kind"], repeated[-1]["event"], repeated[-1]["reason"]) == ("refusal", "repeated", "940 more")
    assert [entry["kind"] for entry in entries if entry.get("address") == "203.0.113.8"] == ["refusal"]
    assert [entry["request_id"] for entry in entries if entry["kind"] == "call"] == ["before", "after"]


def test_021_refusals_of_many_addresses_are_bounded_and_summarised_each_minute() -> None:
    now = 1000.0
    throttle = refusal_throttle.RefusalThrottle(lambda: now)
    entries = [{"kind": "refusal", "address": f"10.0.{number // 250}.{number % 250}"} for number in range(5_000)]
    assert sum(not throttle.suppresses(entry) for entry in entries) == refusal_throttle.MAX_TOTAL
    assert throttle.summaries() == []
    now += refusal_throttle.WINDOW_SECONDS
    summaries = throttle.summaries()
    assert len(summaries) == refusal_throttle.MAX_ADDRESSES + 1
    assert sum(int(entry["reason"].removesuffix(" more")) for entry in summaries) == 5_000 - refusal_throttle.MAX_TOTAL
    assert not throttle.suppresses(entries[0])


def test_021_a_log_that_cannot_be_written_reports_it(audit: AuditLog, tmp_path: Path) -> None:
    assert audit.is_written
    (tmp_path / "home" / "audit.jsonl").mkdir(parents=True)
    call()
    audit.write()
    assert not audit.is_written
    (tmp_path / "home" / "audit.jsonl").rmdir()
    audit.write()
    assert audit.is_written
    assert not AuditLog(tmp_path, max_bytes=1, keep_files=1, enabled=False).is_written


@pytest.mark.parametrize("room", [0, 7])
def test_021_the_warning_names_the_error_that_stopped_a_write(tmp_path: Path, room: int) -> None:
    """The kernel reports no error for a write that it cut short."""
    script = """
import logging, resource, sys
from pathlib import Path
from scrubjay.features.monitoring.audit.log import AuditLog
from scrubjay.tooling.process_events import PROCESS_EVENTS
from tests.features.monitoring.test_audit import call

class Shown(logging.Handler):
    def emit(self, record):
        print(record.getMessage(), record.problem, sep=": ")

logging.getLogger("scrubjay.audit").addHandler(Shown())
audit = AuditLog(Path(sys.argv[1]), max_bytes=1_000_000, keep_files=3)
audit.subscribe()
call()
audit.write()
size = (Path(sys.argv[1]) / "audit.jsonl").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + int(sys.argv[2]), resource.RLIM_INFINITY))
call()
audit.write()
print(audit.is_written, (Path(sys.argv[1]) / "audit.jsonl").stat().st_size - size)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
audit.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), str(room)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "cannot write the audit log: File too large\nFalse 0\n"
    assert len(entries_in(tmp_path)) == 2

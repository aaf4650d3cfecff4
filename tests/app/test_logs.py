"""Logs are structured and on standard error."""

import json
import logging
import subprocess
import sys

from scrubjay.app.logs import JsonLines, TextLines


def record(**extra: object) -> logging.LogRecord:
    log_record = logging.makeLogRecord(
        {"name": "scrubjay.calls", "levelno": logging.INFO, "levelname": "INFO", "msg": "call %s", "args": ("x",)}
    )
    vars(log_record).update(extra)
    return log_record


def test_024_a_line_is_one_json_object_with_the_extra_fields() -> None:
    entry = json.loads(JsonLines().format(record(tool="recall", ms=1.5, created=0.0)))
    assert entry == {
        "time": "1970-01-01T00:00:00.000+00:00",
        "level": "info",
        "logger": "scrubjay.calls",
        "message": "call x",
        "tool": "recall",
        "ms": 1.5,
    }


def test_024_a_text_line_is_short() -> None:
    assert TextLines().format(record(tool="recall")).endswith("info    call x tool=recall")


def test_024_nothing_is_logged_on_standard_output() -> None:
    script = (
        "import logging; from scrubjay.app.logs import start_logging; from scrubjay.app.settings import LogSettings\n"
        "start_logging(LogSettings(format='json'), 'info'); logging.getLogger('scrubjay').info('hello')"
    )
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert process.stdout == ""
    assert json.loads(process.stderr)["message"] == "hello"

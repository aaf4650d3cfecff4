"""Structured logs on standard error; standard output belongs to answers and protocols."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from scrubjay.app.settings import LogSettings

# What every log record has by itself; anything else was given as `extra` and is shown.
_ENCODER = json.JSONEncoder(default=str)
_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


def start_logging(settings: LogSettings, default_level: str) -> None:
    """Send the logs of this process to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    as_text = settings.format == "text" or (settings.format == "auto" and sys.stderr.isatty())
    handler.setFormatter(TextLines() if as_text else JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # What we show of a record tells neither the line that logged nor the thread: to find these out would take a third
    # of what a call costs to be logged.
    setattr(logging, "_srcfile", None)  # noqa: B010 - as the documentation of logging tells it
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    level = (settings.level or default_level).upper()
    root.setLevel(level)
    handler.setLevel(level)  # the audit log hears more of some loggers than is shown
    # Libraries speak only when something is wrong.
    for name in ("mcp", "uvicorn", "httpx2", "asyncio", "sse_starlette"):
        logging.getLogger(name).setLevel(logging.WARNING)


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_extras(record),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return _ENCODER.encode(entry)


class TextLines(logging.Formatter):
    """A line for people: time, level, message, and what belongs to it."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        extras = "".join(f" {name}={value}" for name, value in _extras(record).items())
        line = f"{time} {record.levelname.lower():7} {record.getMessage()}{extras}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _extras(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _PLAIN}

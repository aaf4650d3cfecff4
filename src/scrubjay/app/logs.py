"""Structured logs on standard error; standard output is reserved for results and protocols."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from scrubjay.app.settings import LogSettings

_ENCODER = json.JSONEncoder(default=str)
# Attributes of every log record. All others were passed as `extra` and are shown.
_STANDARD_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


def start_logging(settings: LogSettings, default_level: str) -> None:
    """Send the logs of this process to standard error, by default from this level upwards."""
    handler = logging.StreamHandler(sys.stderr)
    as_text = settings.format == "text" or (settings.format == "auto" and sys.stderr.isatty())
    handler.setFormatter(TextLines() if as_text else JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # The source line, thread and process of a record are not shown. Collecting them would make a log call a third
    # slower; this is how the documentation of `logging` switches it off.
    setattr(logging, "_srcfile", None)  # noqa: B010
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    level = (settings.level or default_level).upper()
    root.setLevel(level)
    handler.setLevel(level)  # the audit log may lower the level of some loggers
    # Libraries log warnings only.
    for name in ("mcp", "uvicorn", "httpx2", "asyncio", "sse_starlette"):
        logging.getLogger(name).setLevel(logging.WARNING)


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON."""

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
    """Formats a record as one line of text: time, level, message, and the extra fields."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        extras = "".join(f" {name}={value}" for name, value in _extras(record).items())
        line = f"{time} {record.levelname.lower():7} {record.getMessage()}{extras}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _extras(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD_ATTRIBUTES}

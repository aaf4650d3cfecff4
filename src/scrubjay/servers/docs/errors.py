"""The reference page of error codes."""

import inspect
from collections.abc import Mapping

from scrubjay.core.errors import ErrorCode, ErrorRecord, error_from_record
from scrubjay.servers.docs.markdown import code, page, prose, table


def error_page(columns: Mapping[str, Mapping[ErrorCode, object]]) -> str:
    """Return the page with every error code, its meaning, and one column per surface, keyed by heading."""
    for heading, answers in columns.items():
        if missing := [str(error) for error in ErrorCode if error not in answers]:
            raise ValueError(f"the column {heading!r} lacks {', '.join(missing)}")
    rows = (
        [code(error), prose(_meaning(error)), *(str(answers[error]) for answers in columns.values())]
        for error in ErrorCode
    )
    return page(
        "Errors",
        [
            "Every error has a code for programs, a message, a hint and details; they are the same on every surface.",
            table(["Code", "Meaning", *columns], rows),
        ],
    )


def _meaning(error: ErrorCode) -> str:
    return inspect.cleandoc(type(error_from_record(ErrorRecord(error, ""))).__doc__ or "")

"""Log fields for unexpected exceptions: type and stack, never the message, which may quote user data."""

import traceback


def error_fields(error: BaseException) -> dict[str, str]:
    """Return the exception type and its stack, for the `extra=` of a log call."""
    return {"error": type(error).__name__, "stack": "".join(traceback.format_tb(error.__traceback__))}

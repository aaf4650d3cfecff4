"""What may be logged of a bug: where it is, but not its message, which may quote what somebody confided."""

import traceback


def place_of(error: BaseException) -> dict[str, str]:
    """The kind of error and the way to it, for `extra=`."""
    return {"error": type(error).__name__, "stack": "".join(traceback.format_tb(error.__traceback__))}

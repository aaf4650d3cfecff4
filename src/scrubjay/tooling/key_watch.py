"""Wait for the end of a caller's key: what a caller started must not outlive the key."""

import anyio

from scrubjay.core.callers import Authenticator, Caller

KEY_CHECK_SECONDS = 1.0


class KeyWatch:
    """The validity of callers' keys for work that continues after their calls. Provided as a ready service."""

    def __init__(self, authenticator: Authenticator | None = None, *, seconds: float = KEY_CHECK_SECONDS) -> None:
        """Check every `seconds`."""
        self.authenticator = authenticator
        """None where no HTTP server runs: the caller is the owner then."""
        self._seconds = seconds

    async def wait_until_ended(self, caller: Caller) -> None:
        """Return when the key of the caller is revoked, deleted or expired, or can no longer be checked."""
        # Another process can end a key, and an expiry is no event at all.
        while self.authenticator is None or self.authenticator.is_authorized(caller):  # noqa: ASYNC110
            await anyio.sleep(self._seconds)

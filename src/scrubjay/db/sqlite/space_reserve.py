"""Disk space that is set aside while the disk is nearly full, so that data can still be erased when it is full."""

import os
import time
from contextlib import suppress

# Erasing first writes the changed pages to the write-ahead log: 20 to 60 pages of 4 kB for one memory.
RESERVE_BYTES = 1024 * 1024
# Free space below which the reserve is allocated. Above it the file stays empty.
LOW_BYTES = 64 * 1024 * 1024
# Seconds between two checks of the free space.
CHECK_SECONDS = 1.0


class SpaceReserve:
    """A reserve in a file whose content is unused: the writers' lock. Use it only under that lock."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._checked_at = -CHECK_SECONDS

    def allocate_if_low(self) -> None:
        """Allocate the reserve if the disk is nearly full, and free it when there is space again."""
        if time.monotonic() - self._checked_at < CHECK_SECONDS:
            return
        self._checked_at = time.monotonic()
        status = os.fstatvfs(self._descriptor)
        is_low = status.f_bavail * status.f_frsize < LOW_BYTES
        if is_low != self._is_allocated:
            self._allocate() if is_low else self.release()

    def release(self) -> bool:
        """Return the reserve to the file system; return False if there was none."""
        was_allocated = self._is_allocated
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)
        return was_allocated

    @property
    def _is_allocated(self) -> bool:
        return os.fstat(self._descriptor).st_size >= RESERVE_BYTES

    def _allocate(self) -> None:
        try:
            # Written, because not every system can allocate, and a file with a hole takes no space.
            if os.pwrite(self._descriptor, bytes(RESERVE_BYTES), 0) == RESERVE_BYTES:
                return
        except OSError:  # full already
            pass
        self.release()

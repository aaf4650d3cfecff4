"""Translation of SQLite's errors into ours."""

import re
from collections.abc import Generator
from contextlib import contextmanager

import apsw

from scrubjay.core.errors import Busy, StoreUnusable, Unavailable
from scrubjay.db.damage_report import REPAIR_HINT, current_damage

_BUSY = (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)
_UNREACHABLE = (apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError)
# Text columns held valid UTF-8 when they were written, so a decoding error means damage.
_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, UnicodeDecodeError)
# All SQL and JSON is our own and valid for the schema version that the database says it has.
_BAD_SCHEMA_OR_JSON = re.compile(r"malformed|^no such \w+: |^error in |already exists$|^duplicate column ")


def lock_timeout(seconds: float) -> Busy:
    """Return the error for a write that waited this long for the lock and was not started."""
    return Busy(f"other writers held the store's lock for {seconds:g} s", hint="try again; nothing was changed")


def disk_full() -> Unavailable:
    """Return the error for a write without space."""
    return Unavailable(
        "the disk of the store is full; nothing was changed",
        hint="free disk space on the file system of SCRUBJAY_HOME, then try again",
    )


def erasure_without_space() -> Unavailable:
    """Return the error for an erasure on a full disk."""
    return Unavailable(
        "the disk of the store is full, and erasing needs some space too: the change is first written to a log; "
        "nothing was changed",
        hint="free about 1 MB on the file system of SCRUBJAY_HOME, then try again; the folder `derived` is rebuilt and "
        "can be deleted while no process uses the store",
    )


def translate_error(error: BaseException) -> BaseException:
    """Return the `ScrubjayError` for an expected failure of SQLite; any other error is a bug and returned unchanged."""
    if isinstance(error, _BUSY):
        return Busy("another process held the store's lock for too long", hint="try again; nothing was changed")
    if isinstance(error, apsw.FullError):
        return disk_full()
    if isinstance(error, _UNREACHABLE):
        return Unavailable(
            f"the store cannot be read or written ({error})",
            hint="check that SCRUBJAY_HOME is on a mounted, healthy disk and that you may write there",
        )
    if isinstance(error, _DAMAGED):
        return StoreUnusable(
            f"the store is damaged, or the file is not a store ({error})",
            hint=REPAIR_HINT,
        )
    if isinstance(error, apsw.SQLError) and _BAD_SCHEMA_OR_JSON.search(str(error)):
        return StoreUnusable(f"the store is damaged ({error})", hint=REPAIR_HINT)
    if isinstance(error, apsw.ConstraintError):
        # Our writes violate no constraint, unless a row that they found or left out is damaged.
        notice = (damage.notice() if (damage := current_damage()) else None) or "the store may be damaged"
        return StoreUnusable(f"nothing was changed: {notice} ({error})", hint=REPAIR_HINT)
    return error


@contextmanager
def translated_errors() -> Generator[None]:
    """Raise our errors instead of SQLite's."""
    try:
        yield
    except apsw.Error as error:
        raise translate_error(error) from error

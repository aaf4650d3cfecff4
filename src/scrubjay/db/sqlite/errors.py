"""What SQLite's failures mean to a caller."""

import apsw

from scrubjay.core.errors import Busy, StoreUnusable, Unavailable

_BUSY = (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)
_UNREACHABLE = (apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError)
# What is kept as text was text when it was kept.
_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, UnicodeDecodeError)


def busy(seconds: float) -> Busy:
    """The answer to a write that waited too long for its turn; nothing of it was done."""
    return Busy(f"other writers kept the store busy for {seconds:g} s", hint="try again; nothing was changed")


def translated(error: BaseException) -> BaseException:
    """The failure in the caller's words; one that nobody foresaw stays what it is, because it is a bug."""
    if isinstance(error, _BUSY):
        return Busy("another process kept the store busy for too long", hint="try again; nothing was changed")
    if isinstance(error, apsw.FullError):
        return Unavailable(
            "there is no space left for the store; nothing was changed",
            hint="free some disk space where SCRUBJAY_HOME is, then try again",
        )
    if isinstance(error, _UNREACHABLE):
        return Unavailable(
            f"the store cannot be read or written ({error})",
            hint="check that the disk of SCRUBJAY_HOME is there, healthy and writable for you",
        )
    if isinstance(error, _DAMAGED):
        return StoreUnusable(
            f"the store is damaged, or is no store ({error})",
            hint="`scrubjay store check` tells what is damaged; a backup can take its place",
        )
    return error

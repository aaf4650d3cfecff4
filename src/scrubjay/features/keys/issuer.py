"""Creation, rotation and revocation of keys."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import InvalidRequest, NotFound
from scrubjay.core.ids import new_id
from scrubjay.core.suggestions import nearest_names
from scrubjay.features.keys.models import KeyState, StoredKey, digest_of, new_key
from scrubjay.features.keys.scopes import parse_scopes
from scrubjay.features.keys.store import KeyStore

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}", re.ASCII)
_SPAN = re.compile(r"(\d{1,6})\s*([smhdw])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
# Beyond any sensible lifetime, and within the range of `datetime`.
_MAX_LIFETIME = timedelta(days=36_500)


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key with its text, which is not stored and cannot be shown again."""

    text: str
    stored: StoredKey


class KeyIssuer:
    """Creates, rotates and revokes keys. Changes take effect immediately in all processes of the store."""

    def __init__(self, keys: KeyStore, families: Sequence[str], clock: Clock = system_clock) -> None:
        self._keys = keys
        self._families = families
        self._clock = clock

    async def create(self, name: str, scopes: str, expires: str | None) -> IssuedKey:
        """Create a key. `expires` is a duration, a date, or None; raise `Conflict` if an active key has this name."""
        if not _NAME.fullmatch(name):
            raise InvalidRequest(
                f"{name[:100]!r} is not a valid key name",
                hint="use 1 to 64 letters, digits, _ . @ and -, starting with a letter or digit",
            )
        now = self._clock()
        issued = _issue(name, parse_scopes(scopes, self._families), now, _parse_expiry(expires, now))
        await self._keys.add(issued.stored)
        return issued

    async def rotate(self, name: str, grace: str | None, expires: str | None) -> IssuedKey:
        """Replace a key with a new one of the same lifetime by default. The old key stays valid for `grace`."""
        present = await self._current(name)
        now = self._clock()
        if expires is None and present.expires_at is not None:
            expires_at = now + (present.expires_at - present.created_at)
        else:
            expires_at = _parse_expiry(expires, now)
        issued = _issue(name, present.scopes, now, expires_at)
        ends_at = now + parse_duration(grace) if grace is not None else now
        if await self._keys.replace(name, issued.stored, ends_at) is None:  # revoked by another process in between
            raise _not_found(name, ())
        return issued

    async def revoke(self, name: str) -> int:
        """Revoke all keys of this name, including rotated ones in their grace period; return their number."""
        revoked = await self._keys.revoke(name, self._clock())
        if not revoked:
            raise _not_found(name, [key.name for key in await self._keys.all() if key.revoked_at is None])
        return revoked

    async def delete_ended(self, name: str) -> int:
        """Delete the revoked and expired keys of this name; return their number."""
        forgotten = await self._keys.delete_ended(name, self._clock())
        if not forgotten:
            raise NotFound(
                f"no revoked or expired key named {name!r}", hint="run `scrubjay keys list --all` to see them"
            )
        return forgotten

    async def list(self, *, with_ended: bool = False) -> Sequence[StoredKey]:
        """Return the keys, oldest first; revoked ones only with `with_ended`."""
        now = self._clock()
        return [key for key in await self._keys.all() if with_ended or key.state(now) is not KeyState.REVOKED]

    async def _current(self, name: str) -> StoredKey:
        keys = await self._keys.all()
        found = [key for key in keys if key.name == name and key.revoked_at is None]
        if not found:
            raise _not_found(name, [key.name for key in keys if key.revoked_at is None])
        return found[-1]


def parse_duration(text: str) -> timedelta:
    """Parse a duration such as `90d`, `12h` or `2w`."""
    matched = _SPAN.fullmatch(text.strip().lower())
    span = timedelta(**{_UNITS[matched[2]]: int(matched[1])}) if matched else timedelta()
    if not timedelta() < span <= _MAX_LIFETIME:
        raise InvalidRequest(
            f"{text[:100]!r} is not a duration",
            hint="use a number and s, m, h, d or w, such as 90d, or a date: 2027-01-31",
        )
    return span


def _parse_expiry(expires: str | None, now: datetime) -> datetime | None:
    """Parse the end of a key: a duration such as `90d`, a date or time such as `2027-01-31`, or `never`."""
    if expires is None or expires.strip().lower() == "never":
        return None
    try:
        moment = datetime.fromisoformat(expires.strip())
    except ValueError:
        return now + parse_duration(expires)
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    if not now < moment <= now + _MAX_LIFETIME:
        raise InvalidRequest(
            f"{expires[:100]!r} is in the past or too far ahead", hint="give a future date or time in UTC"
        )
    return moment.astimezone(UTC)


def _issue(name: str, scopes: frozenset[str], now: datetime, expires_at: datetime | None) -> IssuedKey:
    text = new_key()
    stored = StoredKey(
        id=new_id("key"), name=name, digest=digest_of(text), scopes=scopes, created_at=now, expires_at=expires_at
    )
    return IssuedKey(text, stored)


def _not_found(name: str, known: Sequence[str]) -> NotFound:
    near = nearest_names(name, known)
    hint = f"did you mean {' or '.join(near)}?" if near else "run `scrubjay keys list` to see all keys"
    return NotFound(f"no valid key named {name[:100]!r}", hint=hint)

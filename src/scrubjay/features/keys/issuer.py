"""Making keys and taking them back."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import InvalidRequest, NotFound
from scrubjay.core.ids import new_id
from scrubjay.core.suggestions import nearest_names
from scrubjay.features.keys.models import KeptKey, KeyState, digest_of, new_key
from scrubjay.features.keys.scopes import parse_scopes
from scrubjay.features.keys.store import KeyStore

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}", re.ASCII)
_SPAN = re.compile(r"(\d{1,6})\s*([smhdw])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
# Longer than any key should live, and a date that every calendar knows.
_LONGEST = timedelta(days=36_500)


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key, and the only time that it is told."""

    text: str
    kept: KeptKey


class KeyIssuer:
    """Makes keys, replaces them and takes them back; all processes on the store heed it at once."""

    def __init__(self, keys: KeyStore, families: Sequence[str], clock: Clock = system_clock) -> None:
        self._keys = keys
        self._families = families
        self._clock = clock

    async def create(self, name: str, scopes: str, expires: str | None) -> IssuedKey:
        """A key of this name; `Conflict` when one so called is still active."""
        if not _NAME.fullmatch(name):
            raise InvalidRequest(
                f"{name[:100]!r} is no name for a key",
                hint="1 to 64 letters, digits, _ . @ and -, a letter or digit first",
            )
        now = self._clock()
        issued = _issue(name, parse_scopes(scopes, self._families), now, _ending(expires, now))
        await self._keys.add(issued.kept)
        return issued

    async def rotate(self, name: str, grace: str | None, expires: str | None) -> IssuedKey:
        """A new key in the place of this one, which dies at once or after the grace. It lives as long as that one."""
        present = await self._standing(name)
        now = self._clock()
        if expires is None and present.expires_at is not None:
            expires_at = now + (present.expires_at - present.created_at)
        else:
            expires_at = _ending(expires, now)
        issued = _issue(name, present.scopes, now, expires_at)
        ends_at = now + parse_span(grace) if grace is not None else now
        if await self._keys.replace(name, issued.kept, ends_at) is None:  # another process was faster
            raise _none_called(name, ())
        return issued

    async def revoke(self, name: str) -> int:
        """Let nobody in by a key of this name any more, also not by one that was replaced with some grace."""
        revoked = await self._keys.revoke(name, self._clock())
        if not revoked:
            raise _none_called(name, [key.name for key in await self._keys.all() if key.revoked_at is None])
        return revoked

    async def forget(self, name: str) -> int:
        """Erase what is known of keys of this name that open nothing any more."""
        forgotten = await self._keys.forget(name, self._clock())
        if not forgotten:
            raise NotFound(
                f"no key called {name!r} was revoked or has expired", hint="`scrubjay keys list --all` shows them"
            )
        return forgotten

    async def list(self, *, with_ended: bool = False) -> Sequence[KeptKey]:
        """The keys there are, the oldest first; those that were revoked only when asked for."""
        now = self._clock()
        return [key for key in await self._keys.all() if with_ended or key.state(now) is not KeyState.REVOKED]

    async def _standing(self, name: str) -> KeptKey:
        keys = await self._keys.all()
        found = [key for key in keys if key.name == name and key.revoked_at is None]
        if not found:
            raise _none_called(name, [key.name for key in keys if key.revoked_at is None])
        return found[-1]


def parse_span(text: str) -> timedelta:
    """A time such as `90d`, `12h` or `2w`."""
    matched = _SPAN.fullmatch(text.strip().lower())
    span = timedelta(**{_UNITS[matched[2]]: int(matched[1])}) if matched else timedelta()
    if not timedelta() < span <= _LONGEST:
        raise InvalidRequest(
            f"{text[:100]!r} is no time", hint="a number and s, m, h, d or w: 90d, 12h, 30m; or a day: 2027-01-31"
        )
    return span


def _ending(expires: str | None, now: datetime) -> datetime | None:
    """When a key ends: after a time such as `90d`, on a day or at a moment such as `2027-01-31`, or never."""
    if expires is None or expires.strip().lower() == "never":
        return None
    try:
        moment = datetime.fromisoformat(expires.strip())
    except ValueError:
        return now + parse_span(expires)
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    if not now < moment <= now + _LONGEST:
        raise InvalidRequest(f"{expires[:100]!r} is not to come, or too far", hint="a day or a moment to come, in UTC")
    return moment.astimezone(UTC)


def _issue(name: str, scopes: frozenset[str], now: datetime, expires_at: datetime | None) -> IssuedKey:
    text = new_key()
    kept = KeptKey(
        id=new_id("key"), name=name, digest=digest_of(text), scopes=scopes, created_at=now, expires_at=expires_at
    )
    return IssuedKey(text, kept)


def _none_called(name: str, known: Sequence[str]) -> NotFound:
    near = nearest_names(name, known)
    hint = f"did you mean {' or '.join(near)}?" if near else "`scrubjay keys list` shows the keys there are"
    return NotFound(f"there is no key called {name[:100]!r} that could still open anything", hint=hint)

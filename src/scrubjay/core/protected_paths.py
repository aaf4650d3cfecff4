"""Paths that are kept from callers: the folder of the store, and places of secrets. Files and code share this list."""

import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".password-store"})
"""Names of folders with secrets in lower case, in any place."""

# Absolute, as they are after links were resolved; macOS has /etc and /var in /private. Not /dev: its devices are not
# regular files, and /dev/shm is a place to work in.
_SYSTEM_PLACES = (
    *("/boot", "/etc", "/proc", "/sys", "/run/credentials", "/run/secrets", "/var/run/secrets"),
    *("/private/etc", "/private/var/db", "/private/var/root", "/Library/Keychains", "/System/Library/Keychains"),
)
# Relative to the home folder of the user. In other places, folders of these names are part of programs.
_USER_PLACES = (
    *(".docker", ".kube", ".config/gcloud", ".config/gh", ".config/op", ".config/rclone", ".local/share/keyrings"),
    *(".mozilla", ".thunderbird", ".config/chromium", ".config/google-chrome", ".codex/auth.json"),
    *(".claude/.credentials.json", ".config/scrubjay", "Library/Keychains", "Library/Application Support/Google"),
)
# Environment files are named `.env`, `.env.local` or `prod.env`. Their examples have no secrets.
_SECRET_NAME = re.compile(
    rf"(?:^|/)(?:(?:{'|'.join(map(re.escape, sorted(SECRET_FOLDERS)))})(?:/|$)"
    r"|(?!(?:[^/]*[.-])?(?:example|sample|template|default)s?(?:\.[^/]*)?$)[^/]*\.env$"
    r"|(?![^/]*\.(?:example|sample|template|dist|defaults?|tmpl|tpl|md|[jt]s|py)$)\.env[._-][^/]*$"
    r"|(?:\.git-credentials|[._]netrc|\.pgpass|\.my\.cnf|\.pypirc|\.htpasswd|\.vault-token|\.s3cfg|\.boto|\.dockercfg"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?)$)",
    re.IGNORECASE,
)
STORE, SECRET = "it belongs to the store of this server", "it may hold secrets"


def is_secret_name(path: str) -> bool:
    """Return whether a file of this name, or a folder on this path, usually holds secrets."""
    return _SECRET_NAME.search(path) is not None


def fold(path: str) -> str:
    """Return the path in a form that is equal for names that some file system takes for the same.

    macOS and Windows ignore case, and macOS ignores how an accent is encoded.
    """
    return unicodedata.normalize("NFC", path).casefold()


@dataclass(frozen=True, slots=True)
class KeptOut:
    """The protected paths below one folder."""

    prefixes: Sequence[tuple[str, str]] = ()
    """Folded paths relative to the folder, each with the reason."""

    def reason(self, path: str) -> str | None:
        """Return why this path, relative to the folder, is kept out; None if it is not. Folders may end with `/`."""
        if self.prefixes:
            folded = fold(path).rstrip("/") + "/"
            for prefix, reason in self.prefixes:
                if folded.startswith(prefix):
                    return reason
        return SECRET if is_secret_name(path) else None

    @property
    def version(self) -> str:
        """Return a text that changes with these rules."""
        return sha256(f"{_SECRET_NAME.pattern}\n{self.prefixes}".encode()).hexdigest()[:16]


NOTHING_KEPT_OUT = KeptOut()


@dataclass(frozen=True, slots=True)
class ProtectedPaths:
    """The folder of the store, and the places of secrets of the machine and of the user."""

    store: Path | None = None
    except_for: Sequence[Path] = ()
    """Folders in the store that hold no data of it."""

    def in_store(self, folder: str) -> bool:
        """Return whether a resolved folder is the store or lies in it, by any name of the same folder."""
        if self.store is None or any(_is_within(folder, _resolved(part)) for part in self.except_for):
            return False
        if _is_within(folder, _resolved(self.store)):
            return True
        store = identity_of(self.store)
        return store is not None and any(identity_of(parent) == store for parent in (folder, *Path(folder).parents))

    def is_secret(self, folder: str) -> bool:
        """Return whether a resolved folder is a place of secrets or lies in one."""
        return is_secret_name(f"{folder}/") or any(_is_within(folder, place) for place in _places())

    def below(self, root: str) -> KeptOut:
        """Return what is kept out of a resolved folder."""
        places = [(place, SECRET) for place in _places()]
        if self.store is not None:
            places.append((_resolved(self.store), STORE))
        own = fold(root).rstrip("/") + "/"
        inside = [(f"{fold(place)}/", reason) for place, reason in places]
        return KeptOut(
            sorted({(path[len(own) :], why) for path, why in inside if path.startswith(own) and path != own})
        )

    @property
    def identities(self) -> frozenset[tuple[int, int]]:
        """Return device and inode of the store's folder, if it exists."""
        found = identity_of(self.store) if self.store is not None else None
        return frozenset(() if found is None else (found,))


def identity_of(path: str | Path) -> tuple[int, int] | None:
    """Return device and inode; None if the path does not exist or is inaccessible."""
    try:
        status = os.stat(path)  # noqa: PTH116  accepts both types
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _places() -> Sequence[str]:
    return _places_of(os.path.expanduser("~"))  # noqa: PTH111  never fails


@lru_cache(maxsize=4)
def _places_of(home: str) -> Sequence[str]:
    return [*_SYSTEM_PLACES, *(_resolved(Path(home, place)) for place in _USER_PLACES if home != "~")]


def _resolved(path: Path) -> str:
    return os.path.realpath(path)


def _is_within(folder: str, place: str) -> bool:
    return f"{fold(folder)}/".startswith(f"{fold(place).rstrip('/')}/")

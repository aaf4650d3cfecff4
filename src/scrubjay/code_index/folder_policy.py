"""Decide which folders may be indexed and read, by whom."""

import os
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from pathlib import Path

from scrubjay.code_index.discovery.object_sources import foreign_object_folders
from scrubjay.code_index.index.options import unknown_index
from scrubjay.code_index.store import IndexRecord
from scrubjay.core.errors import Forbidden, InvalidRequest
from scrubjay.core.protected_paths import ProtectedPaths

# Detail of an index that was read from a bundle: the file.
BUNDLE_FILE = "bundle_file"


async def _no_roots() -> Sequence[str]:
    return ()


class FolderPolicy:
    """The folders that may be indexed. Restricted callers are those who hold a key."""

    def __init__(
        self,
        protected: ProtectedPaths | None = None,
        roots: Sequence[Path] = (),
        default_roots: Callable[[], Awaitable[Sequence[str]]] = _no_roots,
    ) -> None:
        """`roots` limits all callers to these folders and their subfolders.

        Without it, restricted callers are limited to `default_roots` and others are not limited. `protected` is the
        store, which no caller may index, and secrets, which restricted callers may not.
        """
        self.protected = protected or ProtectedPaths()
        self._roots = [os.path.realpath(root) for root in roots]
        self._default_roots = default_roots

    async def permit(self, path: str, working_directory: str | None, *, restricted: bool) -> str:
        """Return the folder without links and dots; raise `Forbidden` if the caller may not index it."""
        root = resolve_folder(path, working_directory)
        if (refusal := await self.refusal(root, restricted=restricted)) is not None:
            raise refusal
        return root

    async def permit_file(self, path: str, working_directory: str | None, *, restricted: bool) -> str:
        """Return the resolved path of a bundle; raise `Forbidden` if the caller may not open it.

        Others than restricted callers may open a bundle in the store, because the store is where bundles are written.
        """
        file = resolve_folder(path, working_directory)
        refusal = await self.refusal(file, restricted=restricted) if restricted else self._outside_roots(file)
        if refusal is not None:
            raise refusal
        return file

    async def refusal(self, root: str, *, restricted: bool) -> Forbidden | None:
        """Return why a resolved folder may not be indexed; None if it may."""
        return self._refusal(root, await self._allowed_roots(restricted=restricted))

    async def readable(self, *, restricted: bool) -> Callable[[str], bool]:
        """Return a function that says whether the code of a resolved folder may be read, as of now."""
        allowed = await self._allowed_roots(restricted=restricted)

        @cache  # it reads files
        def is_readable(root: str) -> bool:
            return self._refusal(root, allowed) is None

        return is_readable

    async def _allowed_roots(self, *, restricted: bool) -> Sequence[str] | None:
        """Return the only folders for restricted callers; None for other callers."""
        if not restricted:
            return None
        return self._roots or await self._default_roots()

    def _refusal(self, root: str, allowed: Sequence[str] | None) -> Forbidden | None:
        if self.protected.in_store(root):
            return Forbidden(
                f"{root} belongs to the store of this server, which is never indexed",
                hint="pass the folder of a repository; recall and export_database read the store",
                details={"reason": "store"},
            )
        if allowed is None:
            return self._outside_roots(root)
        if self.protected.is_secret(root):
            return Forbidden(
                f"{root} may hold secrets, and is not indexed for callers with a key",
                hint="pass the folder of a repository",
                details={"reason": "secrets"},
            )
        if (refusal := self._outside_allowed(root, allowed)) is not None:
            return refusal
        for source in foreign_object_folders(root):
            if self.protected.in_store(source) or not _is_within_any(source, allowed):
                return Forbidden(
                    f"git reads objects of {root} from {source}, which is outside the folders that callers with a key "
                    "may index",
                    hint="the owner can allow it: set SCRUBJAY_CODE_ROOTS to both folders",
                    details={"reason": "objects_elsewhere"},
                )
        return None

    def _outside_allowed(self, root: str, allowed: Sequence[str]) -> Forbidden | None:
        if self._roots:
            return self._outside_roots(root)
        if _is_within_any(root, allowed):
            return None
        return Forbidden(
            f"{root} is outside the folders that callers with a key may index",
            hint="the owner can allow it: set SCRUBJAY_CODE_ROOTS, or make it a project with set_project, called with "
            "a key of all scopes or on the server's machine without a key",
            details={"reason": "outside_roots"},
        )

    async def allows(self, record: IndexRecord, *, restricted: bool) -> bool:
        """Return whether the caller may read this index."""
        if not restricted:
            return not self.protected.in_store(record.root)
        # The tree of an opened bundle lies in the store; who may open the file may read it.
        folder = record.details.get(BUNDLE_FILE, record.root)
        return await self.refusal(folder, restricted=True) is None

    async def permit_index(self, record: IndexRecord | None, index_id: str, *, restricted: bool) -> IndexRecord:
        """Return the record; raise the error for an unknown index if there is none, or the caller may not read it."""
        if record is None or not await self.allows(record, restricted=restricted):
            raise unknown_index(index_id)
        return record

    def _outside_roots(self, root: str) -> Forbidden | None:
        if not self._roots or _is_within_any(root, self._roots):
            return None
        return Forbidden(
            f"{root} is outside the folders that this server may index",
            hint="SCRUBJAY_CODE_ROOTS lists them",
            details={"reason": "outside_roots"},
        )


def resolve_folder(path: str, working_directory: str | None) -> str:
    """Return an absolute path without links and dots; `~` is the home folder of the server's user."""
    if "\0" in path:
        raise InvalidRequest("path: contains a NUL character")
    given = os.path.expanduser(path)  # noqa: PTH111  Path.expanduser raises for an unknown user
    if not os.path.isabs(given):  # noqa: PTH117
        if working_directory is None:
            raise InvalidRequest(
                f"{path!r} is relative, but the working folder is unknown", hint="pass an absolute path"
            )
        given = os.path.join(working_directory, given)  # noqa: PTH118
    return os.path.realpath(given)


def _is_within_any(root: str, folders: Sequence[str]) -> bool:
    return any(Path(root).is_relative_to(folder) for folder in folders)

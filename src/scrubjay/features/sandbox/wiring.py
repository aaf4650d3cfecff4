"""Putting together what runs agents' programs, and the folders in which these may read."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import anyio.abc

from scrubjay.app.settings import Settings
from scrubjay.core.errors import Forbidden
from scrubjay.features.sandbox.pool import Pool, usual_slots
from scrubjay.features.sandbox.profiles import Limits, Policy
from scrubjay.features.sandbox.service import Sandbox
from scrubjay.features.workspace.files.root import Root
from scrubjay.features.workspace.files.service import FileService
from scrubjay.features.workspace.wiring import root_at


def sandbox(settings: Settings, tasks: anyio.abc.TaskGroup) -> Sandbox:
    chosen = settings.sandbox
    ceiling = Limits(
        max_execution_time_ms=chosen.max_execution_time_ms,
        max_memory_mb=chosen.max_memory_mb,
        max_cpu_percent=chosen.max_cpu_percent,
        allow_filesystem=bool(chosen.allowed_paths),
        allow_tools=chosen.tools,
    )
    pool = Pool(
        settings.home / "derived" / "sandbox",
        tasks,
        slots=chosen.slots or usual_slots(),
        memory_bytes=chosen.max_memory_mb * 1024 * 1024,
    )
    roots = [root_at(settings, str(path)) for path in chosen.allowed_paths]
    return Sandbox(pool, Policy(chosen.profile, ceiling), OpenedFolders(roots, settings) if roots else None)


class OpenedFolders:
    """The folders that the owner opened to programs, without the store and without ways out by links."""

    def __init__(self, roots: Sequence[Root], settings: Settings) -> None:
        self._files = {root.path: FileService(root, search_seconds=settings.files.search_seconds) for root in roots}

    async def read(self, path: str, within: Sequence[str] | None) -> str:
        """A file by its absolute path; `within` can only leave out some of the folders, or parts of them."""
        root = _holding(self._files, path)
        if root is None or (within is not None and _holding(within, path) is None):
            raise Forbidden(
                f"{path[:200]!r} is in no folder that programs may read in",
                hint="give an absolute path; the owner opens folders by SCRUBJAY_SANDBOX_ALLOWED_PATHS",
            )
        return await self._files[root].read(path)


def _holding(folders: Iterable[str], path: str) -> str | None:
    """The folder that a path leads into, links and all."""
    if not path.startswith(os.sep) or "\0" in path:
        return None
    real = Path(os.path.realpath(path))
    return next((own for own in folders if "\0" not in own and real.is_relative_to(os.path.realpath(own))), None)

"""Assemble the sandbox and the folders that its programs may read."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from scrubjay.core.errors import Forbidden
from scrubjay.features.sandbox.pool import SandboxPool, default_slots
from scrubjay.features.sandbox.profiles import LimitPolicy, RunLimits
from scrubjay.features.sandbox.service import Sandbox
from scrubjay.features.sandbox.settings import SandboxSettings
from scrubjay.features.workspace.files.root import Root
from scrubjay.features.workspace.files.service import FileService
from scrubjay.features.workspace.settings import FileSettings
from scrubjay.features.workspace.wiring import root_at
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def sandbox(services: Services) -> Sandbox:
    chosen, runtime = services.ready(SandboxSettings), services.ready(Runtime)
    ceiling = RunLimits(
        max_execution_time_ms=chosen.max_execution_time_ms,
        max_memory_mb=chosen.max_memory_mb,
        max_cpu_percent=chosen.max_cpu_percent,
        allow_filesystem=bool(chosen.allowed_paths),
        allow_tools=chosen.tools,
    )
    pool = SandboxPool(
        runtime.home / "derived" / "sandbox",
        runtime.tasks,
        slots=chosen.slots or default_slots(),
        memory_bytes=chosen.max_memory_mb * 1024 * 1024,
    )
    roots = [root_at(services, str(path)) for path in chosen.allowed_paths]
    folders = AllowedFolders(roots, services.ready(FileSettings).search_seconds) if roots else None
    return Sandbox(pool, LimitPolicy(chosen.profile, ceiling), folders)


class AllowedFolders:
    """Reads files in the folders that the owner opened to programs; symbolic links cannot lead out of them."""

    def __init__(self, roots: Sequence[Root], search_seconds: float) -> None:
        self._files = {root.path: FileService(root, search_seconds=search_seconds) for root in roots}

    async def read(self, path: str, within: Sequence[str] | None) -> str:
        """Return the text of a file by its absolute path; `within` restricts the folders further."""
        root = _folder_containing(self._files, path)
        if root is None or (within is not None and _folder_containing(within, path) is None):
            raise Forbidden(
                f"programs may not read {path[:200]!r}",
                hint="give an absolute path in a folder of SCRUBJAY_SANDBOX_ALLOWED_PATHS, which the owner sets",
            )
        return await self._files[root].read(path)


def _folder_containing(folders: Iterable[str], path: str) -> str | None:
    """Return the folder that contains a path, with symbolic links resolved, or None."""
    if not path.startswith(os.sep) or "\0" in path:
        return None
    real = Path(os.path.realpath(path))
    return next(
        (folder for folder in folders if "\0" not in folder and real.is_relative_to(os.path.realpath(folder))), None
    )

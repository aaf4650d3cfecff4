"""Putting together what agents work with outside of their memory: files, commands, the web."""

import os
from pathlib import Path

import anyio.abc

from scrubjay import __version__
from scrubjay.app.setting_sources import FILE_NAME
from scrubjay.app.settings import Settings
from scrubjay.core.clock import Clock
from scrubjay.features.workspace.files.root import Parts, Root
from scrubjay.features.workspace.files.service import FileService, root_of
from scrubjay.features.workspace.terminal.command_policy import Permits
from scrubjay.features.workspace.terminal.service import Terminal, TerminalLimits
from scrubjay.features.workspace.web.addresses import Reach
from scrubjay.features.workspace.web.fetcher import Fetcher
from scrubjay.isolation.limits import Bounds

# What the store is made of, where the root is in its folder or is that folder.
_STORE = (
    *(
        "scrubjay.db",
        "scrubjay.db-wal",
        "scrubjay.db-shm",
        "scrubjay.lock",
        "code.db",
        "code.db-wal",
        "code.db-shm",
    ),
    *("derived", "code", "backups", "hooks", "audit.jsonl", "audit.lock", "server.json"),
)


def file_service(settings: Settings) -> FileService:
    return FileService(_root(settings), search_seconds=settings.files.search_seconds)


def terminal(settings: Settings, tasks: anyio.abc.TaskGroup, clock: Clock) -> Terminal:
    chosen = settings.terminal
    permits = Permits(
        root=_root(settings),
        bounds=Bounds(memory_bytes=chosen.memory_bytes, file_bytes=chosen.file_bytes),
        reach=_reach(settings),
        environment=os.environ,
        variables=chosen.variables,
    )
    limits = TerminalLimits(
        max_output_bytes=chosen.max_output_bytes, max_sessions=chosen.max_sessions, unrestricted=chosen.unrestricted
    )
    return Terminal(permits, tasks, limits, clock)


def fetcher(settings: Settings) -> Fetcher:
    return Fetcher(_reach(settings), settings.web.max_bytes, user_agent=f"Scrubjay/{__version__}")


def _reach(settings: Settings) -> Reach:
    return Reach(tuple(settings.web.allowed_hosts))


def _root(settings: Settings) -> Root:
    chosen = settings.files
    return root_at(settings, root_of(None if chosen.root is None else str(chosen.root), str(Path.cwd())))


def root_at(settings: Settings, path: str) -> Root:
    """A folder as a root: without the store, and with what decides about this server left as it is."""
    path = os.path.realpath(path)
    home = Path(os.path.realpath(settings.home))
    whole = _parts(home, path)
    own = [home / name for name in _STORE] if not whole else [home]
    skills = _parts(home / settings.skills.file, path)
    return Root(
        path,
        kept_out=tuple(parts for place in own if (parts := _parts(place, path))),
        kept_as_is=(skills,) if skills else (),
        kept_names=frozenset({FILE_NAME, ".env"}),
        max_file_bytes=settings.files.max_bytes,
    )


def _parts(place: Path, root: str) -> Parts:
    """A place as it is under the root; nothing when it is not, or is the root itself."""
    real = Path(os.path.realpath(place))
    return real.relative_to(root).parts if real.is_relative_to(root) else ()

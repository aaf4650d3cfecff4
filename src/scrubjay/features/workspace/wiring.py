"""Assemble files, commands, the screen and the web."""

import os
from pathlib import Path

from scrubjay import __version__
from scrubjay.core.environment import all_variables
from scrubjay.core.paths import SETTINGS_FILE, STORE_NAMES
from scrubjay.core.protected_paths import fold
from scrubjay.features.upstream_mcp.settings import SkillSettings
from scrubjay.features.workspace.files.root import Parts, Root, choose_root
from scrubjay.features.workspace.files.service import FileService
from scrubjay.features.workspace.screen.service import ScreenScanner
from scrubjay.features.workspace.settings import FileSettings, TerminalSettings, WebSettings
from scrubjay.features.workspace.terminal.command_policy import CommandPolicy
from scrubjay.features.workspace.terminal.service import Terminal, TerminalLimits
from scrubjay.features.workspace.web.addresses import HostPolicy
from scrubjay.features.workspace.web.fetcher import Fetcher
from scrubjay.features.workspace.web.search import WebSearch, web_search
from scrubjay.isolation.limits import Bounds
from scrubjay.models.breakers import BreakerRegistry
from scrubjay.tooling.key_watch import KeyWatch
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def file_service(services: Services) -> FileService:
    return FileService(_root(services), search_seconds=services.ready(FileSettings).search_seconds)


@WIRING.provides
async def terminal(services: Services) -> Terminal:
    chosen, runtime = services.ready(TerminalSettings), services.ready(Runtime)
    policy = CommandPolicy(
        root=_root(services),
        bounds=Bounds(memory_bytes=chosen.memory_bytes, file_bytes=chosen.file_bytes),
        host_policy=_host_policy(services),
        environment=all_variables(),
        variables=chosen.variables,
    )
    limits = TerminalLimits(
        max_output_bytes=chosen.max_output_bytes, max_sessions=chosen.max_sessions, unrestricted=chosen.unrestricted
    )
    return Terminal(policy, runtime.tasks, limits, services.ready(KeyWatch), runtime.clock)


@WIRING.provides
async def sonar(services: Services) -> ScreenScanner:
    return ScreenScanner(os.environ)


@WIRING.provides
async def fetcher(services: Services) -> Fetcher:
    return Fetcher(_host_policy(services), services.ready(WebSettings).max_bytes, user_agent=f"Scrubjay/{__version__}")


@WIRING.provides
async def web_searcher(services: Services) -> WebSearch:
    chosen = services.ready(WebSettings)
    search = web_search(chosen.search_url, chosen.search_key, all_variables(), services.ready(BreakerRegistry))
    services.on_close(search.close)
    return search


def _host_policy(services: Services) -> HostPolicy:
    return HostPolicy(tuple(services.ready(WebSettings).allowed_hosts))


def _root(services: Services) -> Root:
    chosen = services.ready(FileSettings)
    return root_at(services, choose_root(None if chosen.root is None else str(chosen.root), str(Path.cwd())))


def root_at(services: Services, path: str) -> Root:
    """Return a folder as a root that hides the store and protects files that configure this server from changes."""
    path = os.path.realpath(path)
    home = Path(os.path.realpath(services.ready(Runtime).home))
    home_parts = _parts(home, path)
    # Hidden when the root is the store's folder or lies in it.
    store_paths = [home / name for name in STORE_NAMES] if not home_parts else [home]
    skills_file = services.ready(SkillSettings).file
    skills = _parts(home / skills_file, path)
    return Root(
        path,
        hidden=tuple(parts for store_path in store_paths if (parts := _parts(store_path, path))),
        read_only=(skills,) if skills else (),
        read_only_names=frozenset({SETTINGS_FILE, ".env", "skills.json", fold(skills_file.name)}),
        max_file_bytes=services.ready(FileSettings).max_bytes,
    )


def _parts(target: Path, root: str) -> Parts:
    """Return the path relative to the root; empty if it is outside the root or the root itself."""
    real = Path(os.path.realpath(target))
    return real.relative_to(root).parts if real.is_relative_to(root) else ()

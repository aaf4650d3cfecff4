"""From what a caller wrote to what is run: the program where it is installed, its arguments, and what it can reach."""

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from scrubjay.core.errors import Forbidden, InvalidRequest, ScrubjayError
from scrubjay.features.workspace.files.root import Root
from scrubjay.features.workspace.terminal.confinement import INSTALLED, confines
from scrubjay.features.workspace.terminal.programs import Command, Needs, Refused, curl_url, permitted, read_command
from scrubjay.features.workspace.web.addresses import Reach, place_of
from scrubjay.isolation.limits import Bounds

# Nothing that a shell or an agent was started with is passed on, unless it is one of these: keys and tokens are there.
_VARIABLES = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME", "TMPDIR")
_USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# As when code is indexed: nothing that a repository brings along is run, and nothing fetched.
_GIT_FIRST = (
    *("--no-pager", "--no-optional-locks", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *("-c", "log.showSignature=false", "-c", "core.pager=cat", "-c", "diff.external="),
)
_GIT_SHOWS = frozenset({"log", "diff", "show", "diff-tree", "diff-index", "whatchanged"})
_GIT_VARIABLES = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
# No file of settings, no proxy, no redirect, no other protocol, and no list of addresses in one.
_PLAIN_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_CURL_FIRST = ("-q", "--globoff", "--proto", "=http,https", "--noproxy", "*", "--max-redirs", "0")


@dataclass(frozen=True, slots=True)
class Permitted:
    """What is run."""

    text: str
    """As the caller wrote it."""
    program: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Permits:
    """Decides what may be run."""

    root: Root
    bounds: Bounds
    reach: Reach
    environment: Mapping[str, str]
    """That of the server."""
    variables: Sequence[str] = ()
    """Those that the owner passes on beside the usual ones."""
    is_session: Callable[[int], bool] = field(default=lambda _: False)
    """Whether a pid is that of a session that the caller may end."""

    async def permit(self, text: str, *, restricted: bool) -> Permitted:
        """What to run for a command; `Refused` says why not. Without restriction, only what would hang is refused."""
        command = read_command(text)
        if not restricted:
            path = self.environment.get("PATH", _USUAL_PATH)
            return Permitted(text, self._found(command, path), command.arguments, self._variables(path), self.bounds)
        program = permitted(command)
        if program.takes_paths:
            self._refuse_ways_out(command, changes=program.needs is Needs.WRITING)
        if program.needs is Needs.SIGNALS:
            self._refuse_strangers(command)
        path = self._safe_path()
        found = self._found(command, path)
        variables, arguments, ports = self._variables(path), list(command.arguments), list[int]()
        if command.name == "git":
            variables |= _GIT_VARIABLES | {"GIT_CEILING_DIRECTORIES": str(Path(self.root.path).parent)}
            arguments = _git_arguments(arguments)
        if command.name == "curl" and (url := curl_url(arguments)) is not None:
            resolved, ports = await self._pinned(url)
            arguments = [*_CURL_FIRST, *resolved, *arguments]
        bounds = replace(self.bounds, confinement=confines(self.root, found, program.needs, ports))
        return Permitted(text, found, arguments, variables, bounds)

    def _refuse_ways_out(self, command: Command, *, changes: bool) -> None:
        for argument in command.arguments:
            for path in _paths_in(argument):
                try:
                    self.root.parts(path, changes=changes and not argument.startswith("-"))
                except (Forbidden, InvalidRequest) as error:
                    raise Refused(f"Command '{command.name}' may not reach this: {error.message}") from None

    def _refuse_strangers(self, command: Command) -> None:
        pids = [int(argument) for argument in command.arguments if argument.isdecimal()]
        if strangers := [pid for pid in pids if not self.is_session(pid)]:
            raise Refused(f"Command 'kill' may only end sessions of this server, and {strangers[0]} is none")

    async def _pinned(self, url: str) -> tuple[list[str], list[int]]:
        """What makes curl connect to the address that was looked at, and the port of it."""
        try:
            place = place_of(url)
            # Whatever curl reads otherwise than we do, it would look up by itself.
            if not _PLAIN_HOST.fullmatch(place.host):
                raise InvalidRequest("url: the host has other signs than letters, digits, dots and hyphens")
            address = (await self.reach.addresses(place.host, place.port))[0]
        except ScrubjayError as error:
            raise Refused(f"Command 'curl' may not reach this: {error.message}") from None
        written = f"[{address}]" if ":" in address else address
        return ["--resolve", f"{place.host}:{place.port}:{written}"], [place.port]

    def _found(self, command: Command, path: str) -> str:
        # One with a slash is from the root, in which it runs; of the list none has one.
        name = str(Path(self.root.path, command.name)) if "/" in command.name else command.name
        found = shutil.which(name, path=path)
        if found is None:
            raise Refused(f"Command '{command.name[:100]}' is not installed")
        return str(Path(self.root.path, found))

    def _safe_path(self) -> str:
        """Where programs are looked for: where those are that came with the system, and no caller could put one."""
        folders = self.environment.get("PATH", "").split(os.pathsep)
        return os.pathsep.join(folder for folder in folders if self._is_safe(folder)) or _USUAL_PATH

    def _is_safe(self, folder: str) -> bool:
        real = Path(os.path.realpath(folder))
        return any(real.is_relative_to(place) for place in INSTALLED) and (
            self.root.path == os.sep or not real.is_relative_to(self.root.path)
        )

    def _variables(self, path: str) -> dict[str, str]:
        kept = {name: self.environment[name] for name in (*_VARIABLES, *self.variables) if name in self.environment}
        return {**kept, "PATH": path, "TERM": "dumb", "NO_COLOR": "1"}


def _paths_in(argument: str) -> list[str]:
    """What in an argument may be a path: all of it, or what comes after the name of an option."""
    if not argument.startswith("-"):
        return [argument]
    paths: list[str] = []
    if "=" in argument:
        paths.append(argument.partition("=")[2])
    if "/" in argument:
        paths.append(argument[argument.index("/") :])
    elif ".." in argument:
        paths.append(argument[argument.index("..") :])
    return [path for path in paths if path]


def _git_arguments(arguments: list[str]) -> list[str]:
    if arguments and arguments[0] in _GIT_SHOWS:
        arguments = [arguments[0], "--no-ext-diff", "--no-textconv", *arguments[1:]]
    return [*_GIT_FIRST, *arguments]

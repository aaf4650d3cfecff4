"""The command policy: check a command and resolve its program, arguments, environment and confinement."""

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from scrubjay.core.errors import Forbidden, InvalidRequest, ScrubjayError
from scrubjay.features.workspace.files.root import Root
from scrubjay.features.workspace.terminal.confinement import INSTALLED, confinement_for, protects_hidden
from scrubjay.features.workspace.terminal.git_drivers import without_drivers
from scrubjay.features.workspace.terminal.permitted_command import PermittedCommand
from scrubjay.features.workspace.terminal.programs import (
    Command,
    CommandRefused,
    Needs,
    check_command,
    curl_url,
    ps_arguments,
    read_command,
)
from scrubjay.features.workspace.terminal.search_exclusions import without_secret_folders
from scrubjay.features.workspace.web.addresses import HostPolicy, parse_url
from scrubjay.isolation.limits import Bounds

# No other variable of the server is passed on, because the environment holds keys and tokens.
_VARIABLES = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME", "TMPDIR")
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PLAIN_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
# No configuration file, proxy, redirect or other protocol, and no URL globbing.
_CURL_FIRST = ("-q", "--globoff", "--proto", "=http,https", "--noproxy", "*", "--max-redirs", "0")


@dataclass(frozen=True, slots=True)
class CommandPolicy:
    """Decides which commands may run."""

    root: Root
    bounds: Bounds
    host_policy: HostPolicy
    environment: Mapping[str, str]
    """The environment of the server."""
    variables: Sequence[str] = ()
    """Names of variables that the owner passes on, besides the default ones."""
    is_session: Callable[[int], bool] = field(default=lambda _: False)
    """Return True for the pid of a session that the caller may end."""

    async def permit(self, text: str, *, restricted: bool) -> PermittedCommand:
        """Return the command to run. Raises `Refused` with the reason.

        With `restricted=False` only invalid, interactive and missing commands are refused.
        """
        command = read_command(text)
        if not restricted:
            path = self.environment.get("PATH", _DEFAULT_PATH)
            return PermittedCommand(
                text,
                self._find_program(command, path),
                command.arguments,
                self._variables(path),
                self.bounds,
                self.root.path,
            )
        program = check_command(command)
        if program.takes_paths:
            self._refuse_outside_paths(command, changes=program.needs is Needs.WRITING)
        searches = program.searches is not None and re.fullmatch(
            program.searches, " ".join(command.arguments), re.DOTALL
        )
        if searches:
            self._refuse_search_of_store(command)
        if program.needs is Needs.SIGNALS:
            self._refuse_foreign_processes(command)
        path = self._safe_path()
        found = self._find_program(command, path)
        variables, arguments, ports = self._variables(path), list(command.arguments), list[int]()
        if searches:
            arguments = without_secret_folders(command.name, arguments)
        if command.name == "ps":
            # Where ps cuts its lines, a part of a secret could not be masked.
            arguments = [*ps_arguments(arguments), "-ww"]
        if command.name == "curl" and (url := curl_url(arguments)) is not None:
            resolved, ports = await self._pinned(url)
            arguments = [*_CURL_FIRST, *resolved, *arguments]
        bounds = replace(self.bounds, confinement=confinement_for(self.root, found, program.needs, ports))
        folder = self.root.path if program.in_root else os.sep
        permitted = PermittedCommand(text, found, arguments, variables, bounds, folder, program.lists_processes)
        return await without_drivers(permitted, self.root) if command.name == "git" else permitted

    def _refuse_outside_paths(self, command: Command, *, changes: bool) -> None:
        for argument in command.arguments:
            for path in _paths_in(argument):
                try:
                    self.root.parts(path, changes=changes and not argument.startswith("-"))
                except (Forbidden, InvalidRequest) as error:
                    raise CommandRefused(f"Command '{command.name}' may not access this: {error.message}") from None

    def _refuse_search_of_store(self, command: Command) -> None:
        if not protects_hidden(self.root):
            raise CommandRefused(
                f"Command '{command.name}' may not search folders here: the store is in the root, and this system "
                "cannot keep a program from it"
            )

    def _refuse_foreign_processes(self, command: Command) -> None:
        pids = [int(argument) for argument in command.arguments if argument.isdecimal()]
        if foreign := [pid for pid in pids if not self.is_session(pid)]:
            raise CommandRefused(f"Command 'kill' may only end sessions of this server; {foreign[0]} is not one")

    async def _pinned(self, url: str) -> tuple[list[str], list[int]]:
        """Return curl options that pin the connection to the checked address, and its port."""
        try:
            target = parse_url(url)
            # curl could parse an unusual host differently and resolve it without the check.
            if not _PLAIN_HOST.fullmatch(target.host):
                raise InvalidRequest("url: the host may contain only letters, digits, dots and hyphens")
            address = (await self.host_policy.resolve(target.host, target.port))[0]
        except ScrubjayError as error:
            raise CommandRefused(f"Command 'curl' may not access this: {error.message}") from None
        bracketed = f"[{address}]" if ":" in address else address
        return ["--resolve", f"{target.host}:{target.port}:{bracketed}"], [target.port]

    def _find_program(self, command: Command, path: str) -> str:
        # A name with a slash is relative to the root, the working directory. No allowlisted name has one.
        name = str(Path(self.root.path, command.name)) if "/" in command.name else command.name
        found = shutil.which(name, path=path)
        if found is None:
            raise CommandRefused(f"Command '{command.name[:100]}' is not installed")
        return str(Path(self.root.path, found))

    def _safe_path(self) -> str:
        """Return the PATH for allowlisted programs: system folders only, where no caller can put a program."""
        folders = self.environment.get("PATH", "").split(os.pathsep)
        return os.pathsep.join(folder for folder in folders if self._is_system_folder(folder)) or _DEFAULT_PATH

    def _is_system_folder(self, folder: str) -> bool:
        real = Path(os.path.realpath(folder))
        return any(real.is_relative_to(target) for target in INSTALLED) and (
            self.root.path == os.sep or not real.is_relative_to(self.root.path)
        )

    def _variables(self, path: str) -> dict[str, str]:
        passed = {name: self.environment[name] for name in (*_VARIABLES, *self.variables) if name in self.environment}
        return {**passed, "PATH": path, "TERM": "dumb", "NO_COLOR": "1"}


def _paths_in(argument: str) -> list[str]:
    """Return the parts of an argument that may be paths: all of it, or the value of an option."""
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

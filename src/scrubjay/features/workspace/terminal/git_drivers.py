"""Keep git from starting the programs that a repository configures, and from reading other repositories."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from scrubjay.core.errors import Forbidden, InvalidRequest
from scrubjay.features.workspace.files.root import Root
from scrubjay.features.workspace.terminal.permitted_command import PermittedCommand
from scrubjay.features.workspace.terminal.programs import CommandRefused
from scrubjay.features.workspace.terminal.runner import RunningCommand

GIT_VARIABLES = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
# Settings of the command line precede those of the repository.
_SETTINGS = (
    # Programs. Signatures can be checked without an option too, by a format that the repository configures.
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "diff.external=", "core.sshCommand=false"),
    *(
        "core.alternateRefsCommand=false",
        "core.gitProxy=",
        "core.askPass=",
        "core.editor=false",
        "sequence.editor=false",
        "credential.helper=",
    ),
    *("log.showSignature=false", "gpg.program=false", "gpg.openpgp.program=false", "gpg.x509.program=false"),
    "gpg.ssh.program=false",
    # git reads a submodule by a second git, with the settings of the submodule.
    *(
        "submodule.recurse=false",
        "diff.submodule=short",
        "diff.ignoreSubmodules=dirty",
        "status.submoduleSummary=false",
    ),
    # Files that may be outside of the root.
    *("core.attributesFile=/dev/null", "core.excludesFile=/dev/null", "mailmap.file=", "blame.ignoreRevsFile="),
    # A folder is a repository only if it has .git, where no tool can write: any other folder could be made one.
    "safe.bareRepository=explicit",
    "diff.autoRefreshIndex=false",
)
_FIRST = ("--no-pager", "--no-optional-locks", *(word for setting in _SETTINGS for word in ("-c", setting)))
_WITHOUT_DRIVERS = {
    **dict.fromkeys(("log", "show", "diff-tree"), ("--no-ext-diff", "--no-textconv")),
    **dict.fromkeys(("diff", "diff-index"), ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")),
    "status": ("--ignore-submodules=dirty",),
    "blame": ("--no-textconv",),
}
# Sections whose subsections are drivers, and the settings that switch a driver off.
_DRIVERS = {
    "filter": ("clean=", "smudge=", "process=", "required=false"),
    "diff": ("command=", "textconv="),
    "merge": ("driver=",),
    "hook": ("enabled=false",),
}
_DRIVER = re.compile(rf"({'|'.join(_DRIVERS)})\.(.+)\.[^.]+", re.DOTALL | re.IGNORECASE)
MAX_DRIVERS = 100
CONFIGURATION_SECONDS = 10.0
_CONFIGURATION_BYTES = 1024 * 1024
_MAX_POINTER_BYTES = 10_000


async def without_drivers(git: PermittedCommand, root: Root) -> PermittedCommand:
    """Return the git command with every driver of the repository in the root switched off.

    Raises `CommandRefused` for a repository whose drivers cannot be switched off, or whose files are outside the root.
    """
    git = replace(git, environment={**git.environment, **_variables(root)})
    if not git.arguments or git.arguments[0].startswith("-"):
        return git
    _refuse_outside_repository(root)
    subcommand, *others = git.arguments
    names, in_repository = await _configured_names(git)
    if "core.worktree" in names:
        raise CommandRefused("Command 'git' may not access this: the repository sets core.worktree")
    if subcommand == "diff" and not (in_repository and all(_is_inside(word, root) for word in others)):
        # git would compare any two folders, as with the option --no-index.
        raise CommandRefused("Command 'git' may only compare files of the repository in the root")
    arguments = [*_FIRST, *_disabling(names), subcommand, *_WITHOUT_DRIVERS.get(subcommand, ()), *others]
    return replace(git, arguments=arguments)


def _variables(root: Root) -> dict[str, str]:
    return GIT_VARIABLES | {"GIT_CEILING_DIRECTORIES": str(Path(root.path).parent)}


def _disabling(names: Sequence[str]) -> list[str]:
    """Return the options that switch off the drivers among the names of settings."""
    drivers = {(found[1].lower(), found[2]) for name in names if (found := _DRIVER.fullmatch(name))}
    # The option -c ends the name of a setting at the first equals sign.
    if len(drivers) > MAX_DRIVERS or any("=" in name or "\n" in name for _, name in drivers):
        raise CommandRefused("Command 'git' may not access this: the drivers of the repository cannot be switched off")
    return [
        word
        for section, name in sorted(drivers)
        for setting in _DRIVERS[section]
        for word in ("-c", f"{section}.{name}.{setting}")
    ]


def _is_inside(word: str, root: Root) -> bool:
    """Return whether git takes an argument for a path in the root: it compares names and does not follow links."""
    normal = os.path.normpath(word)
    if os.path.isabs(word):  # noqa: PTH117 - not a path of this system before it is checked
        return f"{normal}/".startswith(f"{root.path.rstrip('/')}/")
    return normal.partition("/")[0] != ".."


async def _configured_names(git: PermittedCommand) -> tuple[Sequence[str], bool]:
    """Return the names of all settings that git would read, also from included files, and whether it sees a repository.

    git ignores a damaged repository, and one of another user.
    """
    asking = replace(git, arguments=[*_FIRST, "config", "--list", "--name-only", "--show-scope", "-z", "--includes"])
    output = bytearray()
    running = await RunningCommand.start(asking, has_input=False)
    try:
        with anyio.move_on_after(CONFIGURATION_SECONDS):
            async with anyio.create_task_group() as reading:
                reading.start_soon(running.read_output, output.extend)
                await running.ended()
                await running.output_ended.wait()
    finally:
        with anyio.CancelScope(shield=True):
            await running.close()
    if running.status != 0 or len(output) > _CONFIGURATION_BYTES:
        problem = output[:200].decode("utf-8", "replace").strip() if running.status else "it is too large"
        raise CommandRefused(f"Command 'git' cannot read the configuration of the repository: {problem}")
    words = output.decode("utf-8", "surrogateescape").split("\0")
    return words[1::2], "local" in words[::2]


def _refuse_outside_repository(root: Root) -> None:
    """Refuse a repository that keeps its files, or those of another one that it uses, outside of the root."""
    try:
        folder = _git_folder(root)
        root.parts(folder)
        common = Path(folder, _pointer(Path(folder, "commondir")) or ".")
        for path in (
            common,
            *_links_in(common),
            *_links_in(common / "objects"),
            *_links_in(common / "objects" / "pack"),
        ):
            root.parts(str(path))
    except (Forbidden, InvalidRequest) as error:
        raise CommandRefused(f"Command 'git' may not access this: {error.message}") from None
    if (common / "objects" / "info" / "alternates").exists():
        raise CommandRefused("Command 'git' may not access this: the repository uses the objects of another one")


def _git_folder(root: Root) -> str:
    entry = Path(root.path, ".git")
    if entry.is_file():
        return os.path.join(root.path, _pointer(entry).removeprefix("gitdir:").strip())  # noqa: PTH118 - may be absolute
    return str(entry)


def _links_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_symlink()]
    except OSError:
        return []


def _pointer(path: Path) -> str:
    """Return the text of a small file that names a folder; empty if there is none. Raises `InvalidRequest`."""
    try:
        if not path.is_file():  # opening a pipe would wait
            return ""
        with path.open(encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(_MAX_POINTER_BYTES + 1)
    except OSError:
        return ""
    if len(text) > _MAX_POINTER_BYTES:
        raise InvalidRequest(f"{path.name} of the repository is too long")
    return text.strip()

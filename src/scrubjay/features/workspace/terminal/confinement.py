"""The Landlock confinement of a permitted program: the root folder and the installed system."""

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from scrubjay.features.workspace.files.root import Parts, Root
from scrubjay.features.workspace.terminal.programs import Needs
from scrubjay.isolation import landlock
from scrubjay.isolation.limits import Confinement

# Program files and system configuration that most programs read. None of it is secret.
INSTALLED = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store")
_CONFIGURED = (
    *("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/etc/timezone", "/etc/passwd", "/etc/group"),
    *("/etc/nsswitch.conf", "/etc/hosts", "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/hostname"),
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/ca-certificates", "/etc/crypto-policies"),
    *("/etc/magic", "/etc/magic.mime", "/etc/mime.types", "/etc/os-release", "/etc/alternatives", "/etc/terminfo"),
    *("/dev/zero", "/dev/urandom", "/dev/random"),
)
MAX_PATHS = 500
_MACHINE = ("/proc", "/sys")
# The dynamic loader must be executable too.
_LOADERS = ("lib*/ld-linux*", "lib/*/ld-linux*", "lib/ld-musl*", "lib*/ld64.so*")


def confinement_for(root: Root, program: str, needs: Needs, ports: Sequence[int]) -> Confinement:
    """Return the confinement of a program. It may execute only itself, unless it needs helpers."""
    executes = [*INSTALLED] if needs is Needs.HELPERS else [program, *_loaders()]
    reads = [*INSTALLED, *_CONFIGURED, program, *(_MACHINE if needs is Needs.PROCESSES else ())]
    return Confinement(
        reads=[*map(os.path.realpath, reads), *_readable_paths(root)],
        lists=[root.path],
        writes=[root.path] if needs is Needs.WRITING else [],
        executes=[*map(os.path.realpath, executes)],
        ports=ports,
        signals=needs is Needs.SIGNALS,
    )


def protects_hidden(root: Root) -> bool:
    """Return whether the kernel keeps confined programs from the hidden parts of the root."""
    return not root.hidden or (landlock.version() > 0 and _readable_paths(root) != [root.path])


def _loaders() -> list[str]:
    return [str(loader) for pattern in _LOADERS for loader in Path("/").glob(pattern)]


def _readable_paths(root: Root) -> list[str]:
    """Return the root, or everything in it except the hidden parts."""
    paths = list(islice(_around(root, ()), MAX_PATHS + 1)) if root.hidden else []
    # Too many paths for a rule set. The arguments were already checked against the hidden parts.
    return paths if root.hidden and len(paths) <= MAX_PATHS else [root.path]


def _around(root: Root, here: Parts) -> Iterator[str]:
    for name in root.names(here):
        inside = (*here, name)
        if any(hidden[: len(inside)] == inside for hidden in root.hidden):
            yield from _around(root, inside)
        else:
            yield str(Path(root.path, *inside))

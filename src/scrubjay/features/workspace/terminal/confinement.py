"""What a permitted program can reach, where the kernel sees to that: the root, and what is installed."""

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from scrubjay.features.workspace.files.root import Parts, Root
from scrubjay.features.workspace.terminal.programs import Needs
from scrubjay.isolation.limits import Confinement

# What programs are made of, and what all of them look at; nothing of it is anybody's secret.
INSTALLED = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store")
_CONFIGURED = (
    *("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/etc/timezone", "/etc/passwd", "/etc/group"),
    *("/etc/nsswitch.conf", "/etc/hosts", "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/hostname"),
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/ca-certificates", "/etc/crypto-policies"),
    *("/etc/magic", "/etc/magic.mime", "/etc/mime.types", "/etc/os-release", "/etc/alternatives", "/etc/terminfo"),
    *("/dev/zero", "/dev/urandom", "/dev/random"),
)
MOST_PLACES = 500
_MACHINE = ("/proc", "/sys")
# Who loads a program's libraries must be startable with it.
_LOADERS = ("lib*/ld-linux*", "lib/*/ld-linux*", "lib/ld-musl*", "lib*/ld64.so*")


def confines(root: Root, program: str, needs: Needs, ports: Sequence[int]) -> Confinement:
    """The program itself is all that it can start, unless it needs helpers."""
    starts = [*INSTALLED] if needs is Needs.HELPERS else [program, *_loaders()]
    reads = [*INSTALLED, *_CONFIGURED, program, *(_MACHINE if needs is Needs.PROCESSES else ())]
    return Confinement(
        reads=[*map(os.path.realpath, reads), *_open_places(root)],
        lists=[root.path],
        writes=[root.path] if needs is Needs.WRITING else [],
        executes=[*map(os.path.realpath, starts)],
        ports=ports,
        signals=needs is Needs.SIGNALS,
    )


def _loaders() -> list[str]:
    return [str(own) for form in _LOADERS for own in Path("/").glob(form)]


def _open_places(root: Root) -> list[str]:
    """The root; where something in it is kept out, all else in it."""
    places = list(islice(_around(root, ()), MOST_PLACES + 1)) if root.kept_out else []
    # So many are too long to be told; that no argument names what is kept out has been seen to.
    return places if root.kept_out and len(places) <= MOST_PLACES else [root.path]


def _around(root: Root, here: Parts) -> Iterator[str]:
    for name in root.names(here):
        inside = (*here, name)
        if any(place[: len(inside)] == inside for place in root.kept_out):
            yield from _around(root, inside)
        else:
            yield str(Path(root.path, *inside))

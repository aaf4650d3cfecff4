"""Read which packages a repository defines and needs from its manifests, without running anything."""

import json
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any, cast

import anyio.to_thread

from scrubjay.code_index.content_location import contents_of
from scrubjay.code_index.discovery.contents import read_content
from scrubjay.code_index.models import FileTrait, Language
from scrubjay.code_index.service import CodeService, LoadedIndex, source_of
from scrubjay.code_index.store import IndexedFile, IndexRecord
from scrubjay.core.errors import Conflict

# In a repository with more manifests, the outermost are read.
MAX_MANIFESTS = 200
_BESIDE = FileTrait.TEST | FileTrait.EXAMPLE | FileTrait.VENDORED | FileTrait.GENERATED
_NOT_PACKAGES = frozenset(
    {
        "test", "tests", "testing", "docs", "doc", "examples", "example", "scripts", "benchmarks", "build", "dist",
        "src", "lib",
    }
)  # fmt: skip
_GO_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)
_GO_NEEDED = re.compile(r"^\s*(?:require\s+)?([\w.~-]+\.[\w.~-]+/[^\s]+)\s+v\d", re.MULTILINE)
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_SETUP_LIST = re.compile(r"\binstall_requires\s*=\s*\[([^\]]*)\]")
_SETUP_LINES = re.compile(r"^install_requires[ \t]*=((?:[^\n]*\n[ \t]+)*[^\n]*)", re.MULTILINE)
# An npm dependency with an alias: "tokens": "npm:@acme/tokens@1".
_NPM_RENAMED = re.compile(r"npm:(@?[^@\s]+)")
_QUOTED = re.compile(r"[\"']([^\"']+)[\"']")
_SETUP_NAME = re.compile(r"\bname\s*=\s*[\"']?([A-Za-z0-9][A-Za-z0-9._-]*)")


class Ecosystem(StrEnum):
    """A package ecosystem."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"
    GO = "go"
    RUST = "rust"


LANGUAGES: Mapping[Ecosystem, frozenset[Language]] = {
    Ecosystem.PYTHON: frozenset({Language.PYTHON}),
    Ecosystem.JAVASCRIPT: frozenset({Language.JAVASCRIPT, Language.TYPESCRIPT, Language.TSX}),
    Ecosystem.GO: frozenset({Language.GO}),
    Ecosystem.RUST: frozenset({Language.RUST}),
}


@dataclass(frozen=True, slots=True)
class Package:
    """A package that other repositories can import."""

    ecosystem: Ecosystem
    name: str
    """Name for installing it."""
    imported_as: tuple[str, ...]
    """Names for importing it."""
    manifest: str
    """Path of the manifest that defines it."""


@dataclass(frozen=True, slots=True)
class RepositoryPackages:
    """The packages that a repository defines and needs."""

    defined: Sequence[Package] = ()
    needed: Mapping[Ecosystem, frozenset[str]] = field(default_factory=dict[Ecosystem, frozenset[str]])
    """Names in its manifests' dependencies."""
    renamed: Mapping[tuple[Ecosystem, str], frozenset[str]] = field(
        default_factory=dict[tuple[Ecosystem, str], frozenset[str]]
    )
    """Local aliases of a package, by its ecosystem and own name."""

    def with_local_names(self, package: Package) -> Package:
        """Return a package of another repository with its local aliases added."""
        names = self.renamed.get((package.ecosystem, package.name), frozenset())
        return replace(package, imported_as=(*package.imported_as, *sorted(names))) if names else package


async def read_packages(code: CodeService, loaded: LoadedIndex) -> RepositoryPackages:
    """Return the packages in the manifests of an index."""
    files = loaded.corpus.files
    return await _read_manifests(loaded.record, {path: files[row] for path, row in loaded.corpus.row_of.items()})


async def related_to(code: CodeService, loaded: LoadedIndex, records: Iterable[IndexRecord]) -> set[str]:
    """Return the ids of records that need this repository's packages, or define some that it needs."""
    own = await read_packages(code, loaded)
    found: set[str] = set()
    for record in records:
        other = await _read_manifests(record, {file.path: file for file in await code.store.files(record.id)})
        if any(is_needed(one, other) for one in own.defined) or any(is_needed(one, own) for one in other.defined):
            found.add(record.id)
    return found


async def _read_manifests(record: IndexRecord, files: Mapping[str, IndexedFile]) -> RepositoryPackages:
    manifests = sorted(
        (path for path, file in files.items() if _is_manifest(path) and not file.traits & _BESIDE),
        key=lambda path: (path.count("/"), path),
    )
    defined: list[Package] = []
    needed: dict[Ecosystem, set[str]] = {}
    renamed: dict[tuple[Ecosystem, str], frozenset[str]] = {}
    for path in manifests[:MAX_MANIFESTS]:
        try:
            content = await anyio.to_thread.run_sync(read_content, contents_of(record), source_of(files[path]))
        except (Conflict, OSError):
            continue
        ecosystem, names, needs = _parse_manifest(path, content.decode("utf-8", "replace"))
        for own, original in needs.items():
            needed.setdefault(ecosystem, set()).add(original)
            if own != original:
                renamed[ecosystem, original] = renamed.get((ecosystem, original), frozenset()) | {own}
        for name in names:
            imported = (
                _python_names(path, name, files) if ecosystem is Ecosystem.PYTHON else _import_names(ecosystem, name)
            )
            is_new = not any(one.ecosystem is ecosystem and one.imported_as == imported for one in defined)
            if imported and is_new:
                defined.append(Package(ecosystem, name, imported, path))
    return RepositoryPackages(defined, {ecosystem: frozenset(names) for ecosystem, names in needed.items()}, renamed)


def _is_manifest(path: str) -> bool:
    return PurePosixPath(path).name in (
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
        "package.json",
        "go.mod",
        "Cargo.toml",
    )


def _parse_manifest(path: str, text: str) -> tuple[Ecosystem, Iterable[str], Mapping[str, str]]:
    """Return the ecosystem of a manifest, the names it defines, and the real names of dependencies by local name."""
    name = PurePosixPath(path).name
    try:
        match name:
            case "package.json":
                return Ecosystem.JAVASCRIPT, *_parse_package_json(json.loads(text))
            case "go.mod":
                return Ecosystem.GO, _GO_MODULE.findall(text)[:1], _by_own_name(_GO_NEEDED.findall(text))
            case "Cargo.toml":
                return Ecosystem.RUST, *_parse_cargo(tomllib.loads(text))
            case "pyproject.toml":
                return Ecosystem.PYTHON, *_parse_pyproject(tomllib.loads(text))
            case _:
                return Ecosystem.PYTHON, _SETUP_NAME.findall(text)[:1], _by_own_name(_parse_setup(text))
    except (ValueError, RecursionError):  # not a valid manifest
        return Ecosystem.PYTHON, (), {}


def _by_own_name(names: Iterable[str]) -> dict[str, str]:
    """Map each name to itself."""
    return {name: name for name in names}


def _parse_package_json(data: Any) -> tuple[list[str], dict[str, str]]:
    manifest = _mapping(data)
    needs = {
        name: renamed[1] if isinstance(version, str) and (renamed := _NPM_RENAMED.match(version)) else name
        for part in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
        for name, version in _mapping(manifest.get(part)).items()
    }
    name = manifest.get("name")
    return [name] if isinstance(name, str) and name else [], needs


def _parse_cargo(data: Any) -> tuple[list[str], dict[str, str]]:
    manifest = _mapping(data)
    parts = [manifest.get(part) for part in ("dependencies", "dev-dependencies", "build-dependencies")]
    parts.append(_mapping(manifest.get("workspace")).get("dependencies"))
    needs: dict[str, str] = {}
    for part in parts:
        for name, dependency in _mapping(part).items():
            original = _mapping(dependency).get("package")
            needs[name.replace("-", "_")] = original if isinstance(original, str) else name.replace("-", "_")
    name = _mapping(manifest.get("lib")).get("name") or _mapping(manifest.get("package")).get("name")
    return [name] if isinstance(name, str) else [], needs


def _parse_pyproject(data: Any) -> tuple[list[str], dict[str, str]]:
    manifest = _mapping(data)
    project, poetry = _mapping(manifest.get("project")), _mapping(_mapping(manifest.get("tool")).get("poetry"))
    lists = [project.get("dependencies"), *_mapping(project.get("optional-dependencies")).values()]
    needs = {
        _canonical(found[1])
        for own in lists
        if isinstance(own, list)
        for one in cast(list[Any], own)
        if isinstance(one, str) and (found := _REQUIREMENT.match(one))
    }
    needs |= {_canonical(name) for name in _mapping(poetry.get("dependencies")) if name != "python"}
    name = project.get("name") or poetry.get("name")
    return [name] if isinstance(name, str) else [], _by_own_name(needs)


def _parse_setup(text: str) -> set[str]:
    """Return the dependencies in a setup.py or setup.cfg: the strings of a list, or the lines below a key."""
    lists = [_QUOTED.findall(found) for found in _SETUP_LIST.findall(text)]
    lists += [found.splitlines() for found in _SETUP_LINES.findall(text)]
    return {_canonical(found[1]) for own in lists for one in own if (found := _REQUIREMENT.match(one))}


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, dict) else {}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _import_names(ecosystem: Ecosystem, name: str) -> tuple[str, ...]:
    return (name.replace("-", "_"),) if ecosystem is Ecosystem.RUST else (name,)


def _python_names(manifest: str, name: str, paths: Collection[str]) -> tuple[str, ...]:
    """Return the import names of a distribution: packages next to its manifest, or the module with its name."""
    folder = manifest.rpartition("/")[0]
    found: dict[str, None] = {}
    for start in ("", "src/", "lib/"):
        prefix = f"{folder}/{start}" if folder else start
        found |= dict.fromkeys(_python_packages(prefix, paths))
        module = name.replace("-", "_")
        if f"{prefix}{module}.py" in paths:
            found[module] = None
    return tuple(found)


def _python_packages(prefix: str, paths: Collection[str]) -> Iterator[str]:
    for path in paths:
        if path.startswith(prefix) and path.endswith("/__init__.py"):
            name = path[len(prefix) : -len("/__init__.py")]
            if "/" not in name and name not in _NOT_PACKAGES:
                yield name


def is_needed(package: Package, packages: RepositoryPackages) -> bool:
    """Return whether the manifests of a repository list this package."""
    needs = packages.needed.get(package.ecosystem, frozenset())
    name = _canonical(package.name) if package.ecosystem is Ecosystem.PYTHON else package.name
    return name in needs or any(imported in needs for imported in package.imported_as)

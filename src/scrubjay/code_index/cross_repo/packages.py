"""Which packages a repository defines, and which it says it needs: by its manifests, nothing of which is run."""

import json
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any, cast

import anyio.to_thread

from scrubjay.code_index.content_location import place_of
from scrubjay.code_index.discovery.contents import read_content
from scrubjay.code_index.models import FileTrait, Language
from scrubjay.code_index.service import CodeService, Loaded, source_of
from scrubjay.code_index.store import IndexedFile, IndexRecord
from scrubjay.core.errors import Conflict

# Of a repository with more packages the outermost are looked at.
MOST_MANIFESTS = 200
_BESIDE = FileTrait.TEST | FileTrait.EXAMPLE | FileTrait.VENDORED | FileTrait.GENERATED
_NO_PACKAGES = frozenset(
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
# An npm dependency under a name of its own: "tokens": "npm:@acme/tokens@1".
_NPM_RENAMED = re.compile(r"npm:(@?[^@\s]+)")
_QUOTED = re.compile(r"[\"']([^\"']+)[\"']")
_SETUP_NAME = re.compile(r"\bname\s*=\s*[\"']?([A-Za-z0-9][A-Za-z0-9._-]*)")


class Ecosystem(StrEnum):
    """Whose way of naming packages it is."""

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
    """Something that other repositories can import."""

    ecosystem: Ecosystem
    name: str
    """As its users install it."""
    imported_as: tuple[str, ...]
    """As its users import it."""
    manifest: str
    """The file that says so."""


@dataclass(frozen=True, slots=True)
class Packages:
    """What a repository defines and needs."""

    defined: Sequence[Package] = ()
    needed: Mapping[Ecosystem, frozenset[str]] = field(default_factory=dict[Ecosystem, frozenset[str]])
    """The names that its manifests say it needs."""
    renamed: Mapping[tuple[Ecosystem, str], frozenset[str]] = field(
        default_factory=dict[tuple[Ecosystem, str], frozenset[str]]
    )
    """By which other names it knows a package, by the package's own."""

    def as_known(self, package: Package) -> Package:
        """A package of another repository, with the names that it has here."""
        names = self.renamed.get((package.ecosystem, package.name), frozenset())
        return replace(package, imported_as=(*package.imported_as, *sorted(names))) if names else package


async def packages_of(code: CodeService, loaded: Loaded) -> Packages:
    """What the manifests of an index say."""
    files = loaded.corpus.files
    return await _packages(loaded.record, {path: files[row] for path, row in loaded.corpus.row_of.items()})


async def related_to(code: CodeService, loaded: Loaded, records: Iterable[IndexRecord]) -> set[str]:
    """The ids of those that say that they need this repository, or that it says it needs; none of them is loaded."""
    own = await packages_of(code, loaded)
    found: set[str] = set()
    for record in records:
        other = await _packages(record, {file.path: file for file in await code.store.files(record.id)})
        if any(is_needed(one, other) for one in own.defined) or any(is_needed(one, own) for one in other.defined):
            found.add(record.id)
    return found


async def _packages(record: IndexRecord, files: Mapping[str, IndexedFile]) -> Packages:
    manifests = sorted(
        (path for path, file in files.items() if _is_manifest(path) and not file.traits & _BESIDE),
        key=lambda path: (path.count("/"), path),
    )
    defined: list[Package] = []
    needed: dict[Ecosystem, set[str]] = {}
    renamed: dict[tuple[Ecosystem, str], frozenset[str]] = {}
    for path in manifests[:MOST_MANIFESTS]:
        try:
            content = await anyio.to_thread.run_sync(read_content, place_of(record), source_of(files[path]))
        except (Conflict, OSError):
            continue
        ecosystem, names, needs = _read(path, content.decode("utf-8", "replace"))
        for own, there in needs.items():
            needed.setdefault(ecosystem, set()).add(there)
            if own != there:
                renamed[ecosystem, there] = renamed.get((ecosystem, there), frozenset()) | {own}
        for name in names:
            imported = _python_names(path, name, files) if ecosystem is Ecosystem.PYTHON else _imported(ecosystem, name)
            is_new = not any(one.ecosystem is ecosystem and one.imported_as == imported for one in defined)
            if imported and is_new:
                defined.append(Package(ecosystem, name, imported, path))
    return Packages(defined, {ecosystem: frozenset(names) for ecosystem, names in needed.items()}, renamed)


def _is_manifest(path: str) -> bool:
    return PurePosixPath(path).name in (
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
        "package.json",
        "go.mod",
        "Cargo.toml",
    )


def _read(path: str, text: str) -> tuple[Ecosystem, Iterable[str], Mapping[str, str]]:
    """Whose manifest it is, what it defines, and what it needs: by which name, and what that is called itself."""
    name = PurePosixPath(path).name
    try:
        match name:
            case "package.json":
                return Ecosystem.JAVASCRIPT, *_of_node(json.loads(text))
            case "go.mod":
                return Ecosystem.GO, _GO_MODULE.findall(text)[:1], _same(_GO_NEEDED.findall(text))
            case "Cargo.toml":
                return Ecosystem.RUST, *_of_cargo(tomllib.loads(text))
            case "pyproject.toml":
                return Ecosystem.PYTHON, *_of_pyproject(tomllib.loads(text))
            case _:
                return Ecosystem.PYTHON, _SETUP_NAME.findall(text)[:1], _same(_of_setup(text))
    except (ValueError, RecursionError):  # it is no such file, or nobody can read it
        return Ecosystem.PYTHON, (), {}


def _same(names: Iterable[str]) -> dict[str, str]:
    """Each by its own name."""
    return {name: name for name in names}


def _of_node(data: Any) -> tuple[list[str], dict[str, str]]:
    told = _mapping(data)
    needs = {
        name: renamed[1] if isinstance(version, str) and (renamed := _NPM_RENAMED.match(version)) else name
        for part in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
        for name, version in _mapping(told.get(part)).items()
    }
    name = told.get("name")
    return [name] if isinstance(name, str) and name else [], needs


def _of_cargo(data: Any) -> tuple[list[str], dict[str, str]]:
    told = _mapping(data)
    parts = [told.get(part) for part in ("dependencies", "dev-dependencies", "build-dependencies")]
    parts.append(_mapping(told.get("workspace")).get("dependencies"))
    needs: dict[str, str] = {}
    for part in parts:
        for name, said in _mapping(part).items():
            there = _mapping(said).get("package")
            needs[name.replace("-", "_")] = there if isinstance(there, str) else name.replace("-", "_")
    name = _mapping(told.get("lib")).get("name") or _mapping(told.get("package")).get("name")
    return [name] if isinstance(name, str) else [], needs


def _of_pyproject(data: Any) -> tuple[list[str], dict[str, str]]:
    told = _mapping(data)
    project, poetry = _mapping(told.get("project")), _mapping(_mapping(told.get("tool")).get("poetry"))
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
    return [name] if isinstance(name, str) else [], _same(needs)


def _of_setup(text: str) -> set[str]:
    """What setup.py and setup.cfg say is needed: the texts of a list, or the lines below a key."""
    lists = [_QUOTED.findall(found) for found in _SETUP_LIST.findall(text)]
    lists += [found.splitlines() for found in _SETUP_LINES.findall(text)]
    return {_canonical(found[1]) for own in lists for one in own if (found := _REQUIREMENT.match(one))}


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, dict) else {}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _imported(ecosystem: Ecosystem, name: str) -> tuple[str, ...]:
    return (name.replace("-", "_"),) if ecosystem is Ecosystem.RUST else (name,)


def _python_names(manifest: str, name: str, paths: Collection[str]) -> tuple[str, ...]:
    """What a distribution lets others import: the packages beside its manifest, or the module of its name."""
    folder = manifest.rpartition("/")[0]
    found: dict[str, None] = {}
    for start in ("", "src/", "lib/"):
        place = f"{folder}/{start}" if folder else start
        found |= dict.fromkeys(_python_packages(place, paths))
        module = name.replace("-", "_")
        if f"{place}{module}.py" in paths:
            found[module] = None
    return tuple(found)


def _python_packages(place: str, paths: Collection[str]) -> Iterator[str]:
    for path in paths:
        if path.startswith(place) and path.endswith("/__init__.py"):
            name = path[len(place) : -len("/__init__.py")]
            if "/" not in name and name not in _NO_PACKAGES:
                yield name


def is_needed(package: Package, packages: Packages) -> bool:
    """Whether a repository says that it needs this package."""
    needs = packages.needed.get(package.ecosystem, frozenset())
    name = _canonical(package.name) if package.ecosystem is Ecosystem.PYTHON else package.name
    return name in needs or any(imported in needs for imported in package.imported_as)

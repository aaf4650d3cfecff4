"""Which file JavaScript and TypeScript import: by path, by `tsconfig.json`, by `package.json`, else as is usual."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from posixpath import basename, dirname, join, normpath, splitext
from typing import Any, NamedTuple, cast

from scrubjay.code_index.graph.manifests import Manifests, joined, upwards
from scrubjay.code_index.models import Facts

_SCRIPTS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".d.mts", ".vue", ".svelte")
_ENDINGS = (".js", ".jsx", ".mjs", ".cjs")
"""TypeScript is imported by the name that it will have as JavaScript."""
_DECLARED = (".d.ts", ".d.mts", ".d.cts")
_SOURCES = ("src", "", "lib", "source")
_CONFIGURATIONS = ("tsconfig.json", "jsconfig.json")
_ELSEWHERE = frozenset({"browser", "worker", "react-native", "deno", "bun", "edge-light", "workerd"})
"""Conditions of a package's entries that hold where most programs do not run: they are tried last."""
_ENTRIES = ("source", "types", "typings", "module", "main")
DEEPEST = 8


class _Compiler(NamedTuple):
    """What a configuration of the compiler says, with all that it extends."""

    base: str | None = None
    """The folder that names are looked for in."""
    paths: Mapping[str, Sequence[str]] = {}
    """Patterns with at most one `*`, and the files that they stand for, from the repository's root."""


class ScriptModules:
    """The scripts of a repository, and what imports in them mean."""

    def __init__(self, facts: Facts, manifests: Manifests) -> None:
        self._facts = facts
        self._manifests = manifests
        self._found: dict[tuple[str, str], str | None] = {}
        """By the file that imports and what it says; what was found for its folder is below."""
        self._found_within: dict[tuple[str, str], str | None] = {}
        self._compilers: dict[tuple[str, int], _Compiler] = {}

    def script(self, importer: str, module: str) -> str | None:
        """The file that is imported; None when it is not in the repository."""
        key = (importer, module)
        if key not in self._found:
            within = (dirname(importer), module)
            if within not in self._found_within:
                self._found_within[within] = self._script(*within)
            self._found[key] = self._found_within[within]
        return self._found[key]

    def _script(self, folder: str, module: str) -> str | None:
        module = module.partition("?")[0]
        if module.startswith("."):
            return self._at(joined(folder, module))
        if module.startswith("/"):
            return self._at(normpath(module[1:]))
        found = self._by_compiler(folder, module)
        if found is None and module.startswith("#"):
            found = self._by_own_package(folder, module)
        if found is not None:
            return found
        if module.startswith(("@/", "~/", "#/")) or (module.startswith(("#", "~")) and "/" in module):
            return self._below_sources(folder, module.partition("/")[2])
        return self._in_package(module) or self._below_sources(folder, module, only_deep=True)

    def _at(self, path: str) -> str | None:
        if path in self._facts:
            return path
        stem, ending = splitext(path)
        stems = [stem, path] if ending in _ENDINGS else [path]
        for each in stems:
            for suffix in _SCRIPTS:
                if each + suffix in self._facts:
                    return each + suffix
        for suffix in _SCRIPTS:
            index = join(path, "index" + suffix) if path not in ("", ".") else "index" + suffix
            if index in self._facts:
                return index
        return None

    # By tsconfig.json

    def _by_compiler(self, folder: str, module: str) -> str | None:
        for each in upwards(folder):
            for name in _CONFIGURATIONS:
                path = join(each, name)
                if path in self._facts:
                    found = self._by_configuration(path, module)
                    if found is not None:
                        return found
        return None

    def _by_configuration(self, path: str, module: str) -> str | None:
        said = self._manifests.said(path).get("typescript", {})
        # A configuration may do nothing but refer to those that are for its files.
        others = [joined(dirname(path), other) for other in said.get("references", ())]
        for own in [path, *(other if other.endswith(".json") else join(other, "tsconfig.json") for other in others)]:
            if own != path and dirname(own) != dirname(path):
                continue  # it is for the files of another folder
            compiler = self._compiler(own)
            for target in _matches(compiler.paths, module):
                found = self._at(normpath(target))
                if found is not None:
                    return found
            if compiler.base is not None and (found := self._at(joined(compiler.base, module))) is not None:
                return found
        return None

    def _compiler(self, path: str, depth: int = 0) -> _Compiler:
        key = (path, depth)
        if key not in self._compilers:
            self._compilers[key] = self._read_compiler(*key)
        return self._compilers[key]

    def _read_compiler(self, path: str, depth: int) -> _Compiler:
        said = self._manifests.said(path).get("typescript", {})
        own = dirname(path)
        inherited = _Compiler()
        for other in said.get("extends", ()):
            further = self._extended(own, other)
            if further is not None and depth < DEEPEST:
                above = self._compiler(further, depth + 1)
                inherited = _Compiler(
                    above.base if above.base is not None else inherited.base, above.paths or inherited.paths
                )
        base = joined(own, _here(said["baseUrl"])) if isinstance(said.get("baseUrl"), str) else inherited.base
        paths = inherited.paths
        if isinstance(said.get("paths"), dict):
            at = base if base is not None else own
            paths = {
                pattern: [joined(at, _here(target)) for target in _filled(targets, "*")]
                for pattern, targets in cast("dict[str, Any]", said["paths"]).items()
            }
        return _Compiler(base, paths)

    def _extended(self, folder: str, name: str) -> str | None:
        """The configuration that another one extends; one of a library only where that is in the repository."""
        if name.startswith("."):
            places = [joined(folder, name)]
        else:
            package, rest = _package_of(name)
            places = [joined(self._packages[package], rest)] if package in self._packages else []
        for place in places:
            for ending in ("", ".json", "/tsconfig.json"):
                if place + ending in self._facts:
                    return place + ending
        return None

    # By package.json

    @cached_property
    def _packages(self) -> Mapping[str, str]:
        """The folders of packages, by name; of two with one name none is told."""
        folders: dict[str, list[str]] = {}
        for folder, said in self._manifests.named("package.json"):
            name = said.get("package", {}).get("name") or basename(folder)
            if isinstance(name, str):
                folders.setdefault(name, []).append(folder)
        return {name: found[0] for name, found in folders.items() if len(found) == 1 and name}

    def _by_own_package(self, folder: str, module: str) -> str | None:
        """What `imports` of the package around say of a name with `#`."""
        for each in upwards(folder):
            said = self._manifests.said(join(each, "package.json")).get("package")
            if said is not None:
                return self._entry(each, _entries(said.get("imports"), module))
        return None

    def _in_package(self, module: str) -> str | None:
        name, rest = _package_of(module)
        folder = self._packages.get(name)
        if folder is None:
            return None
        said = self._manifests.said(join(folder, "package.json")).get("package", {})
        found = self._entry(folder, _entries(said.get("exports"), f"./{rest}" if rest else "."))
        if found is None and not rest:
            found = self._entry(folder, [said[key] for key in _ENTRIES if isinstance(said.get(key), str)])
        if found is not None:
            return found
        for root in _SOURCES:
            for entry in (rest,) if rest else ("index", "main", basename(folder)):
                found = self._at(normpath(join(folder, root, entry)))
                if found is not None:
                    return found
        return None

    def _entry(self, folder: str, targets: Sequence[str]) -> str | None:
        """The first of a package's files that is there, or that it is built of: `dist/a.js` is built of `src/a.ts`."""
        for target in targets:
            found = self._at(joined(folder, target))
            if found is not None:
                return found
        for target in targets:
            parts = _without_ending(normpath(target)).split("/")
            for cut in range(1, len(parts)):
                for root in _SOURCES:
                    found = self._at(normpath(join(folder, root, *parts[cut:])))
                    if found is not None:
                        return found
        return None

    # As is usual

    def _below_sources(self, folder: str, rest: str, *, only_deep: bool = False) -> str | None:
        """What `paths` and `baseUrl` usually mean: below `src`, `app` or the folder above, the nearest first."""
        if only_deep and ("/" not in rest or rest.startswith("@")):
            return None
        for each in upwards(folder):
            for root in ("src", "", "app", "lib"):
                found = self._at(normpath(join(each, root, rest)))
                if found is not None:
                    return found
        return None


def _here(path: str) -> str:
    return path.replace("${configDir}", ".")


def _package_of(module: str) -> tuple[str, str]:
    """The name of a package, and what is taken of it."""
    parts = module.split("/")
    cut = 2 if module.startswith("@") else 1
    return "/".join(parts[:cut]), "/".join(parts[cut:])


def _matches(patterns: Mapping[str, Any], name: str) -> Iterator[Any]:
    """What the patterns say of a name: the one that is the name itself, then the one with the longest beginning."""
    if name in patterns:
        yield from _filled(patterns[name], "")
        return
    for pattern in sorted(patterns, key=lambda one: -one.find("*")):
        before, star, after = pattern.partition("*")
        if star and name.startswith(before) and name.endswith(after) and len(name) >= len(before) + len(after):
            yield from _filled(patterns[pattern], name[len(before) : len(name) - len(after)])
            return


def _filled(said: Any, rest: str) -> Iterator[str]:
    """All files that an entry stands for, whatever the condition, those first that hold for most."""
    if isinstance(said, str):
        yield said.replace("*", rest)
    elif isinstance(said, list):
        for one in cast("list[Any]", said):
            yield from _filled(one, rest)
    elif isinstance(said, dict):
        conditions = cast("dict[str, Any]", said)
        for condition in sorted(conditions, key=lambda one: one in _ELSEWHERE):
            yield from _filled(conditions[condition], rest)


def _entries(said: Any, name: str) -> Sequence[str]:
    """What `exports` or `imports` say of a name; `exports` may be the entry itself."""
    told = cast("dict[str, Any]", said) if isinstance(said, dict) else None
    if told is not None and any(key.startswith((".", "#")) for key in told):
        return [*_matches(told, name)]
    return [*_filled(said, "")] if name == "." else ()


def _without_ending(path: str) -> str:
    for ending in (*_DECLARED, *_ENDINGS):
        if path.endswith(ending):
            return path.removesuffix(ending)
    return path

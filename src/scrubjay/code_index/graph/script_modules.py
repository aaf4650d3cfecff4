"""Maps imports of JavaScript and TypeScript to files, by path, `tsconfig.json`, `package.json` or convention."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from posixpath import basename, dirname, join, normpath, splitext
from typing import Any, NamedTuple, cast

from scrubjay.code_index.graph.manifests import Manifests, joined, with_parents
from scrubjay.code_index.models import Facts

_SCRIPTS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".d.mts", ".vue", ".svelte")
_ENDINGS = (".js", ".jsx", ".mjs", ".cjs")
"""TypeScript files are imported under the name of the JavaScript that is made from them."""
_DECLARED = (".d.ts", ".d.mts", ".d.cts")
_SOURCES = ("src", "", "lib", "source")
_CONFIGURATIONS = ("tsconfig.json", "jsconfig.json")
_RARE_CONDITIONS = frozenset({"browser", "worker", "react-native", "deno", "bun", "edge-light", "workerd"})
"""Conditions of package entries that apply to few programs, so they are tried last."""
_ENTRIES = ("source", "types", "typings", "module", "main")
MAX_EXTENDS_DEPTH = 8


class _Compiler(NamedTuple):
    """Compiler options of a configuration file, including those that it extends."""

    base: str | None = None
    """The folder in which bare names are looked up."""
    paths: Mapping[str, Sequence[str]] = {}
    """Patterns with at most one `*`, and the files they stand for, relative to the repository root."""


class ScriptModules:
    """Resolves imports between the scripts of a repository."""

    def __init__(self, facts: Facts, manifests: Manifests) -> None:
        self._facts = facts
        self._manifests = manifests
        self._found: dict[tuple[str, str], str | None] = {}
        """By importing file and module name. Files of a folder share `_found_in_folder`."""
        self._found_in_folder: dict[tuple[str, str], str | None] = {}
        self._compilers: dict[tuple[str, int], _Compiler] = {}

    def script(self, importer: str, module: str) -> str | None:
        """Return the imported file; None if it is not in the repository."""
        key = (importer, module)
        if key not in self._found:
            within = (dirname(importer), module)
            if within not in self._found_in_folder:
                self._found_in_folder[within] = self._script(*within)
            self._found[key] = self._found_in_folder[within]
        return self._found[key]

    def _script(self, folder: str, module: str) -> str | None:
        module = module.partition("?")[0]
        if module.startswith("."):
            return self._file_at(joined(folder, module))
        if module.startswith("/"):
            return self._file_at(normpath(module[1:]))
        found = self._by_nearest_configuration(folder, module)
        if found is None and module.startswith("#"):
            found = self._by_own_package(folder, module)
        if found is not None:
            return found
        if module.startswith(("@/", "~/", "#/")) or (module.startswith(("#", "~")) and "/" in module):
            return self._in_source_folders(folder, module.partition("/")[2])
        return self._in_package(module) or self._in_source_folders(folder, module, only_deep=True)

    def _file_at(self, path: str) -> str | None:
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

    def _by_nearest_configuration(self, folder: str, module: str) -> str | None:
        for each in with_parents(folder):
            for name in _CONFIGURATIONS:
                path = join(each, name)
                if path in self._facts:
                    found = self._by_configuration(path, module)
                    if found is not None:
                        return found
        return None

    def _by_configuration(self, path: str, module: str) -> str | None:
        options = self._manifests.content(path).get("typescript", {})
        # A configuration may consist of references to the ones that apply to its files.
        others = [joined(dirname(path), other) for other in options.get("references", ())]
        for own in [path, *(other if other.endswith(".json") else join(other, "tsconfig.json") for other in others)]:
            if own != path and dirname(own) != dirname(path):
                continue  # it applies to the files of another folder
            compiler = self._compiler(own)
            for target in _matches(compiler.paths, module):
                found = self._file_at(normpath(target))
                if found is not None:
                    return found
            if compiler.base is not None and (found := self._file_at(joined(compiler.base, module))) is not None:
                return found
        return None

    def _compiler(self, path: str, depth: int = 0) -> _Compiler:
        key = (path, depth)
        if key not in self._compilers:
            self._compilers[key] = self._read_compiler(*key)
        return self._compilers[key]

    def _read_compiler(self, path: str, depth: int) -> _Compiler:
        options = self._manifests.content(path).get("typescript", {})
        own = dirname(path)
        inherited = _Compiler()
        for other in options.get("extends", ()):
            further = self._extended(own, other)
            if further is not None and depth < MAX_EXTENDS_DEPTH:
                above = self._compiler(further, depth + 1)
                inherited = _Compiler(
                    above.base if above.base is not None else inherited.base, above.paths or inherited.paths
                )
        base = (
            joined(own, _without_config_dir(options["baseUrl"]))
            if isinstance(options.get("baseUrl"), str)
            else inherited.base
        )
        paths = inherited.paths
        if isinstance(options.get("paths"), dict):
            at = base if base is not None else own
            paths = {
                pattern: [joined(at, _without_config_dir(target)) for target in _expand(targets, "*")]
                for pattern, targets in cast("dict[str, Any]", options["paths"]).items()
            }
        return _Compiler(base, paths)

    def _extended(self, folder: str, name: str) -> str | None:
        """Return the path of an extended configuration; for one of a library only if that is in the repository."""
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
        """The folders of packages by name; names that are not unique are left out."""
        folders: dict[str, list[str]] = {}
        for folder, content in self._manifests.named("package.json"):
            name = content.get("package", {}).get("name") or basename(folder)
            if isinstance(name, str):
                folders.setdefault(name, []).append(folder)
        return {name: found[0] for name, found in folders.items() if len(found) == 1 and name}

    def _by_own_package(self, folder: str, module: str) -> str | None:
        """Resolve a name with `#` by the `imports` of the enclosing package."""
        for each in with_parents(folder):
            content = self._manifests.content(join(each, "package.json")).get("package")
            if content is not None:
                return self._find_entry(each, _entry_targets(content.get("imports"), module))
        return None

    def _in_package(self, module: str) -> str | None:
        name, rest = _package_of(module)
        folder = self._packages.get(name)
        if folder is None:
            return None
        content = self._manifests.content(join(folder, "package.json")).get("package", {})
        found = self._find_entry(folder, _entry_targets(content.get("exports"), f"./{rest}" if rest else "."))
        if found is None and not rest:
            found = self._find_entry(folder, [content[key] for key in _ENTRIES if isinstance(content.get(key), str)])
        if found is not None:
            return found
        for root in _SOURCES:
            for entry in (rest,) if rest else ("index", "main", basename(folder)):
                found = self._file_at(normpath(join(folder, root, entry)))
                if found is not None:
                    return found
        return None

    def _find_entry(self, folder: str, targets: Sequence[str]) -> str | None:
        """Return the first target that exists or whose source exists: `dist/a.js` is built from `src/a.ts`."""
        for target in targets:
            found = self._file_at(joined(folder, target))
            if found is not None:
                return found
        for target in targets:
            parts = _without_ending(normpath(target)).split("/")
            for cut in range(1, len(parts)):
                for root in _SOURCES:
                    found = self._file_at(normpath(join(folder, root, *parts[cut:])))
                    if found is not None:
                        return found
        return None

    # By convention

    def _in_source_folders(self, folder: str, rest: str, *, only_deep: bool = False) -> str | None:
        """Resolve what `paths` and `baseUrl` usually express: below `src`, `app` or a parent folder, nearest first."""
        if only_deep and ("/" not in rest or rest.startswith("@")):
            return None
        for each in with_parents(folder):
            for root in ("src", "", "app", "lib"):
                found = self._file_at(normpath(join(each, root, rest)))
                if found is not None:
                    return found
        return None


def _without_config_dir(path: str) -> str:
    return path.replace("${configDir}", ".")


def _package_of(module: str) -> tuple[str, str]:
    """Return the name of a package, and the path within it."""
    parts = module.split("/")
    cut = 2 if module.startswith("@") else 1
    return "/".join(parts[:cut]), "/".join(parts[cut:])


def _matches(patterns: Mapping[str, Any], name: str) -> Iterator[Any]:
    """Yield the targets of a name: of the pattern equal to it, or else of the pattern with the longest prefix."""
    if name in patterns:
        yield from _expand(patterns[name], "")
        return
    for pattern in sorted(patterns, key=lambda one: -one.find("*")):
        before, star, after = pattern.partition("*")
        if star and name.startswith(before) and name.endswith(after) and len(name) >= len(before) + len(after):
            yield from _expand(patterns[pattern], name[len(before) : len(name) - len(after)])
            return


def _expand(entry: Any, rest: str) -> Iterator[str]:
    """Yield all files that an entry stands for, under any condition; the most common conditions come first."""
    if isinstance(entry, str):
        yield entry.replace("*", rest)
    elif isinstance(entry, list):
        for one in cast("list[Any]", entry):
            yield from _expand(one, rest)
    elif isinstance(entry, dict):
        conditions = cast("dict[str, Any]", entry)
        for condition in sorted(conditions, key=lambda one: one in _RARE_CONDITIONS):
            yield from _expand(conditions[condition], rest)


def _entry_targets(entry: Any, name: str) -> Sequence[str]:
    """Return the targets of a name in `exports` or `imports`; `exports` may be the entry itself."""
    by_name = cast("dict[str, Any]", entry) if isinstance(entry, dict) else None
    if by_name is not None and any(key.startswith((".", "#")) for key in by_name):
        return [*_matches(by_name, name)]
    return [*_expand(entry, "")] if name == "." else ()


def _without_ending(path: str) -> str:
    for ending in (*_DECLARED, *_ENDINGS):
        if path.endswith(ending):
            return path.removesuffix(ending)
    return path

"""Which files of a repository an import means, by each language's own rules."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from posixpath import basename, dirname, join, normpath, splitext

from recollect.domain.code import Facts, FileFacts, Language

JAVASCRIPT = frozenset({Language.JAVASCRIPT, Language.TYPESCRIPT, Language.TSX})
JVM = frozenset({Language.JAVA, Language.KOTLIN, Language.SCALA})
C = frozenset({Language.C, Language.CPP})

_SCRIPTS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".d.mts", ".vue", ".svelte")
_ENDINGS = (".js", ".jsx", ".mjs", ".cjs")
"""TypeScript is imported by the name that it will have as JavaScript."""

RustModule = tuple[str, tuple[str, ...]]
"""A crate by its folder, and a module in it by its path."""


class Modules:
    """All files of a repository, and what imports in them mean."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._found: dict[tuple[str, str], str | None] = {}

    # JavaScript and TypeScript

    def script(self, importer: str, module: str) -> str | None:
        """The file that JavaScript or TypeScript imports; None when it is not in the repository."""
        key = (dirname(importer), module)
        if key not in self._found:
            self._found[key] = self._script(*key)
        return self._found[key]

    def _script(self, folder: str, module: str) -> str | None:
        module = module.partition("?")[0]
        if module.startswith("."):
            return self._script_at(_joined(folder, module))
        if module.startswith("/"):
            return self._script_at(normpath(module[1:]))
        if module.startswith(("@/", "~/", "#/")) or (module.startswith(("#", "~")) and "/" in module):
            return self._below_sources(folder, module.partition("/")[2])
        return self._in_package(module) or self._below_sources(folder, module, only_deep=True)

    def _script_at(self, path: str) -> str | None:
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

    def _below_sources(self, folder: str, rest: str, *, only_deep: bool = False) -> str | None:
        """What `paths` and `baseUrl` usually mean: below `src`, `app` or the folder above, the nearest first."""
        if only_deep and ("/" not in rest or rest.startswith("@")):
            return None
        while True:
            for root in ("src", "", "app", "lib"):
                found = self._script_at(normpath(join(folder, root, rest)))
                if found is not None:
                    return found
            if not folder:
                return None
            folder = dirname(folder)

    @cached_property
    def _packages(self) -> Mapping[str, str]:
        """Folders with a `package.json`, by the name that they probably have: the folder's, with a scope or without."""
        folders: dict[str, list[str]] = {}
        for path in self._facts:
            if basename(path) == "package.json" and "node_modules/" not in path:
                folders.setdefault(self._package_name(path) or basename(dirname(path)), []).append(dirname(path))
        return {name: found[0] for name, found in folders.items() if len(found) == 1 and name}

    def _package_name(self, path: str) -> str:
        for symbol in self._facts[path].symbols:
            if symbol.container < 0 and symbol.name == "name":
                return symbol.signature.partition(":")[2].strip(' ",')
        return ""

    def _in_package(self, module: str) -> str | None:
        parts = module.split("/")
        scoped = module.startswith("@")
        name, rest = "/".join(parts[: 1 + scoped]), "/".join(parts[1 + scoped :])
        folder = self._packages.get(name)
        if folder is None and scoped and len(parts) > 1:
            folder = self._packages.get(parts[1])
        if folder is None:
            return None
        for root in ("src", "", "lib", "source"):
            for entry in (rest,) if rest else ("index", "main", basename(folder)):
                found = self._script_at(normpath(join(folder, root, entry)))
                if found is not None:
                    return found
        return None

    # Go

    @cached_property
    def go_folders(self) -> Mapping[str, Sequence[str]]:
        """The files of each package."""
        folders: dict[str, list[str]] = {}
        for path, facts in self._facts.items():
            if facts.language is Language.GO:
                folders.setdefault(dirname(path), []).append(path)
        return folders

    @cached_property
    def _go_prefixes(self) -> Sequence[str]:
        """The paths of the repository's Go modules, as the imports of its own packages show them."""
        support: Counter[str] = Counter()
        modules = {each.module for path, facts in self._facts.items() if path.endswith(".go") for each in facts.imports}
        for module in modules:
            if "." not in module.partition("/")[0]:
                continue
            parts = module.split("/")
            for cut in range(1, len(parts)):
                if "/".join(parts[cut:]) in self.go_folders:
                    support["/".join(parts[:cut])] += 1
            if "" in self.go_folders:
                support[module] += 0
        most = max(support.values(), default=0)
        return [prefix for prefix, count in support.items() if count == most and count] if most else []

    def go_package(self, module: str) -> str | None:
        """The folder of an imported package; None when it is not in the repository."""
        for prefix in self._go_prefixes:
            if module == prefix and "" in self.go_folders:
                return ""
            if module.startswith(prefix + "/") and module[len(prefix) + 1 :] in self.go_folders:
                return module[len(prefix) + 1 :]
        if not self._go_prefixes and "" in self.go_folders and "." in module.partition("/")[0]:
            name = module.rpartition("/")[2]
            return "" if any(own == name for own in self._go_names) else None
        return None

    @cached_property
    def _go_names(self) -> Sequence[str]:
        return [
            symbol.name
            for path in self.go_folders.get("", ())
            for symbol in self._facts[path].symbols
            if symbol.kind == "module"
        ]

    # Rust

    @cached_property
    def _rust(self) -> tuple[Mapping[RustModule, str], Mapping[str, RustModule], Mapping[str, str]]:
        """Files by module, modules by file, folders of crates by their names."""
        files: dict[RustModule, str] = {}
        modules: dict[str, RustModule] = {}
        crates: dict[str, str] = {}
        paths = sorted(path for path, facts in self._facts.items() if facts.language is Language.RUST)
        roots = {dirname(path) for path in paths if basename(path) in ("lib.rs", "main.rs")}
        for path in paths:
            folder, name = dirname(path), basename(path)[:-3]
            root = folder
            while root not in roots and root:
                root = dirname(root)
            if root not in roots:
                root = folder
            inside = tuple(part for part in folder[len(root) :].split("/") if part)
            own = inside if name in ("mod", "lib", "main") else (*inside, name)
            key = (root, own)
            if basename(path) != "main.rs" or key not in files:
                files[key] = path
            modules[path] = key
        for root in roots:
            if basename(root) == "src":
                crates[basename(dirname(root)).replace("-", "_")] = root
        return files, modules, crates

    def rust_module(self, path: str) -> RustModule:
        """The module that a file is."""
        return self._rust[1].get(path, (dirname(path), ()))

    def rust_file(self, module: RustModule) -> str | None:
        """The file that a module is."""
        return self._rust[0].get(module)

    def rust_crate(self, name: str, importer: str) -> RustModule | None:
        """Another crate of the repository; of tests, examples and binaries the library beside them."""
        crates = self._rust[2]
        if name in crates:
            return (crates[name], ())
        if "" in crates and name not in ("std", "core", "alloc", "proc_macro"):
            folder = crates[""]
            own = self.rust_module(importer)
            # The folder of a repository says nothing of its crate's name: whoever stands beside the library means it.
            if own[0] != folder and dirname(own[0]) in ("", dirname(folder)):
                return (folder, ())
        return None

    # Others

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[str]]:
        names: dict[str, list[str]] = {}
        for path in self._facts:
            names.setdefault(basename(path), []).append(path)
        return names

    def by_suffix(self, importer: str, wanted: str, endings: Sequence[str] = ("",)) -> str | None:
        """The file whose path ends so: next to the importer first, then the one that is nearest to it."""
        for ending in endings:
            beside = _joined(dirname(importer), wanted + ending)
            if beside in self._facts:
                return beside
        clean = normpath(wanted).lstrip("./")
        for ending in endings:
            tail = clean + ending
            found = [
                path for path in self._by_name.get(basename(tail), ()) if path == tail or path.endswith("/" + tail)
            ]
            if found:
                return min(found, key=lambda path: (-_common(path, importer), len(path), path))
        return None

    def imported(self, path: str, facts: FileFacts) -> Sequence[str]:
        """All files of the repository that a file imports, ascending."""
        return sorted(
            {found for each in facts.imports for found in self.files(path, facts.language, each.module, each.name)}
            - {path}
        )

    def files(self, importer: str, language: Language, module: str, name: str = "") -> Iterable[str]:
        """The files that an import means."""
        if language in JAVASCRIPT:
            found = self.script(importer, module)
        elif language is Language.GO:
            folder = self.go_package(module)
            return self.go_folders[folder] if folder is not None else ()
        elif language is Language.RUST:
            found = self._rust_import(importer, module, name)
        elif language in C:
            found = self.by_suffix(importer, module)
        elif language is Language.RUBY:
            found = self.by_suffix(importer, module, (".rb", ""))
        elif language is Language.BASH:
            found = self.by_suffix(importer, module.rpartition("}")[2].lstrip("/"))
        elif language is Language.PHP and module.endswith(".php"):
            found = self.by_suffix(importer, module.lstrip("/"))
        elif language in JVM or language in (Language.PHP, Language.CSHARP):
            found = self._by_package(importer, language, module, name)
        else:
            found = None
        return (found,) if found is not None else ()

    def _by_package(self, importer: str, language: Language, module: str, name: str) -> str | None:
        """`com.foo.Bar` is `…/com/foo/Bar.java`, as far as folders follow packages."""
        if name == "*":
            return None
        parts = [part for part in module.replace("\\", ".").split(".") if part] + ([name] if name else [])
        endings = {Language.PHP: (".php",), Language.CSHARP: (".cs",)}.get(language, (".java", ".kt", ".scala"))
        for cut in range(len(parts), 0, -1):  # the last may be a member, the first ones no folders
            for begin in range(max(1, cut - 1)):
                found = self.by_suffix("", "/".join(parts[begin:cut]), endings)
                if found is not None:
                    return found
            if cut < len(parts) - 1:
                break
        return None

    def _rust_import(self, importer: str, module: str, name: str) -> str | None:
        parts = [part for part in module.split("::") if part] + ([name] if name not in ("", "*", "self") else [])
        at = self.rust_start(importer, parts[0]) if parts else None
        if at is None:
            return None
        crate, inside = at
        file = self.rust_file(at)
        for part in parts[1:] if parts[0] in ("crate", "self", "super") or parts[0] in self._rust[2] else parts:
            inside = inside[:-1] if part == "super" else (*inside, part)
            further = self.rust_file((crate, inside))
            if further is None:
                break
            file = further
        return file

    def rust_start(self, importer: str, first: str) -> RustModule | None:
        """Where a path of Rust begins: this crate, this module, the one above, another crate, a module within this."""
        crate, inside = self.rust_module(importer)
        if first == "crate":
            return (crate, ())
        if first == "self":
            return (crate, inside)
        if first == "super":
            return (crate, inside[:-1])
        if self.rust_file((crate, (*inside, first))) is not None:
            return (crate, inside)
        return self.rust_crate(first, importer)


def _joined(folder: str, name: str) -> str:
    path = normpath(join(folder, name))
    return "" if path == "." else path


def _common(left: str, right: str) -> int:
    """How many folders two paths share."""
    count = 0
    for one, other in zip(left.split("/"), right.split("/"), strict=False):
        if one != other:
            break
        count += 1
    return count

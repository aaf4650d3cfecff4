"""Resolves imports to files, by the rules of each language."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from posixpath import basename, dirname, normpath

from scrubjay.code_index.graph.go_modules import GoModules
from scrubjay.code_index.graph.manifests import Manifests, joined
from scrubjay.code_index.graph.rust_modules import RustModules
from scrubjay.code_index.graph.script_modules import ScriptModules
from scrubjay.code_index.models import Facts, FileFacts, Import, Language

JAVASCRIPT = frozenset({Language.JAVASCRIPT, Language.TYPESCRIPT, Language.TSX})
JVM = frozenset({Language.JAVA, Language.KOTLIN, Language.SCALA})
C = frozenset({Language.C, Language.CPP})


class Modules:
    """Finds the files that imports refer to."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        manifests = Manifests(facts)
        self.scripts = ScriptModules(facts, manifests)
        self.go = GoModules(facts, manifests)
        self.rust = RustModules(facts, manifests)

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[str]]:
        names: dict[str, list[str]] = {}
        for path in self._facts:
            names.setdefault(basename(path), []).append(path)
        return names

    def by_suffix(self, importer: str, wanted: str, endings: Sequence[str] = ("",)) -> str | None:
        """Return the file whose path ends with `wanted`; of several, the one nearest to the importer."""
        for ending in endings:
            beside = joined(dirname(importer), wanted + ending)
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
        """Return the sorted paths of the files that a file imports."""
        return sorted({found for each in facts.imports for found in self.files(path, facts.language, each)} - {path})

    def files(self, importer: str, language: Language, each: Import) -> Iterable[str]:
        """Return the files that an import refers to."""
        module, name = each.module, each.name
        if language in JAVASCRIPT:
            found = self.scripts.script(importer, module)
        elif language is Language.GO:
            folder = self.go.package(module, importer)
            return self.go.folders[folder] if folder is not None else ()
        elif language is Language.RUST:
            found = self.rust.imported(importer, each.container, rust_parts(each))
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
        """Resolve `com.foo.Bar` to `…/com/foo/Bar.java`, as far as folders follow packages."""
        if name == "*":
            return None
        parts = [part for part in module.replace("\\", ".").split(".") if part] + ([name] if name else [])
        endings = {Language.PHP: (".php",), Language.CSHARP: (".cs",)}.get(language, (".java", ".kt", ".scala"))
        for cut in range(len(parts), 0, -1):  # the last part may be a member, and leading parts may have no folder
            for begin in range(max(1, cut - 1)):
                found = self.by_suffix("", "/".join(parts[begin:cut]), endings)
                if found is not None:
                    return found
            if cut < len(parts) - 1:
                break
        return None


def rust_parts(each: Import) -> Sequence[str]:
    """Return the parts of the path of a `use` declaration."""
    return [
        *(part for part in each.module.split("::") if part),
        *([each.name] if each.name not in ("", "*", "self") else []),
    ]


def _common(left: str, right: str) -> int:
    """Return the number of leading folders that two paths share."""
    count = 0
    for one, other in zip(left.split("/"), right.split("/"), strict=False):
        if one != other:
            break
        count += 1
    return count

"""Builds a map of a repository's modules: the purpose, exports and dependencies of each."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from posixpath import basename, dirname, splitext

from scrubjay.code_index.graph.modules import JAVASCRIPT, JVM, C
from scrubjay.code_index.models import Facts, FileEdges, FileFacts, Language, SymbolKind

MAX_EXPORTS = 20
MAX_LIBRARIES = 50
MAX_ENTRY_DEPTH = 5
MAX_PURPOSE_LENGTH = 120

_CODE = (
    JAVASCRIPT
    | JVM
    | C
    | {
        Language.PYTHON,
        Language.GO,
        Language.RUST,
        Language.CSHARP,
        Language.RUBY,
        Language.PHP,
        Language.SWIFT,
        Language.BASH,
    }
)
_BY_FOLDER = JVM | C | {Language.GO, Language.CSHARP, Language.SWIFT}
"""Languages in which the folder is the unit and its files are only parts of it."""
_ENTRY_STEMS = frozenset({"__init__", "index", "mod", "lib", "main", "__main__", "doc"})
"""File names without suffix of entry files, which describe the folder they are in."""
_SOURCES = frozenset({"src", "lib", "source", "sources", "main", "java", "kotlin", "scala", "python"})
"""Folders that only hold code and say nothing about a module."""
_EXPORTED = frozenset(SymbolKind) - {SymbolKind.SECTION, SymbolKind.IMPL, SymbolKind.MODULE}

_PURPOSES: Sequence[tuple[str, str]] = (
    (r"db|database|storage|store|persistence|repository|repositories|dao", "Database and storage"),
    (r"api|rest|graphql|rpc|grpc", "API"),
    (r"web|http|server|client", "Web and HTTP"),
    (r"mcp", "Model Context Protocol"),
    (r"models?|types?|schemas?|entities|entity|domain", "Data models and types"),
    (r"utils?|helpers?|common|shared|support|misc|tools?lib", "Utilities"),
    (r"auth\w*|security|permissions?|session", "Authentication and authorisation"),
    (r"config\w*|settings|options|env", "Configuration"),
    (r"handlers?|controllers?|views?", "Request handlers"),
    (r"middlewares?", "Middleware"),
    (r"routes?|routing|routers?|urls", "Routing"),
    (r"index(er|ing)|search", "Indexing and search"),
    (r"embed(ding|dings)?|vectors?", "Embeddings"),
    (r"cartographer|graph", "Maps and graphs"),
    (r"hooks?|signals?|events?|plugins?|extensions?", "Hooks and events"),
    (r"tools?|commands?|cmd|cli|bin|scripts?", "Commands and tools"),
    (r"pars(er|ers|ing)|lexer|syntax|grammar|ast", "Parsing"),
    (r"tests?|testing|spec|specs|fixtures", "Tests"),
    (r"errors?|exceptions?", "Errors"),
    (r"log|logs|logger|logging|trac(e|ing)|metrics|telemetry", "Logging and metrics"),
    (r"cache|caching", "Caching"),
    (r"templates?|render(er|ing)?|ui|components?|widgets?|pages?", "User interface"),
    (r"jobs?|tasks?|queue|workers?|schedul(er|ing)|runtime|executor", "Background work"),
    (r"serial(ization|izers?|ize)?|encod(er|ing)|json|codec|format(s|ters?)?", "Serialisation and formats"),
    (r"migrations?", "Database migrations"),
    (r"docs?|examples?", "Documentation and examples"),
)


@dataclass(frozen=True, slots=True)
class Module:
    """A module of a repository: a package, a folder or a file."""

    id: str
    name: str
    path: str
    """Path of its folder or file."""
    purpose: str
    exports: Sequence[str]
    depends_on: Sequence[str]
    """Ids of other modules, main_language used first."""
    symbol_count: int
    line_count: int


@dataclass(frozen=True, slots=True)
class ModuleMap:
    """The modules of a repository."""

    name: str
    project_type: str
    modules: Sequence[Module]
    entry_points: Sequence[str]
    external_deps: Sequence[str]

    def text(self) -> str:
        """Return one line per module: its id, purpose and dependencies."""
        return "\n".join(
            f"  {module.id} - {module.purpose}" + (f" -> {', '.join(module.depends_on)}" if module.depends_on else "")
            for module in self.modules
        )


def build_module_map(
    name: str, facts: Facts, edges: Mapping[str, FileEdges], *, is_excluded: Callable[[str], bool] = lambda path: False
) -> ModuleMap:
    """Build the map. `left_out` returns true for the paths of files to leave out, such as tests."""
    paths = [path for path in sorted(facts) if facts[path].language in _CODE and not is_excluded(path)]
    roots = _roots(paths, facts)
    ids: dict[str, str] = {}
    places: dict[str, str] = {}
    for path in paths:
        ids[path], place = _module_of(path, facts[path], roots, name)
        places.setdefault(ids[path], place)
    members: dict[str, list[str]] = {}
    for path in paths:
        members.setdefault(ids[path], []).append(path)
    modules = [
        _describe(own, places[own], {path: facts[path] for path in files}, _uses(own, files, edges, ids))
        for own, files in sorted(members.items())
    ]
    return ModuleMap(
        name=name,
        project_type=_project_type(facts),
        modules=modules,
        entry_points=[path for path in paths if _is_entry(path, facts[path])],
        external_deps=_libraries(paths, facts, edges),
    )


def _roots(paths: Sequence[str], facts: Facts) -> frozenset[str]:
    """Return the root folders of packages: those with a manifest, and the outermost folder of each Python package."""
    manifests = {
        "package.json",
        "Cargo.toml",
        "go.mod",
        "pyproject.toml",
        "setup.py",
        "pom.xml",
        "build.gradle",
        "composer.json",
    }
    found: set[str] = {dirname(path) for path in facts if basename(path) in manifests}
    for path in paths:
        if basename(path) == "__init__.py":
            folder = dirname(path)
            while folder and f"{dirname(folder)}/__init__.py".lstrip("/") in facts:
                folder = dirname(folder)
            found.add(folder)
    return frozenset[str](found | {""})


def _module_of(path: str, facts: FileFacts, roots: frozenset[str], name: str) -> tuple[str, str]:
    """Return the id of the module that a file belongs to, and the path of that module."""
    folder = dirname(path)
    root: str = folder
    while root not in roots:
        root = dirname(root)
    inside = [part for part in folder[len(root) :].split("/") if part]
    while inside and inside[0] in _SOURCES:
        inside.pop(0)
    title = basename(root) or name
    stem = splitext(basename(path))[0]
    if inside:
        return "/".join([title, *inside[:3]]), folder
    if facts.language in _BY_FOLDER or stem in _ENTRY_STEMS:
        return title, folder
    return f"{title}/{stem}", path


def _uses(own: str, files: Sequence[str], edges: Mapping[str, FileEdges], ids: Mapping[str, str]) -> Sequence[str]:
    counted: Counter[str] = Counter()
    for path in files:
        found = edges.get(path)
        if found is None:
            continue
        for target in found.imports:
            counted[ids.get(target, own)] += 1
        for edge in found.edges:
            if edge.confidence >= 0.5:
                counted[ids.get(edge.path, own)] += 1
    counted.pop(own, None)
    return [module for module, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))]


def _describe(own: str, place: str, files: Mapping[str, FileFacts], depends_on: Sequence[str]) -> Module:
    exports = _exports(files)
    name = own.rpartition("/")[2]
    return Module(
        id=own,
        name=name,
        path=place,
        purpose=_purpose(name, files, exports),
        exports=exports,
        depends_on=depends_on,
        symbol_count=sum(len(facts.symbols) for facts in files.values()),
        line_count=sum(facts.lines for facts in files.values()),
    )


def _exports(files: Mapping[str, FileFacts]) -> Sequence[str]:
    """Return the exported names: those listed in entry files first, then types, then the rest."""
    listed: list[str] = []
    types: list[str] = []
    rest: list[str] = []
    for path, facts in files.items():
        if splitext(basename(path))[0] in _ENTRY_STEMS:
            listed += [exported for exported, _ in facts.exports]
        for symbol in facts.symbols:
            outer = facts.symbols[symbol.container].kind if symbol.container >= 0 else SymbolKind.MODULE
            if symbol.exported and outer is SymbolKind.MODULE and symbol.kind in _EXPORTED:
                is_type = symbol.kind in (
                    SymbolKind.CLASS,
                    SymbolKind.STRUCT,
                    SymbolKind.INTERFACE,
                    SymbolKind.TRAIT,
                    SymbolKind.ENUM,
                )
                (types if is_type else rest).append(symbol.name)
    names = dict.fromkeys(
        each for each in [*listed, *types, *rest] if each not in ("*", "default") and not each.startswith("_")
    )
    return list(names)[:MAX_EXPORTS]


def _purpose(name: str, files: Mapping[str, FileFacts], exports: Sequence[str]) -> str:
    """Return a purpose from the module's documentation, or else from its name, its main symbol or its exports."""
    ordered = sorted(
        files, key=lambda path: (splitext(basename(path))[0] not in _ENTRY_STEMS, -files[path].lines, path)
    )
    for path in ordered[:3]:
        sentence = _first_sentence(files[path].doc)
        if sentence:
            return sentence
    words = [word.lower() for word in re.split(r"[_\-./]|(?<=[a-z])(?=[A-Z])", name) if word]
    for word in reversed(words):
        for pattern, purpose in _PURPOSES:
            if re.fullmatch(pattern, word):
                return purpose
    # Otherwise its largest exported symbol stands for the module, with the symbol's name to show where the text is
    # from.
    tops = [
        symbol for path in ordered[:1] for symbol in files[path].symbols if symbol.exported and symbol.container < 0
    ]
    for symbol in sorted(tops, key=lambda symbol: symbol.span.start - symbol.span.end)[:1]:
        if sentence := _first_sentence(symbol.doc):
            return f"{symbol.name}: {sentence}"
    return f"Defines {', '.join(exports[:4])}" if exports else ""


def _first_sentence(doc: str) -> str:
    """Return the first sentence of a documentation text; licences and linter directives are skipped."""
    for paragraph in doc.split("\n\n")[:3]:
        text = " ".join(paragraph.split())
        if len(text) < 8 or re.search(r"copyright|licen[sc]e|SPDX|eslint|use strict|@ts-", text, re.IGNORECASE):
            continue
        sentence = re.split(r"(?<=[.!?])\s", text)[0].rstrip(".:")
        return sentence if len(sentence) <= MAX_PURPOSE_LENGTH else sentence[: MAX_PURPOSE_LENGTH - 1].rstrip() + "…"
    return ""


def _is_entry(path: str, facts: FileFacts) -> bool:
    """Return whether a file is an entry point: the main file of a program or the entry file of a package."""
    if path.count("/") >= MAX_ENTRY_DEPTH + 3:
        return False
    name = basename(path)
    if name in (
        "main.rs",
        "lib.rs",
        "__main__.py",
        "manage.py",
        "main.py",
        "main.ts",
        "main.js",
        "app.py",
        "server.js",
    ):
        return path.count("/") < MAX_ENTRY_DEPTH
    if facts.language in JAVASCRIPT:
        return (
            splitext(name)[0] == "index"
            and path.count("/") <= 3
            and dirname(path).rpartition("/")[2] in ("", "src", "lib")
        )
    if facts.language in JVM or facts.language in C or facts.language in (Language.GO, Language.CSHARP, Language.SWIFT):
        return any(
            symbol.name in ("main", "Main") and symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD)
            for symbol in facts.symbols
        )
    return False


def _project_type(facts: Facts) -> str:
    names = {basename(path) for path in facts if path.count("/") == 0} or {basename(path) for path in facts}
    for manifest, kind in (
        ("Cargo.toml", "rust"),
        ("package.json", "node"),
        ("pyproject.toml", "python"),
        ("setup.py", "python"),
        ("go.mod", "go"),
        ("pom.xml", "java"),
        ("build.gradle", "java"),
        ("build.gradle.kts", "java"),
    ):
        if manifest in names:
            return kind
    counted = Counter(each.language for each in facts.values() if each.language in _CODE)
    main_language = min(counted, key=lambda language: (-counted[language], language), default=None)
    known = {Language.PYTHON: "python", Language.GO: "go", Language.RUST: "rust", Language.JAVA: "java"}
    return (
        "unknown"
        if main_language is None
        else "node"
        if main_language in JAVASCRIPT
        else known.get(main_language, str(main_language))
    )


def _libraries(paths: Sequence[str], facts: Facts, edges: Mapping[str, FileEdges]) -> Sequence[str]:
    """Return the imported libraries that are not in the repository, main_language imported first."""
    own = {basename(dirname(path)) for path in facts} | {splitext(basename(path))[0] for path in facts}
    counted: Counter[str] = Counter()
    for path in paths:
        language = facts[path].language
        found = {library for each in facts[path].imports if (library := _library(each.module, language))}
        counted.update(library for library in found if library not in own)
    return [library for library, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))][:MAX_LIBRARIES]


def _library(module: str, language: Language) -> str:
    """Return the library of a module; empty for the standard library and for relative imports."""
    if language is Language.PYTHON:
        first = module.partition(".")[0]
        return "" if not first or first in sys.stdlib_module_names else first
    if language in JAVASCRIPT:
        if module.startswith((".", "/", "node:", "#", "~", "@/")):
            return ""
        return "/".join(module.split("/")[: 2 if module.startswith("@") else 1])
    if language is Language.GO:
        return "/".join(module.split("/")[:3]) if "." in module.partition("/")[0] else ""
    if language is Language.RUST:
        first = module.partition("::")[0]
        return "" if first in ("crate", "self", "super", "std", "core", "alloc", "proc_macro", "") else first
    if language in JVM:
        parts = module.split(".")
        return "" if parts[0] in ("java", "javax", "kotlin", "scala", "") else ".".join(parts[:3])
    return ""

"""Facts about source code: files, symbols, imports, uses and the edges between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag, StrEnum
from typing import NamedTuple


class Language(StrEnum):
    """A language with a parser; TEXT is any other text."""

    PYTHON = "python"
    TYPESCRIPT = "typescript"
    TSX = "tsx"
    JAVASCRIPT = "javascript"
    GO = "go"
    RUST = "rust"
    JAVA = "java"
    C = "c"
    CPP = "cpp"
    CSHARP = "csharp"
    RUBY = "ruby"
    PHP = "php"
    KOTLIN = "kotlin"
    SWIFT = "swift"
    SCALA = "scala"
    BASH = "bash"
    MARKDOWN = "markdown"
    JSON = "json"
    YAML = "yaml"
    SQL = "sql"
    HTML = "html"
    CSS = "css"
    TEXT = "text"


class FileTrait(IntFlag):
    """Properties of a file besides its language."""

    TEST = 1
    VENDORED = 2
    GENERATED = 4
    MINIFIED = 8
    DOCUMENTATION = 16
    EXAMPLE = 32
    """Examples, benchmarks, scripts."""
    DECLARATION = 64
    """Only types, such as `.d.ts` and `.pyi`."""
    CONFIGURATION = 128


class SymbolKind(StrEnum):
    """The kind of a definition."""

    MODULE = "module"
    """A namespace, package or module within a file."""
    CLASS = "class"
    STRUCT = "struct"
    INTERFACE = "interface"
    TRAIT = "trait"
    ENUM = "enum"
    MEMBER = "member"
    """A value of an enum."""
    TYPE = "type"
    """A type alias, union or typedef."""
    IMPL = "impl"
    FUNCTION = "function"
    METHOD = "method"
    CONSTRUCTOR = "constructor"
    SIGNATURE = "signature"
    """A function or method without a body."""
    FIELD = "field"
    """A field or property of a type."""
    VARIABLE = "variable"
    CONSTANT = "constant"
    MACRO = "macro"
    SECTION = "section"
    """A heading, configuration key or selector."""


class Span(NamedTuple):
    """A part of a file: bytes `start` to `end` (exclusive), lines counted from 1 (inclusive)."""

    start: int
    end: int
    first_line: int
    last_line: int


class Symbol(NamedTuple):
    """A definition in a file."""

    name: str
    kind: SymbolKind
    span: Span
    """Includes decorators, attributes, leading comments and the body."""
    line: int
    """Line of the name."""
    container: int = -1
    """Index of the containing symbol among the file's symbols; -1 at the top level."""
    signature: str = ""
    """The declaration without its body, on one line."""
    doc: str = ""
    """The docstring, or the comment above, without comment markers."""
    exported: bool = True
    """Whether other files may use it, as far as the language defines that."""
    bases: tuple[str, ...] = ()
    """Base classes and interfaces, as written."""
    decorators: tuple[str, ...] = ()
    owner: str = ""
    """The type of a member defined outside of the type's body: a Go receiver, `Foo` in `Foo.prototype.run`."""


def owner_name(owner: str) -> str:
    """Return the bare name of an owner: `Foo` for `ns::Foo<T>` and for Rust's `Trait for Foo`."""
    name = owner.rpartition(" for ")[2].partition("<")[0].replace("::", ".").strip("&* ")
    return name.rpartition(".")[2]


def qualified_name(symbols: "Sequence[Symbol]", place: int) -> str:
    """Return the name of a symbol, given by index, with the names of its containers and owner."""
    names: list[str] = []
    while place >= 0:
        symbol = symbols[place]
        names.append(symbol.name)
        if symbol.owner and (owner := owner_name(symbol.owner)):
            names.append(owner)
        place = symbol.container
    return ".".join(reversed(names))


class Import(NamedTuple):
    """An import statement, or one name of it."""

    module: str
    """As written: `..models`, `./user`, `crate::db`, `fmt`, `<stdio.h>` without its brackets."""
    name: str = ""
    """Imported name; empty for the module itself, `*` for everything, `default` for JavaScript's default export."""
    alias: str = ""
    """Local name; empty if it is the same."""
    line: int = 0
    container: int = -1
    """Index of the symbol in which the import is valid; -1 for the whole file."""
    exported: bool = False
    """Whether the file re-exports it."""


class UseKind(StrEnum):
    """The way in which code uses a name."""

    CALL = "call"
    NEW = "new"
    INHERIT = "inherit"
    DECORATE = "decorate"
    RAISE = "raise"
    CATCH = "catch"
    TYPE = "type"
    READ = "read"
    WRITE = "write"


class Use(NamedTuple):
    """A use of a name, other than its definition."""

    kind: UseKind
    path: str
    """The dotted name as written: `self.client.get`, `util.format`; `Foo::bar` becomes `Foo.bar`.

    `()` stands for the result of a call and `[]` for an item: `make(1).run` is `make().run`, `a[0].b` is `a[].b`.
    Anything that is not a name is empty: `"".join` is `.join`.
    """
    line: int
    start: int
    """Offset of the first byte of the last name."""
    container: int = -1
    """Index of the enclosing symbol; -1 for module-level code."""


class Problem(NamedTuple):
    """A syntax error, or another reason why a part of a file was not parsed."""

    line: int
    """0 for the whole file."""
    message: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Everything extracted from one file; depends only on its text and language."""

    language: Language
    lines: int
    doc: str = ""
    """The documentation at the start of the file."""
    symbols: Sequence[Symbol] = ()
    """Ordered by start; containers come before their contents."""
    imports: Sequence[Import] = ()
    uses: Sequence[Use] = ()
    exports: Sequence[tuple[str, str]] = ()
    """Pairs of exported and local name, where the file declares exports (`__all__`, `export { a as b }`)."""
    problems: Sequence[Problem] = ()
    flow: bytes = b""
    """Extra data for the language's own call resolver, in its private format."""


class SourceFile(NamedTuple):
    """A file of a repository in a snapshot."""

    path: str
    """Relative to the root, with `/`; invalid UTF-8 is escaped with `surrogateescape`."""
    blob: str
    """Git blob id of the content."""
    size: int
    language: Language
    traits: FileTrait = FileTrait(0)
    dirty: bool = False
    """Whether the content is uncommitted."""


class Skipped(NamedTuple):
    """A file that is not indexed, and the reason."""

    path: str
    reason: str


class FileStamp(NamedTuple):
    """File metadata by which an unchanged file is recognized without reading it, and its blob id."""

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int
    blob: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The files of a repository or folder at one moment."""

    root: str
    """Absolute path with symbolic links resolved."""
    rev: str
    """The revision as requested."""
    commit: str | None
    """None outside of git or without commits."""
    files: Sequence[SourceFile]
    """Sorted by path."""
    skipped: Sequence[Skipped] = ()
    is_git: bool = True
    from_objects: bool = False
    """Whether all content comes from git's object store and none from the work tree."""
    removed: Sequence[str] = ()
    """Sorted paths that are in the commit but no longer in the work tree."""
    repositories: Sequence[tuple[str, str]] = ()
    """Path and git directory of each submodule."""

    @property
    def dirty(self) -> Sequence[str]:
        """Return the paths with uncommitted content."""
        return [file.path for file in self.files if file.dirty]


class Evidence(StrEnum):
    """The reason why a name was resolved to a definition."""

    LOCAL = "local"
    """Defined in the same file, and not shadowed."""
    IMPORTED = "imported"
    """Named by an import."""
    RECEIVER = "receiver"
    """Member of a receiver whose type is known."""
    FLOW = "flow"
    """Found by following values through assignments, parameters or returns."""
    INHERITED = "inherited"
    """Defined by a base class."""
    UNIQUE = "unique"
    """The only definition of this name in the repository: a guess."""
    NAME = "name"
    """One of a few definitions of this name: a guess."""


class Edge(NamedTuple):
    """A resolved use."""

    source: int
    """Index of the using symbol in its file; -1 for module-level code."""
    path: str
    """File of the used definition."""
    target: int
    """Index of the used symbol in `path`; -1 for the file itself."""
    kind: UseKind
    line: int
    evidence: Evidence
    confidence: float
    """0 to 1; guesses are below 0.5."""


class Unresolved(NamedTuple):
    """A use whose definition is external or unknown."""

    source: int
    use: str
    kind: UseKind
    line: int
    external: str = ""
    """The library that defines it, if known."""


@dataclass(frozen=True, slots=True)
class FileEdges:
    """Resolved and unresolved uses of one file."""

    edges: Sequence[Edge] = ()
    unresolved: Sequence[Unresolved] = ()
    imports: Sequence[str] = ()
    """Files of the repository that it imports, sorted, without duplicates."""


Facts = Mapping[str, FileFacts]
"""Facts of the files of a repository, by path."""

"""What is known of source code: files, what each defines and names, and how these hang together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag, StrEnum
from typing import NamedTuple


class Language(StrEnum):
    """A language that is read by its syntax; TEXT is everything else that people write."""

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
    """What sort of file it is, beside its language."""

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
    """What a definition defines."""

    MODULE = "module"
    """A namespace, package or module within a file."""
    CLASS = "class"
    STRUCT = "struct"
    INTERFACE = "interface"
    TRAIT = "trait"
    ENUM = "enum"
    MEMBER = "member"
    """One of an enum's values."""
    TYPE = "type"
    """An alias of a type, a union, a typedef."""
    IMPL = "impl"
    FUNCTION = "function"
    METHOD = "method"
    CONSTRUCTOR = "constructor"
    SIGNATURE = "signature"
    """A function or method without a body."""
    FIELD = "field"
    """A property or field of a type."""
    VARIABLE = "variable"
    CONSTANT = "constant"
    MACRO = "macro"
    SECTION = "section"
    """A heading, a key of configuration, a selector."""


class Span(NamedTuple):
    """A part of a file: bytes from `start` up to before `end`, on lines counted from 1, both included."""

    start: int
    end: int
    first_line: int
    last_line: int


class Symbol(NamedTuple):
    """A definition in a file."""

    name: str
    kind: SymbolKind
    span: Span
    """With the decorators, attributes and comments that belong to it, and its body."""
    line: int
    """Where its name is."""
    container: int = -1
    """The place of the symbol that it is in, among the file's symbols; -1 at the top."""
    signature: str = ""
    """Its head without its body, in one line."""
    doc: str = ""
    """What is said of it: its docstring, or the comment above it, without its marks."""
    exported: bool = True
    """Whether other files may use it, as far as the language tells."""
    bases: tuple[str, ...] = ()
    """What it inherits from, implements or extends, as written."""
    decorators: tuple[str, ...] = ()
    owner: str = ""
    """The type that it belongs to where that is not around it: the receiver's in Go, `Foo` of `Foo.prototype.run`."""


def owner_name(owner: str) -> str:
    """What the owner of a definition is called: `ns::Foo<T>` is `Foo`, and so is Rust's `Trait for Foo`."""
    name = owner.rpartition(" for ")[2].partition("<")[0].replace("::", ".").strip("&* ")
    return name.rpartition(".")[2]


def qualified_name(symbols: "Sequence[Symbol]", place: int) -> str:
    """The name of a definition of a file with those of what it is in, or belongs to."""
    names: list[str] = []
    while place >= 0:
        symbol = symbols[place]
        names.append(symbol.name)
        if symbol.owner and (owner := owner_name(symbol.owner)):
            names.append(owner)
        place = symbol.container
    return ".".join(reversed(names))


class Import(NamedTuple):
    """What a file takes from elsewhere."""

    module: str
    """As written: `..models`, `./user`, `crate::db`, `fmt`, `<stdio.h>` without its brackets."""
    name: str = ""
    """What is taken of it; empty for the module itself, `*` for everything, `default` for JavaScript's default."""
    alias: str = ""
    """By which name it is known here; empty when it is known by no other than its own."""
    line: int = 0
    container: int = -1
    """The symbol within which it holds; -1 for the whole file."""
    exported: bool = False
    """Whether it is passed on to whoever imports this file."""


class UseKind(StrEnum):
    """How code uses a name."""

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
    """A place where a name is used that is not where it is defined."""

    kind: UseKind
    path: str
    """The name with what it is taken of, as written: `self.client.get`, `util.format`, `Foo::bar` as `Foo.bar`.

    `()` stands for the result of a call and `[]` for an entry: `make(1).run` is `make().run`, `a[0].b` is `a[].b`; what
    is no name at all is empty: `"".join` is `.join`.
    """
    line: int
    start: int
    """The first byte of its last name."""
    container: int = -1
    """The symbol in whose body it is; -1 at the top of the file."""


class Problem(NamedTuple):
    """Something in a file that could not be read."""

    line: int
    """0 when it is the file as a whole."""
    message: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """All that one file's text says by itself. It depends on nothing but the text and the language."""

    language: Language
    lines: int
    doc: str = ""
    """What the file says of itself at its beginning."""
    symbols: Sequence[Symbol] = ()
    """In the order of their beginnings; a container is before what it contains."""
    imports: Sequence[Import] = ()
    uses: Sequence[Use] = ()
    exports: Sequence[tuple[str, str]] = ()
    """By which name others know it, and its name here, where the file says so (`__all__`, `export { a as b }`)."""
    problems: Sequence[Problem] = ()
    flow: bytes = b""
    """What the language's own resolver of calls needs beside this, in a form that only it reads."""


class SourceFile(NamedTuple):
    """A file of a repository, at one moment."""

    path: str
    """From the repository's root, with `/`, as text; what is not UTF-8 in it is escaped by `surrogateescape`."""
    blob: str
    """The id that git gives its content."""
    size: int
    language: Language
    traits: FileTrait = FileTrait(0)
    dirty: bool = False
    """Whether the content is that of the work tree and not the commit's."""


class Skipped(NamedTuple):
    """A file that is not read, and why."""

    path: str
    reason: str


class FileStamp(NamedTuple):
    """By what a file that has not changed is known without reading it, and the id of its content."""

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int
    blob: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A repository, or a plain folder, at one moment."""

    root: str
    """Where it is, resolved."""
    rev: str
    """As it was asked for."""
    commit: str | None
    """None in a folder that is no repository, or has no commit."""
    files: Sequence[SourceFile]
    """Ascending by path."""
    skipped: Sequence[Skipped] = ()
    is_git: bool = True
    from_objects: bool = False
    """Whether all content is that of git's objects, and no file of the work tree counts."""
    removed: Sequence[str] = ()
    """The paths that the commit has and the work tree has no more, ascending."""
    repositories: Sequence[tuple[str, str]] = ()
    """The submodules: the path of each, and the folder in which git knows its objects."""

    @property
    def dirty(self) -> Sequence[str]:
        """The paths whose content is not the commit's."""
        return [file.path for file in self.files if file.dirty]


class Evidence(StrEnum):
    """Why it is believed that a name means a definition."""

    LOCAL = "local"
    """The same file defines it, and nothing between hides it."""
    IMPORTED = "imported"
    """An import names it."""
    RECEIVER = "receiver"
    """The type of what it is taken of is known."""
    FLOW = "flow"
    """A value was followed to it, through assignments, parameters or returns."""
    INHERITED = "inherited"
    """A base class has it."""
    UNIQUE = "unique"
    """Nothing else in the repository has this name: a guess."""
    NAME = "name"
    """A few definitions have this name, and it may be any: a guess."""


class Edge(NamedTuple):
    """A use that was resolved: who uses what, and where it says so."""

    source: int
    """The place of the symbol that uses, among those of the using file; -1 for the file itself."""
    path: str
    """The file that defines what is used."""
    target: int
    """The place of the symbol that is used, among those of the file that defines it; -1 for the file itself."""
    kind: UseKind
    line: int
    evidence: Evidence
    confidence: float
    """From 0 to 1; a guess has less than one half."""


class Unresolved(NamedTuple):
    """A use whose definition is not in the repository, or cannot be told."""

    source: int
    use: str
    kind: UseKind
    line: int
    external: str = ""
    """The library that it comes from, where that is known."""


@dataclass(frozen=True, slots=True)
class FileEdges:
    """What the uses in one file lead to."""

    edges: Sequence[Edge] = ()
    unresolved: Sequence[Unresolved] = ()
    imports: Sequence[str] = ()
    """The files of the repository that it imports, ascending, once each."""


Facts = Mapping[str, FileFacts]
"""What is known of the files of a repository, by their paths."""

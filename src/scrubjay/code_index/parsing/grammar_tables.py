"""Tables that describe a language's grammar: which nodes define, name, call and inherit what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from scrubjay.code_index.models import SymbolKind


class PathRole(Enum):
    """The role of a node in the path of a name."""

    NAME = 1
    """A name, optionally followed by type arguments."""
    QUALIFIED = 2
    """Only names and separators."""
    MEMBER = 3
    """A member of something."""
    CALL = 4
    """The result of a call."""
    MEMBER_CALL = 5
    """The result of calling a member, all in one node."""
    ENTRY = 6
    """An item of something."""
    INNER = 7
    """Transparent, such as parentheses and `await`."""


class PathRule(NamedTuple):
    """The role of a node in a path, and the fields of its parts; without a field, the first and last child."""

    role: PathRole
    of: str = ""
    name: str = ""


class DefinitionRule(NamedTuple):
    """The kind and name of what a node defines."""

    kind: SymbolKind
    name: str = "name"
    """The field with the name."""
    fixed_name: str = ""
    """The name, if the language gives the definition none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarTables:
    """The names that a language's grammar gives to its nodes."""

    comments: Sequence[str] = ("comment",)
    ignored: Sequence[str] = ()
    names: Sequence[str] = ("identifier",)
    """Names in expressions."""
    type_names: Sequence[str] = ()
    """Names within types."""
    type_nodes: Sequence[str] = ()
    """Types, wherever they occur."""
    type_arguments: Sequence[str] = ()
    type_parameters: Sequence[str] = ()
    """Declarations of a type parameter, whose first child is its name."""
    links: Mapping[str, PathRule] = field(default_factory=dict[str, PathRule])
    definitions: Mapping[str, DefinitionRule] = field(default_factory=dict[str, DefinitionRule])
    bodies: Sequence[str] = ()
    """Nodes that end the head of a definition, if it is not the field `body`."""
    heritage: Sequence[str] = ()
    """Children of a definition that list what it inherits from."""
    arguments: Sequence[str] = ()
    """Values among types."""
    modifiers: Sequence[str] = ()
    """Words before a definition, or nodes that contain such words."""
    annotations: Sequence[str] = ()
    binders: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Nodes that bind local names, and the fields of these; without a field, the names among the children."""
    calls: Sequence[str] = ()
    news: Mapping[str, str] = field(default_factory=dict[str, str])
    """Nodes that create an instance, and the field of its type; without a field, the first named child."""
    throws: Sequence[str] = ()
    catches: Mapping[str, str] = field(default_factory=dict[str, str])
    """Nodes that catch exceptions, and the field of the types."""
    assignments: Mapping[str, str] = field(default_factory=dict[str, str])
    """Nodes that assign, and the field of the target."""
    typed: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Nodes with types in fields, where types look like other names."""
    private: frozenset[str] = frozenset({"private"})
    """Words before a definition that make it private to its file."""

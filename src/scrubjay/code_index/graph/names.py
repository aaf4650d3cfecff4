"""Resolves uses by imports, scopes and declared types, for all languages whose values are not evaluated."""

from collections.abc import Iterable, Mapping, Sequence

from scrubjay.code_index.graph.definitions import Definitions
from scrubjay.code_index.graph.modules import JVM, C, Modules
from scrubjay.code_index.graph.names_file import LanguageFamily
from scrubjay.code_index.models import Facts, FileEdges, Language

FAMILIES: Sequence[frozenset[Language]] = (
    frozenset({Language.GO}),
    frozenset({Language.RUST}),
    JVM,
    C,
    frozenset({Language.CSHARP}),
    frozenset({Language.RUBY}),
    frozenset({Language.PHP}),
    frozenset({Language.SWIFT}),
    frozenset({Language.BASH}),
)


def resolve(paths: Iterable[str], facts: Facts, modules: Modules) -> Mapping[str, FileEdges]:
    """Return the edges of the files whose language is resolved by names."""
    wanted = [path for path in paths if path in facts]
    found: dict[str, FileEdges] = {}
    for languages in FAMILIES:
        own = [path for path in wanted if facts[path].language in languages]
        if own:
            family = LanguageFamily(Definitions(facts, languages, modules))
            for path in own:
                found[path] = family.file(path).uses.edges()
    return found

"""Resolves the uses of files to edges, each language family by its own resolver."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from scrubjay.code_index.discovery.limits import never
from scrubjay.code_index.graph.modules import JAVASCRIPT, Modules
from scrubjay.code_index.index.gc_pause import uncollected
from scrubjay.code_index.models import Facts, FileEdges, Language
from scrubjay.core.errors import Cancelled


def resolve(
    paths: Iterable[str],
    facts: Facts,
    *,
    callers: Mapping[str, Container[int]] | None = None,
    should_stop: Callable[[], bool] = never,
) -> Mapping[str, FileEdges]:
    """Resolve the uses in `paths`; `facts` are those of the whole repository. A file without code has no edges.

    Arguments are followed from the same files and from the lines in `callers`. Raises `Cancelled` before the next
    family of languages when `should_stop` returns true.
    """
    wanted = [path for path in paths if path in facts]
    with uncollected():
        edges_of = resolver(wanted, facts, callers=callers, should_stop=should_stop)
        return {path: edges_of(path) for path in wanted}


def resolver(
    paths: Sequence[str],
    facts: Facts,
    *,
    callers: Mapping[str, Container[int]] | None = None,
    should_stop: Callable[[], bool] = never,
) -> Callable[[str], FileEdges]:
    """Like `resolve`, but return a function from path to edges; the work that needs all files is done at once."""
    from scrubjay.code_index.graph import javascript, names

    def go_on() -> None:
        if should_stop():
            raise Cancelled("finding what each use means was stopped")

    found: dict[str, FileEdges] = {}
    go_on()
    modules = Modules(facts)
    go_on()
    written = (path for path in paths if facts[path].language in JAVASCRIPT)
    found.update(javascript.resolve(written, facts, modules, callers=callers or ()))
    go_on()
    found.update(names.resolve(paths, facts, modules))
    python = sorted(path for path in paths if facts[path].language is Language.PYTHON)
    go_on()
    if not python:
        return lambda path: found.get(path, FileEdges())
    from scrubjay.code_index.graph.python import resolver as python_resolver

    in_python, of_python = frozenset(python), python_resolver(python, facts, callers=callers)
    return lambda path: of_python(path) if path in in_python else found.get(path, FileEdges())

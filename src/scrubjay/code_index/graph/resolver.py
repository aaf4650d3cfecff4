"""Resolves the uses in files to edges, with one resolver per language family."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from scrubjay.code_index.discovery.limits import never
from scrubjay.code_index.graph import javascript, names
from scrubjay.code_index.graph.modules import JAVASCRIPT, Modules
from scrubjay.code_index.index.gc_pause import gc_paused
from scrubjay.code_index.models import Facts, FileEdges, Language
from scrubjay.core.errors import Cancelled
from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    from scrubjay.code_index.graph import python as python_module
else:
    python_module = lazy_module("scrubjay.code_index.graph.python")


def resolve(
    paths: Iterable[str],
    facts: Facts,
    *,
    callers: Mapping[str, Container[int]] | None = None,
    should_stop: Callable[[], bool] = never,
) -> Mapping[str, FileEdges]:
    """Resolve the uses in `paths`; `facts` covers the whole repository. A file without code has no edges.

    Arguments are followed from these files and from the lines in `callers`. Raises `Cancelled` between two language
    families when `should_stop` returns true.
    """
    wanted = [path for path in paths if path in facts]
    with gc_paused():
        edges_of = prepare_resolution(wanted, facts, callers=callers, should_stop=should_stop)
        return {path: edges_of(path) for path in wanted}


def prepare_resolution(
    paths: Sequence[str],
    facts: Facts,
    *,
    callers: Mapping[str, Container[int]] | None = None,
    should_stop: Callable[[], bool] = never,
) -> Callable[[str], FileEdges]:
    """Like `resolve`, but return a function from path to edges.

    The work that needs all files is done before it returns.
    """

    def check_cancelled() -> None:
        if should_stop():
            raise Cancelled("linking was cancelled")

    found: dict[str, FileEdges] = {}
    check_cancelled()
    modules = Modules(facts)
    check_cancelled()
    written = (path for path in paths if facts[path].language in JAVASCRIPT)
    found.update(javascript.resolve(written, facts, modules, callers=callers or ()))
    check_cancelled()
    found.update(names.resolve(paths, facts, modules))
    python = sorted(path for path in paths if facts[path].language is Language.PYTHON)
    check_cancelled()
    if not python:
        return lambda path: found.get(path, FileEdges())
    in_python, of_python = frozenset(python), python_module.prepare_resolution(python, facts, callers=callers)
    return lambda path: of_python(path) if path in in_python else found.get(path, FileEdges())

"""What the uses in files lead to: each language family by its own resolver."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from recollect.codebase.garbage import uncollected
from recollect.codebase.graph.modules import JAVASCRIPT, Modules
from recollect.domain.code import Facts, FileEdges, Language

_Resolve = Callable[[Iterable[str], Facts], Mapping[str, FileEdges]]


def resolve(paths: Iterable[str], facts: Facts) -> Mapping[str, FileEdges]:
    """Resolve the uses in `paths`; `facts` are those of the whole repository. A file without code leads nowhere."""
    from recollect.codebase.graph import javascript, names

    wanted = [path for path in paths if path in facts]
    found: dict[str, FileEdges] = {path: FileEdges() for path in wanted}
    with uncollected():
        modules = Modules(facts)
        written = (path for path in wanted if facts[path].language in JAVASCRIPT)
        found.update(javascript.resolve(written, facts, modules))
        found.update(names.resolve(wanted, facts, modules))
        python = [path for path in wanted if facts[path].language is Language.PYTHON]
        if python and find_spec(_PYTHON) is not None:
            found.update(cast("_Resolve", import_module(_PYTHON).resolve)(python, facts))
    return found


_PYTHON = "recollect.codebase.graph.python"

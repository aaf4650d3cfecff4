"""What the uses in files lead to: each language family by its own resolver."""

from collections.abc import Callable, Container, Iterable, Mapping

from recollect.codebase.discovery.limits import never
from recollect.codebase.garbage import uncollected
from recollect.codebase.graph.modules import JAVASCRIPT, Modules
from recollect.domain.code import Facts, FileEdges, Language
from recollect.domain.errors import Cancelled


def resolve(
    paths: Iterable[str],
    facts: Facts,
    *,
    callers: Mapping[str, Container[int]] | None = None,
    should_stop: Callable[[], bool] = never,
) -> Mapping[str, FileEdges]:
    """Resolve the uses in `paths`; `facts` are those of the whole repository. A file without code leads nowhere.

    What is passed to functions is followed from the same files, and from those lines of `callers`. It is `Cancelled`
    before the next family of languages when it is asked to stop.
    """
    from recollect.codebase.graph import javascript, names

    def go_on() -> None:
        if should_stop():
            raise Cancelled("finding what each use means was stopped")

    wanted = [path for path in paths if path in facts]
    found: dict[str, FileEdges] = {path: FileEdges() for path in wanted}
    with uncollected():
        go_on()
        modules = Modules(facts)
        go_on()
        written = (path for path in wanted if facts[path].language in JAVASCRIPT)
        found.update(javascript.resolve(written, facts, modules, callers=callers or ()))
        go_on()
        found.update(names.resolve(wanted, facts, modules))
        python = [path for path in wanted if facts[path].language is Language.PYTHON]
        go_on()
        if python:
            from recollect.codebase.graph.python import resolve as resolve_python

            found.update(resolve_python(python, facts, callers=callers))
    return found

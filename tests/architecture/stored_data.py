"""Which stored data a function can reach through the services that are injected into it.

Derived from the code: a factory in a `wiring` module depends on every type that it names, directly or through the
functions and classes of its module.
"""

import dis
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

from scrubjay.app.store import Store
from scrubjay.app.wiring_catalog import WIRING_CATALOG
from scrubjay.core.write_rules import WritingRules
from scrubjay.features.code_links.linker import CodeLinker
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.embeddings.text_embedder import TextEmbedder
from scrubjay.features.memory.quota import Quota
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.jobs.service import JobService

# The tool families that open the records of each store Protocol; none for records without contents of clients.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "MemoryStore": ("memory",),
    "LinkStore": ("memory",),
    "EmbeddingStore": ("memory",),
    "ForgettingStore": ("memory",),
    "SummaryStore": ("memory",),  # summaries are memories made from turns
    "PromptStore": ("memory",),
    "TransferStore": ("memory", "planning"),
    "TaskStore": ("planning",),
    "GoalStore": ("planning",),
    "EpisodeStore": ("episodes",),
    "PatternStore": ("episodes",),
    "KnowledgeStore": ("knowledge",),
    "SessionStore": ("sessions",),
    "WorkingStore": ("working",),
    "DiscussionStore": ("agents",),
    "PermissionStore": ("permissions",),
    "PersonaStore": ("persona",),
    "CodeService": ("code",),
    "ProjectStore": (),  # paths and names, which select the data of every family
    "KeyStore": (),
    "JobStore": (),  # get_job applies the scopes of the job's tool
    "UsageStore": (),
}

# Services that return no records of the stores that they use, so that the search for stores ends at them.
RETURNS_NO_RECORDS: Mapping[type, str] = {
    WritingRules: "checks texts before they are stored",
    Quota: "counts records",
    ModelRegistry: "returns models",
    TextEmbedder: "returns vectors of the given texts",
    Dispatcher: "checks the scopes of each tool that it calls",
    JobService: "get_job and list_jobs apply the scopes of the job's tool",
    CodeLinker: "code reaches results only in a LinkReview, which is made for one reader",
}


def families_reached(kinds: Iterable[type]) -> set[str]:
    """Return the families whose records services of these types can read."""
    return {family for store in stores_reached(kinds) for family in FAMILIES[store]}


def stores_reached(kinds: Iterable[type]) -> set[str]:
    """Return the names of the stores that services of these types use, directly or through other services."""
    seen: set[type] = set()
    waiting, stores = [*kinds], set[str]()
    while waiting:
        kind = waiting.pop()
        if kind in seen or kind in RETURNS_NO_RECORDS:
            continue
        seen.add(kind)
        if kind.__name__ in FAMILIES:
            stores.add(kind.__name__)
        if (factory := WIRING_CATALOG(kind)) is not None:
            waiting += named_types(factory)
    return stores


def store_protocols() -> set[str]:
    """Return the names of all store Protocols of the process's store."""
    return {
        attribute.fget.__annotations__["return"]
        for attribute in vars(Store).values()
        if isinstance(attribute, property) and attribute.fget is not None
    }


def named_types(function: Callable[..., Any]) -> list[type]:
    """Return the types that a function names, also through functions and classes of its own module."""
    module, found = inspect.getmodule(function), list[type]()
    waiting, seen = [function.__code__], set[CodeType]()
    while waiting:
        code = waiting.pop()
        if code in seen:
            continue
        seen.add(code)
        for value in _values_named(code, function.__globals__):
            if isinstance(value, type):
                found.append(value)
            if inspect.getmodule(value) is module:
                waiting += _code_of(value)
    return found


def _values_named(code: CodeType, names: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the globals that code names, and their attributes such as `linker.CodeLinker`."""
    value: Any = None
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            value = names.get(instruction.argval)
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and value is not None:
            value = getattr(value, instruction.argval, None)
        else:
            value = None
        if value is not None:
            yield value
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _values_named(constant, names)


def _code_of(value: Any) -> Iterator[CodeType]:
    if inspect.isfunction(value):
        yield value.__code__
    elif isinstance(value, type):
        yield from (member.__code__ for member in vars(value).values() if inspect.isfunction(member))

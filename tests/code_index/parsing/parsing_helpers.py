"""Short forms of facts, so that tests can compare all of them."""

from textwrap import dedent

from scrubjay.code_index.models import FileFacts, Language
from scrubjay.code_index.parsing.reader import read_facts


def facts_of(source: str, language: Language) -> FileFacts:
    return read_facts(dedent(source).lstrip("\n").encode(), language)


def symbols_of(facts: FileFacts) -> list[str]:
    """Return each symbol as `kind outer.name`, with `-` in front if it is not exported."""
    found: list[str] = []
    for symbol in facts.symbols:
        names = [symbol.name]
        container = symbol.container
        while container >= 0:
            names.append(facts.symbols[container].name)
            container = facts.symbols[container].container
        found.append(f"{'' if symbol.exported else '-'}{symbol.kind} {'.'.join(reversed(names))}")
    return found


def uses_of(facts: FileFacts) -> list[str]:
    """Return each use as `line container: kind path`."""
    return [
        f"{use.line} {facts.symbols[use.container].name if use.container >= 0 else ''}: {use.kind} {use.path}"
        for use in facts.uses
    ]

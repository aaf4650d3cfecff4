"""Formats facts as text, so that a test can show all of them."""

from scrubjay.code_index.models import FileFacts, Symbol


def as_text(facts: FileFacts) -> str:
    """Return every value of the facts, one per line: the file, symbols, imports, uses, problems."""
    lines = [f"{facts.language} {facts.lines} {facts.doc}".rstrip()]
    lines += [_symbol(index, symbol) for index, symbol in enumerate(facts.symbols)]
    for one in facts.imports:
        of = f"{one.name} " if one.name else ""
        known = f" as {one.alias}" if one.alias else ""
        within = f" in {one.container}" if one.container >= 0 else ""
        lines.append(f"import {of}from {one.module}{known} @{one.line}{within}{' exported' if one.exported else ''}")
    lines += [f"{use.kind} {use.path} @{use.line}:{use.start} in {use.container}" for use in facts.uses]
    lines += [f"exports {name} {own}" for name, own in facts.exports]
    lines += [f"problem {problem.line} {problem.message}" for problem in facts.problems]
    return "\n".join(lines)


def _symbol(index: int, symbol: Symbol) -> str:
    span = symbol.span
    parts = [
        f"{index} {symbol.kind} {symbol.name} {span.first_line}-{span.last_line}@{symbol.line} "
        f"{span.start}:{span.end} in {symbol.container}",
        "" if symbol.exported else "hidden",
        f"of {symbol.owner}" if symbol.owner else "",
        f"from {', '.join(symbol.bases)}" if symbol.bases else "",
        f"by {', '.join(symbol.decorators)}" if symbol.decorators else "",
    ]
    doc = f"\n    says {symbol.doc}" if symbol.doc else ""
    return " ".join(part for part in parts if part) + f"\n    {symbol.signature}{doc}"

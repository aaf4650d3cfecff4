"""The reference pages of tools: one page per family, and an index."""

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from scrubjay.core.callers import READ_ONLY
from scrubjay.servers.docs.markdown import block, code, page, prose, table, value
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.examples import example_requests
from scrubjay.tooling.fields import field_notes, nested_field_notes
from scrubjay.tooling.registry import Registry

CommandLineFormatter = Callable[[Tool, Mapping[str, Any]], str]
"""Returns the shell command for a call. It is passed in, because protocols may not import each other."""

INDEX = "tools/README.md"
ADDRESS = "http://127.0.0.1:4000"


def tool_pages(registry: Registry, command_line: CommandLineFormatter) -> Mapping[str, str]:
    """Return the pages about tools, by path relative to the reference folder."""
    families = {
        f"tools/{family}.md": page(
            f"{family.capitalize()} tools",
            (_section(tool, command_line) for tool in registry if tool.family == family),
        )
        for family in registry.families
    }
    return {INDEX: _index(registry), **families}


def _index(registry: Registry) -> str:
    rows = (
        [
            f"[{code(tool.name)}]({tool.family}.md#{tool.name})",
            tool.family,
            prose(tool.summary),
            ", ".join(_properties(tool)),
        ]
        for tool in registry
    )
    return page(
        "Tools",
        [
            f"{len(registry)} tools, each available on every surface.",
            table(["Tool", "Family", "What it does", ""], rows),
        ],
    )


def _section(tool: Tool, command_line: CommandLineFormatter) -> str:
    return "\n\n".join(part for part in _parts(tool, command_line) if part)


def _parts(tool: Tool, command_line: CommandLineFormatter) -> Iterator[str]:
    yield f"## {tool.name}"
    yield prose(tool.description)
    yield f"*{', '.join(_properties(tool)).capitalize()}.*"
    yield f"**Scopes**: {_scopes(tool)}."
    yield "**Arguments**"
    arguments = [
        [
            code(note.name),
            prose(note.type),
            "required" if note.required else value(note.default),
            prose("; ".join(note.limits)),
            prose(note.description),
        ]
        for note in nested_field_notes(tool.input_schema)
    ]
    headers = ["Name", "Type", "Default", "Limits", "Description"]
    yield table(headers, arguments) if arguments else "None."
    yield "**Result**"
    yield table(
        ["Name", "Type", "Description"],
        (
            [code(note.name), f"{prose(note.type)}{' or null' if note.nullable else ''}", prose(note.description)]
            for note in nested_field_notes(tool.output_schema)
        ),
    )
    yield "**Example**"
    example = example_requests(tool)[0]
    yield block("sh", command_line(tool, example))
    body = shlex.quote(json.dumps(example, ensure_ascii=False))
    yield block("sh", f"curl {ADDRESS}/v1/tools/{tool.name} \\\n  -H 'Content-Type: application/json' -d {body}")
    call = {"method": "tools/call", "params": {"name": tool.name, "arguments": example}}
    yield block("json", json.dumps(call, ensure_ascii=False))
    yield f"**Errors**: {_errors(tool)}; all codes are listed in [Errors](../errors.md)."


def _properties(tool: Tool) -> Iterator[str]:
    if tool.read_only:
        yield "read-only"
    elif tool.destructive:
        yield "can delete or overwrite data"
    else:
        yield "writes"
    if tool.idempotent and not tool.read_only:
        yield "safe to repeat"
    if tool.runs_as_job:
        yield "runs as a job"
    if not tool.core:
        yield "not listed by default"


def _scopes(tool: Tool) -> str:
    """Return the scopes that a key needs, and those without which records are left out."""
    own = code(f"{tool.family}{READ_ONLY}" if tool.read_only else tool.family)
    if tool.reading_operations and not tool.read_only:
        own += f", or {code(tool.family + READ_ONLY)} for operations that only read"
    needed = " and ".join([own, *_read_scopes(tool.reads)])
    left_out = "".join(f"; without {scope} its records are left out" for scope in _read_scopes(tool.withholds))
    return needed + left_out


def _read_scopes(families: Iterable[str]) -> list[str]:
    return [code(family + READ_ONLY) for family in sorted(families)]


def _errors(tool: Tool) -> str:
    condition = "the arguments are invalid" if field_notes(tool.input_schema) else "there are any arguments"
    errors = [f"{code('invalid_request')} when {condition}"]
    if tool.runs_as_job:
        errors.append("the job's own error when it fails")
    return ", ".join(errors)

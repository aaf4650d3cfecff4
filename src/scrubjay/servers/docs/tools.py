"""A page for each family of tools, and one that lists them all."""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scrubjay.servers.docs.markdown import block, code, page, prose, table, value
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.examples import example_requests
from scrubjay.tooling.fields import field_notes, nested_field_notes
from scrubjay.tooling.registry import Registry

CommandLine = Callable[[Tool, Mapping[str, Any]], str]
"""How a call is typed; the command line's own knowledge, handed in because protocols are strangers."""

INDEX = "tools/README.md"
ADDRESS = "http://127.0.0.1:4000"


def tool_pages(registry: Registry, command_line: CommandLine) -> Mapping[str, str]:
    """Every page about tools, by its path below the folder of the reference."""
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
            ", ".join(_traits(tool)),
        ]
        for tool in registry
    )
    return page(
        "Tools", [f"{len(registry)} tools, each on every surface.", table(["Tool", "Family", "What it does", ""], rows)]
    )


def _section(tool: Tool, command_line: CommandLine) -> str:
    return "\n\n".join(part for part in _parts(tool, command_line) if part)


def _parts(tool: Tool, command_line: CommandLine) -> Iterator[str]:
    yield f"## {tool.name}"
    yield prose(tool.description)
    yield f"*{', '.join(_traits(tool)).capitalize()}.*"
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
    yield f"**Errors**: {_errors(tool)}; all codes are on [the page of errors](../errors.md)."


def _traits(tool: Tool) -> Iterator[str]:
    if tool.read_only:
        yield "only reads"
    elif tool.destructive:
        yield "can destroy what is kept"
    else:
        yield "writes"
    if tool.idempotent and not tool.read_only:
        yield "safe to repeat"
    if tool.runs_as_job:
        yield "runs as a job"
    if not tool.core:
        yield "not listed by default"


def _errors(tool: Tool) -> str:
    fitting = "the arguments do not fit" if field_notes(tool.input_schema) else "given any argument"
    said = [f"{code('invalid_request')} when {fitting}"]
    if tool.runs_as_job:
        said.append("the job's own error when it fails")
    return ", ".join(said)

"""Example requests of tools."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import ValidationError

from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.fields import FieldNote, Schema, field_notes


def example_requests(tool: Tool) -> Sequence[Mapping[str, Any]]:
    """Return the examples of the request model, or one generated from its required fields."""
    extra = tool.request.model_config.get("json_schema_extra")
    if isinstance(extra, dict) and "examples" in extra:
        return cast(list[dict[str, Any]], extra["examples"])
    notes = field_notes(tool.input_schema)
    least = _made(notes, tool.input_schema)
    if _fits(tool, least):
        return [least]
    # Some requests need one of several optional fields; the first that makes the request valid is shown.
    for note in notes:
        fuller = {**least, note.name: _value(note.name, note.schema, note.item, tool.input_schema)}
        if _fits(tool, fuller):
            return [fuller]
    return [least]


def _fits(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    try:
        tool.request.model_validate(arguments)
    except ValidationError:
        return False
    return True


def _made(notes: Sequence[FieldNote], root: Schema) -> dict[str, Any]:
    return {note.name: _value(note.name, note.schema, note.item, root) for note in notes if note.required}


def _value(name: str, schema: Schema, item: Schema | None, root: Schema) -> Any:
    if given := schema.get("examples"):
        return given[0]
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if item is not None:
        return [_value(name, item, None, root)]
    if "anyOf" in schema:
        return _value(name, schema["anyOf"][0], None, root)
    match schema.get("type"):
        case "string" if schema.get("format") == "date-time":
            return "2026-01-31T12:00:00Z"
        case "string":
            return f"your {name.replace('_', ' ')}"[: schema.get("maxLength")]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case "array":
            return []
        case _:
            inner = {**schema, "$defs": root.get("$defs", {})}
            return _made(field_notes(inner), root)

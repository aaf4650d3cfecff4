"""Tools of upstream servers, with the schemas that those servers declare."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, Tool


class ForeignRequest(Request):
    """Arguments validated by the upstream server."""

    model_config = ConfigDict(extra="allow", defer_build=True)


class ForeignAnswer(Result):
    """The answer of the upstream server, unchanged."""

    model_config = ConfigDict(defer_build=True, serialize_by_alias=True, validate_by_name=True)

    content: list[dict[str, Any]] = Field(description="Text, images and resource links.")
    structured_content: Any = Field(
        default=None, alias="structuredContent", description="The result as structured data."
    )
    is_error: bool = Field(default=False, alias="isError", description="True when the tool reports a failure.")
    meta: dict[str, Any] | None = Field(default=None, alias="_meta")

    @model_serializer(mode="wrap")
    def _as_it_came(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Serialize without fields that the upstream server did not send."""
        fields = type(self).model_fields
        unset = {fields[name].alias for name in fields if name not in self.model_fields_set and name != "is_error"}
        return {name: value for name, value in serialize(self).items() if name not in unset}


Forward = Callable[[Mapping[str, Any], CallContext], Awaitable[ForeignAnswer]]


@dataclass(frozen=True)
class ForeignTool(Tool):
    """A tool of an upstream server."""

    declared: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The declaration sent by the server (MCP `Tool`)."""

    @cached_property
    def input_schema(self) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.declared["inputSchema"]

    @cached_property
    def output_schema(self) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Return the schema of the whole answer; the server declares only its structured part."""
        structured: dict[str, Any] = self.declared.get("outputSchema") or {}
        inner = {name: value for name, value in structured.items() if name != "$defs"}
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {
                "content": {"type": "array", "items": {"type": "object"}},
                "structuredContent": inner,
                "isError": {"type": "boolean"},
                "_meta": {"type": "object"},
            },
            "required": ["content", "isError"],
        }
        return {**schema, "$defs": structured["$defs"]} if "$defs" in structured else schema


def foreign_tool(name: str, family: str, declared: Mapping[str, Any], forward: Forward) -> ForeignTool:
    """Return a tool that forwards calls; without annotations it counts as destructive."""

    async def call(request: ForeignRequest, context: CallContext) -> ForeignAnswer:
        return await forward(request.model_extra or {}, context)

    hints: Mapping[str, Any] = declared.get("annotations") or {}
    read_only = hints.get("readOnlyHint") is True
    return ForeignTool(
        name=name,
        family=family,
        title=declared.get("title") or hints.get("title") or name.replace("_", " ").capitalize(),
        description=declared.get("description") or name,
        request=ForeignRequest,
        result=ForeignAnswer,
        function=call,
        injected={"context": CallContext},
        read_only=read_only,
        destructive=not read_only and hints.get("destructiveHint") is not False,
        idempotent=read_only or hints.get("idempotentHint") is True,
        declared=declared,
    )

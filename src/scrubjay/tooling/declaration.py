"""The one declaration of a tool: a typed function, its request and its result."""

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self, get_type_hints, runtime_checkable

from pydantic import BaseModel, ConfigDict

from scrubjay.tooling.job_view import JobView


class Request(BaseModel):
    """What a tool is asked. Unknown fields are refused, so that a typing error is never silently ignored."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


def examples(*requests: dict[str, Any]) -> ConfigDict:
    """For a request's `model_config`: calls as people would make them, shown in help texts and on pages."""
    return ConfigDict(json_schema_extra={"examples": list(requests)})


class Result(BaseModel):
    """What a tool answers."""

    model_config = ConfigDict(defer_build=True)

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """Made of our own values, typed already, without checking them again; every field must be among them.

        The same as `model_construct`, which looks at each field and takes ten times as long: most of what many small
        results cost.
        """
        made = cls.__new__(cls)
        _set(made, "__dict__", values)
        _set(made, "__pydantic_fields_set__", set(values))
        _set(made, "__pydantic_extra__", None)
        _set(made, "__pydantic_private__", None)
        return made


@runtime_checkable
class Framed(Protocol):
    """A result of a tool with several operations; some protocols want what each is for, without the frame."""

    def bare(self) -> Any: ...


_set = object.__setattr__


ToolFunction = Callable[..., Awaitable[BaseModel]]


@dataclass(frozen=True)
class Tool:
    """A declared tool; gateways read everything they show from here."""

    name: str
    family: str
    title: str
    description: str
    request: type[Request]
    result: type[BaseModel]
    """What the function returns; callers of a job see it inside a `JobView`."""
    function: ToolFunction
    injected: Mapping[str, type]
    """The function's other parameters, each filled by its type."""
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    runs_as_job: bool = False
    core: bool = True
    """Whether it is listed when nobody asks for more; every tool can always be called."""
    fleeting: bool = False
    """Whether what it is given and answers is soon gone: then the history of calls has only that it was called."""
    quotes: bool = False
    """Whether it answers with words of memories that it does not name: then the history of calls has no answer."""
    reading_operations: frozenset[str] = frozenset()
    """Of a tool that takes an `operation` or `action`, those that change nothing: a key that only reads opens them."""
    open_world: bool = False
    """Whether it reaches what is outside of this machine."""

    def only_reads(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a call with these arguments changes nothing, whatever else is in them."""
        operation = arguments.get("action" if "action" in self.request.model_fields else "operation")
        return self.read_only or (isinstance(operation, str) and operation in self.reading_operations)

    @cached_property
    def answer(self) -> type[BaseModel]:
        """The model that callers receive."""
        return JobView[self.result] if self.runs_as_job else self.result

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        schema = _titleless(self.request.model_json_schema())
        schema.pop("examples", None)  # they are for people; a model reads every word of every listed tool
        return schema

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        return _titleless(self.answer.model_json_schema(mode="serialization"))

    @property
    def summary(self) -> str:
        """The description's first line."""
        return self.description.split("\n", 1)[0]


def tool(
    family: str,
    *,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    runs_as_job: bool = False,
    core: bool = True,
    fleeting: bool = False,
    quotes: bool = False,
    reading_operations: Collection[str] = (),
    open_world: bool = False,
    title: str | None = None,
) -> Callable[[ToolFunction], Tool]:
    """Declare a tool. The function's first parameter is its request; the others are services, found by type."""

    def declare(function: ToolFunction) -> Tool:
        name = getattr(function, "__name__", "")
        hints = get_type_hints(function)
        result = hints.pop("return", None)
        names = list(inspect.signature(function).parameters)
        request = hints.get(names[0]) if names else None
        if not (isinstance(request, type) and issubclass(request, Request)):
            raise TypeError(f"{name}: the first parameter must be a Request")
        if not (isinstance(result, type) and issubclass(result, BaseModel)):
            raise TypeError(f"{name}: the return annotation must be a model")
        if not inspect.getdoc(function):
            raise TypeError(f"{name}: a tool needs a docstring; it is what its users read")
        if read_only and destructive:
            raise TypeError(f"{name}: what only reads destroys nothing")
        return Tool(
            name=name,
            family=family,
            title=title or name.replace("_", " ").capitalize(),
            description=inspect.cleandoc(function.__doc__ or ""),
            request=request,
            result=result,
            function=function,
            injected={parameter: hints[parameter] for parameter in names[1:]},
            read_only=read_only,
            destructive=destructive,
            idempotent=idempotent or read_only,
            runs_as_job=runs_as_job,
            core=core,
            fleeting=fleeting,
            quotes=quotes,
            reading_operations=frozenset(reading_operations),
            open_world=open_world,
        )

    return declare


def _titleless(schema: Any) -> Any:
    """The schema without pydantic's generated titles, which only repeat the names and cost a model's attention."""
    if isinstance(schema, dict):
        items: dict[str, Any] = schema  # pyright: ignore[reportUnknownVariableType]
        return {
            key: _titleless(value) for key, value in items.items() if not (key == "title" and isinstance(value, str))
        }
    if isinstance(schema, list):
        entries: list[Any] = schema  # pyright: ignore[reportUnknownVariableType]
        return [_titleless(entry) for entry in entries]
    return schema

"""The one declaration of a tool: a typed function, its request and its result."""

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self, get_type_hints, runtime_checkable

from pydantic import BaseModel, ConfigDict

from scrubjay.core.callers import EVERYTHING, Caller
from scrubjay.tooling.job_view import JobView


class Request(BaseModel):
    """Base class of request models. Unknown fields are rejected, so that a typo is never silently ignored."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


def examples(*requests: dict[str, Any]) -> ConfigDict:
    """Return a `model_config` with example calls, which help texts and reference pages show."""
    return ConfigDict(json_schema_extra={"examples": list(requests)})


class Result(BaseModel):
    """Base class of result models."""

    model_config = ConfigDict(defer_build=True)

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """Build a result from already typed values without validation; every field must be given.

        Like `model_construct`, which takes ten times as long because it inspects each field: most of the cost of many
        small results.
        """
        made = cls.__new__(cls)
        _set(made, "__dict__", values)
        _set(made, "__pydantic_fields_set__", set(values))
        _set(made, "__pydantic_extra__", None)
        _set(made, "__pydantic_private__", None)
        return made


@runtime_checkable
class Framed(Protocol):
    """A result that wraps the outcome of one of several operations; some protocols need only the inner value."""

    def bare(self) -> Any: ...


_set = object.__setattr__


ToolFunction = Callable[..., Awaitable[BaseModel]]


@dataclass(frozen=True)
class Tool:
    """A declared tool; servers derive everything they show from it."""

    name: str
    family: str
    title: str
    description: str
    request: type[Request]
    result: type[BaseModel]
    """The return type of the function; a job returns it inside a `JobView`."""
    function: ToolFunction
    injected: Mapping[str, type]
    """The function's other parameters, each filled by its type."""
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    runs_as_job: bool = False
    core: bool = True
    """Listed by default; unlisted tools can still be called."""
    log_payload: bool = True
    """False: history and events record that it was called, but neither arguments nor result (for short-lived data)."""
    log_result: bool = True
    """False: the result is not recorded, because it quotes memories without naming their ids."""
    reading_operations: frozenset[str] = frozenset()
    """Values of `operation` or `action` that change nothing; a read-only key may call them."""
    open_world: bool = False
    """Accesses systems outside of this machine."""
    reads: frozenset[str] = frozenset()
    """Other families whose records it returns: a caller also needs their read scopes."""
    withholds: frozenset[str] = frozenset()
    """Other families whose records the function itself leaves out for a caller without their read scopes."""

    relays: bool = False
    """It returns what other tools returned; only a scope for everything allows reading its recorded results."""
    job_guard: type[Any] | None = None
    """The service (a `JobGuard`) that limits who may see its jobs, where scopes are not enough."""

    def missing_scope(self, caller: Caller, *, read_only: bool) -> tuple[str, bool] | None:
        """Return the family that the caller lacks to call it, and whether reading it is enough; None if it may."""
        if not caller.may_call(self.family, read_only=read_only):
            return self.family, read_only
        return next(((family, True) for family in sorted(self.reads) if not caller.may_read(family)), None)

    def may_read_results(self, caller: Caller) -> bool:
        """Return True when the caller may read results of other callers: all that the tool can return."""
        return all(map(caller.may_read, (EVERYTHING,) if self.relays else (self.family, *self.reads, *self.withholds)))

    def only_reads(self, arguments: Mapping[str, Any]) -> bool:
        """Return True when a call with these arguments changes nothing."""
        operation = arguments.get("action" if "action" in self.request.model_fields else "operation")
        return self.read_only or (isinstance(operation, str) and operation in self.reading_operations)

    @cached_property
    def answer(self) -> type[BaseModel]:
        """The model that callers receive."""
        return JobView[self.result] if self.runs_as_job else self.result

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        schema = _titleless(self.request.model_json_schema())
        schema.pop("examples", None)  # for people only: every listed tool costs a model tokens
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
    log_payload: bool = True,
    log_result: bool = True,
    reading_operations: Collection[str] = (),
    open_world: bool = False,
    reads: Collection[str] = (),
    withholds: Collection[str] = (),
    relays: bool = False,
    job_guard: type[Any] | None = None,
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
        if family in {*reads, *withholds}:
            raise TypeError(f"{name}: {family} is its own family")
        if runs_as_job and withholds:
            raise TypeError(f"{name}: a job does not know its caller, so it can withhold nothing; declare reads")
        if read_only and destructive:
            raise TypeError(f"{name}: a read-only tool cannot be destructive")
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
            log_payload=log_payload,
            log_result=log_result,
            reading_operations=frozenset(reading_operations),
            open_world=open_world,
            reads=frozenset(reads),
            withholds=frozenset(withholds),
            relays=relays,
            job_guard=job_guard,
        )

    return declare


def _titleless(schema: Any) -> Any:
    """Return the schema without pydantic's generated titles, which only repeat the names and cost tokens."""
    if isinstance(schema, dict):
        items: dict[str, Any] = schema  # pyright: ignore[reportUnknownVariableType]
        return {
            key: _titleless(value) for key, value in items.items() if not (key == "title" and isinstance(value, str))
        }
    if isinstance(schema, list):
        entries: list[Any] = schema  # pyright: ignore[reportUnknownVariableType]
        return [_titleless(entry) for entry in entries]
    return schema

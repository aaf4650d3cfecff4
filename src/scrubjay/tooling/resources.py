"""Declaration of resources, and listing and reading them."""

import inspect
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from scrubjay.core.callers import EVERYTHING, OWNER, Caller
from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import Internal, InvalidRequest, NotFound, ScrubjayError
from scrubjay.core.progress import Reporter
from scrubjay.core.suggestions import nearest_names
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.events import GIVEN_UP, OK, ResourceRead
from scrubjay.tooling.process_events import PROCESS_EVENTS
from scrubjay.tooling.security_events import scope_error
from scrubjay.tooling.services import Services
from scrubjay.tooling.validation import printable, refuse_unstorable

logger = logging.getLogger("scrubjay.calls")

Body = str | bytes | Path
"""Text, bytes, or a file that holds them."""
Reading = Callable[..., Awaitable[Body]]
Each = Callable[..., Awaitable[Sequence[Mapping[str, str]]]]
Mark = Callable[..., Awaitable[str]]

# Parameters of an address are ids, so that no path can be passed.
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Resource:
    """A declared resource; servers derive everything they show from it."""

    addresses: tuple[str, ...]
    """URIs or templates such as `…/{index_id}`. The resource can be read at each of them; only the first is listed."""
    name: str
    title: str
    description: str
    mime_type: str
    reading: Reading
    each: Each | None
    """Returns the current parameter values, so that each resource can be listed."""
    mark: Mark | None
    """Returns a cheap version tag that changes with the content; required for subscriptions."""
    family: str = EVERYTHING
    """Tool family whose read scope allows reading it."""

    @property
    def parameters(self) -> Sequence[str]:
        return _PARAMETER.findall(self.addresses[0])


@dataclass(frozen=True, slots=True)
class ListedResource:
    """A resource that can be read now."""

    uri: str
    resource: Resource


@dataclass(frozen=True, slots=True)
class ReadResource:
    """The content of a resource."""

    uri: str
    mime_type: str
    body: Body


def resource(
    *addresses: str,
    mime_type: str,
    title: str,
    each: Each | None = None,
    mark: Mark | None = None,
    family: str = EVERYTHING,
) -> Callable[[Reading], Resource]:
    """Declare a resource. Parameters named in the address are ids; the others are services, found by type.

    Without a family, only keys with the scope `*` can read it.
    """

    def declare(reading: Reading) -> Resource:
        name = getattr(reading, "__name__", "")
        if len({tuple(_PARAMETER.findall(address)) for address in addresses}) != 1:
            raise TypeError(f"{name}: all addresses must have the same parameters")
        if not inspect.getdoc(reading):
            raise TypeError(f"{name}: a resource needs a docstring; it is what its users read")
        declared = Resource(
            addresses, name, title, inspect.cleandoc(reading.__doc__ or ""), mime_type, reading, each, mark, family
        )
        if missing := {*declared.parameters} - {*inspect.signature(reading).parameters}:
            raise TypeError(f"{name}: takes no {missing.pop()}, which its address has")
        return declared

    return declare


@dataclass(frozen=True)
class Resources:
    """Lists and reads resources. Raises `LookupError` when a required service is not provided."""

    declared: Sequence[Resource] = ()
    services: Services = field(default_factory=Services)

    def __post_init__(self) -> None:
        for found in self.declared:
            for function in (found.reading, found.each, found.mark):
                for parameter, kind in _injected(function, found.parameters).items():
                    if kind not in (CallContext, Reporter) and kind not in self.services:
                        raise LookupError(
                            f"{found.name} needs a {kind.__name__} for {parameter!r}, which is not provided"
                        )

    def templates(self) -> Sequence[ListedResource]:
        """Return the addresses with parameters."""
        return [ListedResource(one, found) for found in self.declared if found.parameters for one in found.addresses]

    async def listed(self, caller: Caller = OWNER) -> Sequence[ListedResource]:
        """Return the readable resources in declaration order, each once."""
        context = CallContext(surface="python", caller=caller)
        ids: dict[Each, Sequence[Mapping[str, str]]] = {}
        listed: list[ListedResource] = []
        for found in self.declared:
            if not caller.may_call(found.family, read_only=True):
                continue
            if not found.parameters:
                listed.append(ListedResource(found.addresses[0], found))
            elif found.each is not None:
                if found.each not in ids:
                    ids[found.each] = await found.each(**await self._services_for(found.each, (), context))
                listed += [ListedResource(found.addresses[0].format(**values), found) for values in ids[found.each]]
        return listed

    async def read(self, uri: str, context: CallContext) -> ReadResource:
        """Return the content; raise nothing but `ScrubjayError`."""
        started = time.perf_counter()
        outcome = GIVEN_UP
        try:
            found, values = self.find(uri)
            _check_scope(found, context.caller, surface=context.surface, **context.who)
            services = await self._services_for(found.reading, found.parameters, context)
            body = await found.reading(**values, **services)
            outcome = OK
            return ReadResource(uri, found.mime_type, body)
        except ScrubjayError as error:
            outcome = error.code
            raise
        except Exception as error:  # a bug: the caller gets a typed error, the log gets the location
            outcome = "internal"
            place = {"resource": printable(uri), "request_id": context.request_id, **error_fields(error)}
            logger.error("reading a resource failed unexpectedly", extra=place)
            raise Internal(
                f"{printable(uri)} could not be read ({type(error).__name__})",
                hint=f"this is a bug; the log has the details under request {context.request_id}",
                details={"request_id": context.request_id},
            ) from error
        finally:
            milliseconds = round((time.perf_counter() - started) * 1000, 2)
            PROCESS_EVENTS.publish(
                ResourceRead(uri=printable(uri), context=context, outcome=outcome, milliseconds=milliseconds)
            )

    async def mark(self, uri: str, caller: Caller = OWNER) -> str:
        """Return the version tag of a resource; raise `InvalidRequest` when it does not support subscriptions."""
        found, values = self.find(uri)
        _check_scope(found, caller)
        if found.mark is None:
            watched = [address for one in self.declared if one.mark is not None for address in one.addresses[:1]]
            raise InvalidRequest(
                f"{printable(uri)} does not support subscriptions", hint=f"these do: {', '.join(watched)}"
            )
        own = {name: value for name, value in values.items() if name in inspect.signature(found.mark).parameters}
        context = CallContext(surface="python", caller=caller)
        return await found.mark(**own, **await self._services_for(found.mark, found.parameters, context))

    def find(self, uri: str) -> tuple[Resource, Mapping[str, str]]:
        """Return the resource at this address and its parameters."""
        refuse_unstorable(uri)
        for found in self.declared:
            for address in found.addresses:
                if matched := _pattern(address).fullmatch(uri):
                    for name, value in matched.groupdict().items():
                        if not _ID.fullmatch(value):
                            raise InvalidRequest(
                                f"{name}: {printable(value)!r} is not an id",
                                hint="an id has 1 to 100 letters, digits, _ or -",
                            )
                    return found, matched.groupdict()
        raise self._unknown(uri)

    def _unknown(self, uri: str) -> NotFound:
        known = [address for found in self.declared for address in found.addresses]
        near = nearest_names(uri, known)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known) or 'none'}"
        return NotFound(f"there is no resource {printable(uri)!r}", hint=hint)

    async def _services_for(
        self, function: Callable[..., Any], parameters: Iterable[str], context: CallContext
    ) -> dict[str, Any]:
        given: dict[type, Any] = {CallContext: context, Reporter: context.reporter}
        return {
            parameter: given[kind] if kind in given else await self.services.get(kind)
            for parameter, kind in _injected(function, parameters).items()
        }


def _check_scope(found: Resource, caller: Caller, /, **fields: Any) -> None:
    if not caller.may_call(found.family, read_only=True):
        raise scope_error(caller, found.family, read_only=True, what="this resource", resource=found.name, **fields)


def _injected(function: Callable[..., Any] | None, parameters: Iterable[str]) -> Mapping[str, type]:
    hints = get_type_hints(function) if function is not None else {}
    return {name: kind for name, kind in hints.items() if name not in {"return", *parameters}}


def _pattern(address: str) -> re.Pattern[str]:
    parts = _PARAMETER.split(address)
    texts = [f"(?P<{part}>[^/]*)" if place % 2 else re.escape(part) for place, part in enumerate(parts)]
    return re.compile("".join(texts))

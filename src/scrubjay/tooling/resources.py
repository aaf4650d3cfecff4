"""The one declaration of a resource: an address, a typed function that reads what is there, and how to read any."""

import inspect
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from scrubjay.core.callers import EVERYTHING, OWNER, Caller
from scrubjay.core.error_location import place_of
from scrubjay.core.errors import Internal, InvalidRequest, NotFound, ScrubjayError
from scrubjay.core.progress import Reporter
from scrubjay.core.suggestions import nearest_names
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.events import GIVEN_UP, OK, ResourceRead
from scrubjay.tooling.process_events import PROCESS_EVENTS
from scrubjay.tooling.security_events import closed
from scrubjay.tooling.services import Services
from scrubjay.tooling.validation import printable, refuse_unstorable

logger = logging.getLogger("scrubjay.calls")

Body = str | bytes | Path
"""Text, bytes, or a file that holds them."""
Reading = Callable[..., Awaitable[Body]]
Each = Callable[..., Awaitable[Sequence[Mapping[str, str]]]]
Mark = Callable[..., Awaitable[str]]

# Whatever stands for a parameter in an address is an id; nothing that could be a path comes through.
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Resource:
    """A declared resource; gateways read everything they show from here."""

    addresses: tuple[str, ...]
    """The first is the one that is listed; all can be read. `{index_id}` stands for an id."""
    name: str
    title: str
    description: str
    mime_type: str
    reading: Reading
    each: Each | None
    """The ids for which it is there now, so that each can be listed."""
    mark: Mark | None
    """Something that differs whenever the content does, and costs less; without it nobody can wait for changes."""
    family: str = EVERYTHING
    """Who may read what this family's tools tell may read it too."""

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
    """What a resource holds."""

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

    It belongs to a family of tools; without one only keys to everything open it.
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
    """Lists and reads resources. Refuses to be made when one asks for a service that nobody provides."""

    declared: Sequence[Resource] = ()
    services: Services = field(default_factory=Services)

    def __post_init__(self) -> None:
        for found in self.declared:
            for function in (found.reading, found.each, found.mark):
                for parameter, kind in _injected(function, found.parameters).items():
                    if kind not in (CallContext, Reporter) and kind not in self.services:
                        raise LookupError(
                            f"{found.name} needs a {kind.__name__} for {parameter!r}, and nobody provides one"
                        )

    def templates(self) -> Sequence[ListedResource]:
        """Every address with a parameter in it."""
        return [ListedResource(one, found) for found in self.declared if found.parameters for one in found.addresses]

    async def listed(self, caller: Caller = OWNER) -> Sequence[ListedResource]:
        """What the caller can read now, in the order declared; what has several addresses is listed once."""
        context = CallContext(surface="python")
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
        """What the resource holds, or a `ScrubjayError`; nothing else ever comes out."""
        started = time.perf_counter()
        outcome = GIVEN_UP
        try:
            found, values = self.find(uri)
            _refuse_closed(found, context.caller, surface=context.surface, **context.who)
            services = await self._services_for(found.reading, found.parameters, context)
            body = await found.reading(**values, **services)
            outcome = OK
            return ReadResource(uri, found.mime_type, body)
        except ScrubjayError as error:
            outcome = error.code
            raise
        except Exception as error:  # a bug: the caller gets a typed answer, the log gets the truth
            outcome = "internal"
            place = {"resource": printable(uri), "request_id": context.request_id, **place_of(error)}
            logger.error("a resource broke", extra=place)
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
        """What differs whenever the resource's content does; `InvalidRequest` when nobody can wait for its changes."""
        found, values = self.find(uri)
        _refuse_closed(found, caller)
        if found.mark is None:
            watched = [address for one in self.declared if one.mark is not None for address in one.addresses[:1]]
            raise InvalidRequest(
                f"changes of {printable(uri)} are not told", hint=f"those of these are: {', '.join(watched)}"
            )
        own = {name: value for name, value in values.items() if name in inspect.signature(found.mark).parameters}
        context = CallContext(surface="python")
        return await found.mark(**own, **await self._services_for(found.mark, found.parameters, context))

    def find(self, uri: str) -> tuple[Resource, Mapping[str, str]]:
        """The resource at this address, and the ids in it."""
        refuse_unstorable(uri)
        for found in self.declared:
            for address in found.addresses:
                if matched := _pattern(address).fullmatch(uri):
                    for name, value in matched.groupdict().items():
                        if not _ID.fullmatch(value):
                            raise InvalidRequest(
                                f"{name}: {printable(value)!r} is no id",
                                hint="an id has at most 100 letters, digits, _ and -",
                            )
                    return found, matched.groupdict()
        raise self._unknown(uri)

    def _unknown(self, uri: str) -> NotFound:
        known = [address for found in self.declared for address in found.addresses]
        near = nearest_names(uri, known)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known) or 'none'}"
        return NotFound(f"there is no resource {printable(uri)!r}", hint=hint)

    async def _services_for(
        self, function: Callable[..., Any], parameters: Iterable[str], context: CallContext
    ) -> dict[str, Any]:
        given: dict[type, Any] = {CallContext: context, Reporter: context.reporter}
        return {
            parameter: given[kind] if kind in given else await self.services.get(kind)
            for parameter, kind in _injected(function, parameters).items()
        }


def _refuse_closed(found: Resource, caller: Caller, /, **told: Any) -> None:
    if not caller.may_call(found.family, read_only=True):
        raise closed(caller, found.family, read_only=True, what="this resource", resource=found.name, **told)


def _injected(function: Callable[..., Any] | None, parameters: Iterable[str]) -> Mapping[str, type]:
    hints = get_type_hints(function) if function is not None else {}
    return {name: kind for name, kind in hints.items() if name not in {"return", *parameters}}


def _pattern(address: str) -> re.Pattern[str]:
    parts = _PARAMETER.split(address)
    texts = [f"(?P<{part}>[^/]*)" if place % 2 else re.escape(part) for place, part in enumerate(parts)]
    return re.compile("".join(texts))

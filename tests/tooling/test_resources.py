"""A resource is declared once; servers list it and read it by its URI."""

from collections.abc import Mapping, Sequence

import pytest

from scrubjay.core.errors import Internal, InvalidRequest, NotFound
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.resources import ReadResource, Resource, Resources, resource
from scrubjay.tooling.services import Services

CONTEXT = CallContext(surface="python")


class Garden:
    """Counts its reads."""

    def __init__(self) -> None:
        self.reads = 0


async def each_bed(garden: Garden) -> Sequence[Mapping[str, str]]:
    garden.reads += 1
    return [{"bed": "north"}, {"bed": "south"}]


async def bed_mark(garden: Garden) -> str:
    return str(garden.reads)


@resource("garden://all", mime_type="text/plain", title="Garden")
async def whole(context: CallContext) -> str:
    """The whole garden."""
    return context.surface


@resource("garden://{bed}/plan", "plan://{bed}", mime_type="text/plain", title="Plan", each=each_bed, mark=bed_mark)
async def plan(bed: str) -> str:
    """The plan of a bed."""
    return bed


@resource("garden://{bed}/{row}", mime_type="text/plain", title="Row", each=None)
async def row(bed: str, row: str) -> bytes:
    """One row of a bed."""
    return f"{bed} {row}".encode()


@resource("garden://{bed}/list", mime_type="text/plain", title="List", each=each_bed)
async def seeds(bed: str) -> str:
    """The seeds of a bed."""
    raise ZeroDivisionError(bed)


def garden_of(*declared: Resource) -> tuple[Resources, Garden]:
    services, garden = Services(), Garden()
    services.provide_ready(Garden, garden)
    return Resources(declared, services), garden


async def test_each_resource_is_listed_once_and_ids_are_read_once() -> None:
    resources, garden = garden_of(whole, plan, row, seeds)
    assert [one.uri for one in await resources.listed()] == [
        "garden://all",
        "garden://north/plan",
        "garden://south/plan",
        "garden://north/list",
        "garden://south/list",
    ]
    assert garden.reads == 1
    assert [one.uri for one in resources.templates()] == [
        "garden://{bed}/plan",
        "plan://{bed}",
        "garden://{bed}/{row}",
        "garden://{bed}/list",
    ]


async def test_a_resource_can_be_read_by_each_of_its_uris() -> None:
    resources, _ = garden_of(whole, plan, row)
    for uri in ("garden://north/plan", "plan://north"):
        assert await resources.read(uri, CONTEXT) == ReadResource(uri, "text/plain", "north")
    assert (await resources.read("garden://all", CONTEXT)).body == "python"
    assert (await resources.read("garden://a/b", CONTEXT)).body == b"a b"


@pytest.mark.parametrize(
    "uri", ["plan://a.b", "plan://", f"plan://{'a' * 101}", "plan://ä", "plan://a\nb", "plan://\0"]
)
async def test_an_invalid_id_is_refused(uri: str) -> None:
    resources, _ = garden_of(plan)
    with pytest.raises(InvalidRequest):
        await resources.read(uri, CONTEXT)


async def test_an_unknown_uri_is_refused_with_the_nearest_ones() -> None:
    resources, _ = garden_of(whole, plan)
    with pytest.raises(NotFound) as caught:
        await resources.read("garden://al", CONTEXT)
    assert caught.value.hint == "did you mean garden://all or garden://{bed}/plan?"
    with pytest.raises(NotFound) as caught:
        await resources.read("file:///etc/passwd", CONTEXT)
    assert caught.value.hint == "known: garden://all, garden://{bed}/plan, plan://{bed}"


async def test_a_bug_reveals_only_the_type_of_its_exception() -> None:
    resources, _ = garden_of(seeds)
    with pytest.raises(Internal, match="ZeroDivisionError"):
        await resources.read("garden://north/list", CONTEXT)


async def test_only_a_resource_with_a_version_tag_supports_subscriptions() -> None:
    resources, garden = garden_of(whole, plan)
    assert await resources.mark("plan://north") == "0"
    garden.reads = 5
    assert await resources.mark("plan://north") == "5"
    with pytest.raises(InvalidRequest) as caught:
        await resources.mark("garden://all")
    assert caught.value.hint == "these do: garden://{bed}/plan"


def test_an_invalid_declaration_is_refused() -> None:
    async def undocumented() -> str:
        return ""

    async def documented(bed: str) -> str:
        """Something."""
        return bed

    with pytest.raises(TypeError, match="docstring"):
        resource("a://b", mime_type="text/plain", title="A")(undocumented)
    with pytest.raises(TypeError, match="row"):
        resource("a://{row}", mime_type="text/plain", title="A")(documented)
    with pytest.raises(TypeError, match="same parameters"):
        resource("a://{bed}", "b://{row}", mime_type="text/plain", title="A")(documented)
    with pytest.raises(LookupError, match="Garden"):
        Resources([plan], Services())

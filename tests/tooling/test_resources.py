"""A resource is declared once; whoever projects it lists and reads it by its address."""

from collections.abc import Mapping, Sequence

import pytest

from scrubjay.core.errors import Internal, InvalidRequest, NotFound
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.resources import ReadResource, Resource, Resources, resource
from scrubjay.tooling.services import Services

CONTEXT = CallContext(surface="python")


class Garden:
    """Counts how often it is looked at."""

    def __init__(self) -> None:
        self.looks = 0


async def each_bed(garden: Garden) -> Sequence[Mapping[str, str]]:
    garden.looks += 1
    return [{"bed": "north"}, {"bed": "south"}]


async def bed_mark(garden: Garden) -> str:
    return str(garden.looks)


@resource("garden://all", mime_type="text/plain", title="Garden")
async def whole(context: CallContext) -> str:
    """All of it."""
    return context.surface


@resource("garden://{bed}/plan", "plan://{bed}", mime_type="text/plain", title="Plan", each=each_bed, mark=bed_mark)
async def plan(bed: str) -> str:
    """What is where."""
    return bed


@resource("garden://{bed}/{row}", mime_type="text/plain", title="Row", each=None)
async def row(bed: str, row: str) -> bytes:
    """One row."""
    return f"{bed} {row}".encode()


@resource("garden://{bed}/list", mime_type="text/plain", title="List", each=each_bed)
async def seeds(bed: str) -> str:
    """What was sown."""
    raise ZeroDivisionError(bed)


def garden_of(*declared: Resource) -> tuple[Resources, Garden]:
    services, garden = Services(), Garden()
    services.provide_ready(Garden, garden)
    return Resources(declared, services), garden


async def test_what_is_there_is_listed_once_and_ids_are_looked_up_once() -> None:
    resources, garden = garden_of(whole, plan, row, seeds)
    assert [one.uri for one in await resources.listed()] == [
        "garden://all",
        "garden://north/plan",
        "garden://south/plan",
        "garden://north/list",
        "garden://south/list",
    ]
    assert garden.looks == 1
    assert [one.uri for one in resources.templates()] == [
        "garden://{bed}/plan",
        "plan://{bed}",
        "garden://{bed}/{row}",
        "garden://{bed}/list",
    ]


async def test_every_address_of_a_resource_reads_it() -> None:
    resources, _ = garden_of(whole, plan, row)
    for uri in ("garden://north/plan", "plan://north"):
        assert await resources.read(uri, CONTEXT) == ReadResource(uri, "text/plain", "north")
    assert (await resources.read("garden://all", CONTEXT)).body == "python"
    assert (await resources.read("garden://a/b", CONTEXT)).body == b"a b"


@pytest.mark.parametrize(
    "uri", ["plan://a.b", "plan://", f"plan://{'a' * 101}", "plan://ä", "plan://a\nb", "plan://\0"]
)
async def test_what_is_no_id_is_refused(uri: str) -> None:
    resources, _ = garden_of(plan)
    with pytest.raises(InvalidRequest):
        await resources.read(uri, CONTEXT)


async def test_an_unknown_address_is_told_with_the_nearest() -> None:
    resources, _ = garden_of(whole, plan)
    with pytest.raises(NotFound) as caught:
        await resources.read("garden://al", CONTEXT)
    assert caught.value.hint == "did you mean garden://all or garden://{bed}/plan?"
    with pytest.raises(NotFound) as caught:
        await resources.read("file:///etc/passwd", CONTEXT)
    assert caught.value.hint == "there are: garden://all, garden://{bed}/plan, plan://{bed}"


async def test_a_bug_tells_no_more_than_its_kind() -> None:
    resources, _ = garden_of(seeds)
    with pytest.raises(Internal, match="ZeroDivisionError"):
        await resources.read("garden://north/list", CONTEXT)


async def test_only_what_has_a_mark_can_be_waited_for() -> None:
    resources, garden = garden_of(whole, plan)
    assert await resources.mark("plan://north") == "0"
    garden.looks = 5
    assert await resources.mark("plan://north") == "5"
    with pytest.raises(InvalidRequest) as caught:
        await resources.mark("garden://all")
    assert caught.value.hint == "those of these are: garden://{bed}/plan"


def test_a_declaration_that_cannot_work_is_refused() -> None:
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

"""The registry of tools, and the selection that is listed."""

import pytest

from scrubjay.core.errors import InvalidRequest, UnknownTool
from scrubjay.tooling.declaration import Request, Result, Tool, tool
from scrubjay.tooling.listing import Listing
from scrubjay.tooling.registry import Registry, Toolset
from scrubjay.tooling.tool_search import search


class Nothing(Request):
    pass


class Done(Result):
    pass


def make(name: str, family: str, docstring: str = "Do something.", *, core: bool = True) -> Tool:
    async def function(request: Nothing) -> Done:
        return Done()

    function.__name__, function.__doc__ = name, docstring
    return tool(family, core=core)(function)


@pytest.fixture
def registry() -> Registry:
    return Registry(
        [
            make("remember", "memory", "Keep a fact for later."),
            make("recall", "memory", "Find memories by a question."),
            make("index_repository", "code", "Read the source files of a project.", core=False),
            make("find_callers", "code", "Find who calls a function.", core=False),
        ]
    )


def names(tools: object) -> list[str]:
    return [tool.name for tool in tools]  # pyright: ignore


def test_an_unknown_tool_is_refused_with_the_nearest_names(registry: Registry) -> None:
    with pytest.raises(UnknownTool) as caught:
        registry.get("rememeber")
    assert caught.value.hint == "did you mean remember?"
    assert caught.value.details == {"nearest": ["remember"]}


def test_two_tools_with_the_same_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools have the name recall"):
        Registry([make("recall", "a"), make("recall", "b")])


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("core", ["remember", "recall"]),
        ("all", ["remember", "recall", "index_repository", "find_callers"]),
        ("code", ["index_repository", "find_callers"]),
        ("core,find_callers", ["remember", "recall", "find_callers"]),
        (" memory , code ", ["remember", "recall", "index_repository", "find_callers"]),
    ],
)
def test_a_toolset_is_selected_by_keyword_family_or_name(registry: Registry, spec: str, expected: list[str]) -> None:
    assert names(Toolset(spec).select(registry, {})) == expected


def test_a_tool_named_like_its_family_can_be_selected_alone() -> None:
    registry = Registry([make("knowledge", "knowledge"), make("consult_graph", "knowledge")])
    assert names(Toolset("knowledge").select(registry, {})) == ["knowledge", "consult_graph"]
    assert names(Toolset("=knowledge").select(registry, {})) == ["knowledge"]


def test_an_unknown_toolset_is_refused_before_the_first_listing(registry: Registry) -> None:
    with pytest.raises(InvalidRequest) as caught:
        Listing(registry, Toolset("memry"))
    assert caught.value.hint == "did you mean memory or remember?"


async def test_the_most_used_tools_come_first_and_the_order_stays_fixed(registry: Registry) -> None:
    uses = {"find_callers": 7, "recall": 7, "index_repository": 9}

    async def counted() -> dict[str, int]:
        return uses

    listing = Listing(registry, Toolset("all"), counted)
    expected = ["index_repository", "recall", "find_callers", "remember"]
    assert names(await listing.tools()) == expected
    uses["remember"] = 100
    assert names(await listing.tools()) == expected


def test_a_tool_is_found_by_what_it_does(registry: Registry) -> None:
    assert names(search(registry, "who is calling this function?", None))[0] == "find_callers"
    assert names(search(registry, "read source", None))[0] == "index_repository"
    assert names(search(registry, "find", "memory")) == ["recall"]
    assert names(search(registry, "", "code")) == ["index_repository", "find_callers"]
    assert names(search(registry, "xylophone", None)) == []

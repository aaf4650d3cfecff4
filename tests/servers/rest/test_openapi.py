"""The OpenAPI document says exactly what the tools do."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from scrubjay.servers.http.errors import STATUS
from scrubjay.tooling.declaration import Request, Result, Tool, tool
from tests.servers.rest.toys import TOYS, count, make_toys

EVERY_FAILURE = sorted({"400", *map(str, STATUS.values())})


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    return make_toys(tmp_path).app.openapi()


def _expanded(schema: Any, root: dict[str, Any]) -> Any:
    """The schema with every reference replaced by what it names, and without generated titles."""
    if isinstance(schema, list):
        return [_expanded(entry, root) for entry in schema]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(schema, dict):
        return schema
    entries: dict[str, Any] = schema  # pyright: ignore[reportUnknownVariableType]
    if "$ref" in entries:
        target: Any = root
        for part in entries["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return _expanded({**target, **{key: value for key, value in entries.items() if key != "$ref"}}, root)
    return {
        key: _expanded(value, root)
        for key, value in entries.items()
        if key != "$defs" and not (key == "title" and isinstance(value, str))
    }


@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.name)
def test_each_tool_has_its_exact_schemas(document: dict[str, Any], toy: Tool):
    operation = document["paths"][f"/v1/tools/{toy.name}"]["post"]
    taken = operation["requestBody"]["content"]["application/json"]["schema"]
    answered = operation["responses"]["200"]["content"]["application/json"]["schema"]
    assert set(taken) == set(answered) == {"$ref"}
    assert _expanded(taken, document) == _expanded(toy.input_schema, toy.input_schema)
    assert _expanded(answered, document) == _expanded(toy.output_schema, toy.output_schema)


@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.name)
def test_each_tool_is_an_operation_with_every_possible_status(document: dict[str, Any], toy: Tool):
    operation = document["paths"][f"/v1/tools/{toy.name}"]["post"]
    assert (operation["operationId"], operation["tags"]) == (toy.name, [toy.family])
    assert (operation["summary"], operation["description"]) == (toy.summary, toy.description)
    assert sorted(operation["responses"]) == sorted(["200", *(["202"] if toy.runs_as_job else []), *EVERY_FAILURE])
    for status in EVERY_FAILURE:
        failure = _expanded(operation["responses"][status], document)
        assert set(failure["content"]["application/json"]["schema"]["properties"]) == {"error", "request_id"}
    assert operation["requestBody"]["required"] == ("required" in toy.input_schema)


def test_a_body_is_only_required_where_a_field_is(document: dict[str, Any]):
    required = {toy.name: document["paths"][f"/v1/tools/{toy.name}"]["post"]["requestBody"]["required"] for toy in TOYS}
    assert required == {
        "echo": True,
        "fail": True,
        "break_down": False,
        "hang": False,
        "count": False,
        "cancel_job": True,
    }


def test_only_job_tools_take_a_preference_and_all_take_a_client(document: dict[str, Any]):
    for toy in TOYS:
        parameters = document["paths"][f"/v1/tools/{toy.name}"]["post"]["parameters"]
        expected = ["Scrubjay-Client", *(["Prefer"] if toy is count else [])]
        assert [(parameter["in"], parameter["name"]) for parameter in parameters] == [("header", n) for n in expected]


def test_nothing_is_defined_inline_and_every_reference_leads_somewhere(document: dict[str, Any]):
    text = json.dumps(document)
    assert "$defs" not in text
    _expanded(document, document)


def test_operation_ids_are_unique_and_families_come_first(document: dict[str, Any]):
    ids = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(ids) == len(set(ids))
    assert [tag["name"] for tag in document["tags"]] == [
        "talk",
        "trouble",
        "work",
        "tools",
        "jobs",
        "resources",
        "server",
        "mimo",
    ]


def test_every_route_of_its_own_is_documented(document: dict[str, Any]):
    assert [path for path in document["paths"] if not path.startswith("/v1/tools/")] == [
        "/v1/tools",
        "/v1/jobs/{job_id}",
        "/v1/jobs/{job_id}/events",
        "/v1/resources",
        "/health",
        "/v1/mimo/tools",
        "/v1/mimo/tool",
    ]
    events = document["paths"]["/v1/jobs/{job_id}/events"]["get"]["responses"]
    assert list(events["200"]["content"]) == ["text/event-stream"]
    assert {media for status in events if status != "200" for media in events[status]["content"]} == {
        "application/json"
    }


def test_a_key_is_documented_only_where_it_is_demanded(tmp_path: Path, document: dict[str, Any]):
    guarded = make_toys(tmp_path, requires_key=True).app.openapi()
    assert "security" not in document
    assert guarded["security"] == [{"key": []}]
    assert guarded["components"]["securitySchemes"] == {"key": {"type": "http", "scheme": "bearer"}}
    assert guarded["paths"]["/health"]["get"]["security"] == []


class Liveness(Result):
    """Another model of a name that the gateway uses itself."""

    pulse: int


class Nothing(Request):
    """Another model of a name that a toy uses."""

    really: bool = True


@tool("body")
async def feel_pulse(request: Nothing) -> Liveness:
    """Feel the pulse."""
    return Liveness(pulse=60)


def test_models_of_the_same_name_are_not_mistaken_for_each_other(tmp_path: Path):
    document = make_toys(tmp_path, tools=[*TOYS, feel_pulse]).app.openapi()

    def answered(path: str, method: str) -> set[str]:
        schema = document["paths"][path][method]["responses"]["200"]["content"]["application/json"]["schema"]
        return set(_expanded(schema, document)["properties"])

    assert answered("/v1/tools/feel_pulse", "post") == {"pulse"}
    assert answered("/health", "get") == {"status", "version", "timestamp", "system", "stores", "tools"}
    for name, fields in (("feel_pulse", {"really"}), ("hang", set[str]())):
        body = document["paths"][f"/v1/tools/{name}"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert set(_expanded(body, document)["properties"]) == fields


async def test_the_document_is_served(client: httpx2.AsyncClient, document: dict[str, Any]):
    assert (await client.get("/openapi.json")).json() == document

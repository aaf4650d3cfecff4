"""The OpenAPI document describes the tools exactly."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from scrubjay.servers.http.errors import STATUS
from scrubjay.tooling.declaration import Request, Result, Tool, tool
from tests.servers.rest.toy_server import TOYS, count, make_toy_server

EVERY_FAILURE = sorted({"400", *map(str, STATUS.values())})


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    return make_toy_server(tmp_path).app.openapi()


def _expanded(schema: Any, root: dict[str, Any]) -> Any:
    """Return the schema with all references resolved and without generated titles."""
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


@pytest.mark.parametrize("tool_", TOYS, ids=lambda tool_: tool_.name)
def test_each_operation_has_the_exact_schemas_of_its_tool(document: dict[str, Any], tool_: Tool):
    operation = document["paths"][f"/v1/tools/{tool_.name}"]["post"]
    taken = operation["requestBody"]["content"]["application/json"]["schema"]
    answered = operation["responses"]["200"]["content"]["application/json"]["schema"]
    assert set(taken) == set(answered) == {"$ref"}
    assert _expanded(taken, document) == _expanded(tool_.input_schema, tool_.input_schema)
    assert _expanded(answered, document) == _expanded(tool_.output_schema, tool_.output_schema)


@pytest.mark.parametrize("tool_", TOYS, ids=lambda tool_: tool_.name)
def test_each_tool_is_an_operation_with_every_possible_status(document: dict[str, Any], tool_: Tool):
    operation = document["paths"][f"/v1/tools/{tool_.name}"]["post"]
    assert (operation["operationId"], operation["tags"]) == (tool_.name, [tool_.family])
    assert (operation["summary"], operation["description"]) == (tool_.summary, tool_.description)
    assert sorted(operation["responses"]) == sorted(["200", *(["202"] if tool_.runs_as_job else []), *EVERY_FAILURE])
    for status in EVERY_FAILURE:
        failure = _expanded(operation["responses"][status], document)
        assert set(failure["content"]["application/json"]["schema"]["properties"]) == {"error", "request_id"}
    assert operation["requestBody"]["required"] == ("required" in tool_.input_schema)


def test_a_body_is_required_only_when_a_field_is(document: dict[str, Any]):
    required = {
        tool_.name: document["paths"][f"/v1/tools/{tool_.name}"]["post"]["requestBody"]["required"] for tool_ in TOYS
    }
    assert required == {
        "echo": True,
        "fail": True,
        "raise_unexpectedly": False,
        "hang": False,
        "count": False,
        "cancel_job": True,
    }


def test_only_job_tools_accept_prefer_and_all_accept_a_client_name(document: dict[str, Any]):
    for tool_ in TOYS:
        parameters = document["paths"][f"/v1/tools/{tool_.name}"]["post"]["parameters"]
        expected = ["Scrubjay-Client", *(["Prefer"] if tool_ is count else [])]
        assert [(parameter["in"], parameter["name"]) for parameter in parameters] == [("header", n) for n in expected]


def test_there_are_no_inline_definitions_and_no_dangling_references(document: dict[str, Any]):
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


def test_every_other_route_is_documented(document: dict[str, Any]):
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


def test_a_key_is_documented_only_when_it_is_required(tmp_path: Path, document: dict[str, Any]):
    guarded = make_toy_server(tmp_path, requires_key=True).app.openapi()
    assert "security" not in document
    assert guarded["security"] == [{"key": []}]
    assert guarded["components"]["securitySchemes"] == {"key": {"type": "http", "scheme": "bearer"}}
    assert guarded["paths"]["/health"]["get"]["security"] == []


class Liveness(Result):
    """A model with the same name as one of the server's own."""

    pulse: int


class Nothing(Request):
    """A model with the same name as one of another tool."""

    really: bool = True


@tool("body")
async def feel_pulse(request: Nothing) -> Liveness:
    """Feel the pulse."""
    return Liveness(pulse=60)


def test_models_with_the_same_name_get_distinct_schemas(tmp_path: Path):
    document = make_toy_server(tmp_path, tools=[*TOYS, feel_pulse]).app.openapi()

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

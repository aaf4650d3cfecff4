from collections.abc import Mapping
from typing import Any

from pydantic import Field

from scrubjay.servers.docs.tools import tool_pages
from scrubjay.tooling.declaration import Request, Result, Tool, tool
from scrubjay.tooling.registry import Registry


class FindRequest(Request):
    query: str = Field(min_length=1, description="What to look for: a|b, or <any>.")
    limit: int = Field(5, ge=1, le=50, description="How many to return at most.")


class Found(Result):
    content: str = Field(description="The text.")
    near: list["Found"] = Field(description="What is like it.")


class FindResult(Result):
    found: list[Found] = Field(description="Best first.")
    best: Found | None


class NoRequest(Request):
    pass


class NoResult(Result):
    counted: int


@tool("notes", read_only=True)
async def find(request: FindRequest) -> FindResult:
    """Find notes.

    Best first.
    """
    return FindResult(found=[], best=None)


@tool("notes", destructive=True, core=False)
async def erase(request: FindRequest) -> NoResult:
    """Erase notes."""
    return NoResult(counted=0)


@tool("work", runs_as_job=True, idempotent=True)
async def rebuild(request: NoRequest) -> NoResult:
    """Rebuild it all."""
    return NoResult(counted=0)


REGISTRY = Registry([find, erase, rebuild])


def typed(example_of: Tool, arguments: Mapping[str, Any]) -> str:
    return f"$ {example_of.name} {dict(arguments)}"


def test_there_is_a_page_for_every_family_and_one_that_lists_all_tools():
    pages = tool_pages(REGISTRY, typed)
    assert list(pages) == ["tools/README.md", "tools/notes.md", "tools/work.md"]
    assert (
        pages["tools/README.md"]
        == """\
<!-- Generated from the code. Change the declarations, not this page. -->

# Tools

3 tools, each on every surface.

| Tool | Family | What it does |  |
| --- | --- | --- | --- |
| [`find`](notes.md#find) | notes | Find notes. | only reads |
| [`erase`](notes.md#erase) | notes | Erase notes. | can destroy what is kept, not listed by default |
| [`rebuild`](work.md#rebuild) | work | Rebuild it all. | writes, safe to repeat, runs as a job |
"""
    )


def test_a_tool_is_told_whole():
    page = tool_pages(Registry([find]), typed)["tools/notes.md"]
    assert (
        page
        == """\
<!-- Generated from the code. Change the declarations, not this page. -->

# Notes tools

## find

Find notes.

Best first.

*Only reads.*

**Arguments**

| Name | Type | Default | Limits | Description |
| --- | --- | --- | --- | --- |
| `query` | text | required | at least 1 character | What to look for: a\\|b, or \\<any>. |
| `limit` | integer | `5` | 1 to 50 | How many to return at most. |

**Result**

| Name | Type | Description |
| --- | --- | --- |
| `found` | list of object | Best first. |
| `found[].content` | text | The text. |
| `found[].near` | list of object | What is like it. |
| `best` | object or null |  |
| `best.content` | text | The text. |
| `best.near` | list of object | What is like it. |

**Example**

```sh
$ find {'query': 'your query'}
```

```sh
curl http://127.0.0.1:4000/v1/tools/find \\
  -H 'Content-Type: application/json' -d '{"query": "your query"}'
```

```json
{"method": "tools/call", "params": {"name": "find", "arguments": {"query": "your query"}}}
```

**Errors**: `invalid_request` when the arguments do not fit; all codes are on [the page of errors](../errors.md).
"""
    )


def test_the_result_of_a_job_is_told_inside_the_job():
    page = tool_pages(Registry([rebuild]), typed)["tools/work.md"]
    assert "**Arguments**\n\nNone.\n" in page
    assert "| `job_id` | text | Give this to get_job or cancel_job. |" in page
    assert "| `result.counted` | integer |  |" in page
    assert "the job's own error when it fails" in page


def test_the_same_registry_gives_the_same_pages():
    assert tool_pages(REGISTRY, typed) == tool_pages(Registry([find, erase, rebuild]), typed)

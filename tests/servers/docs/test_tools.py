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


def format_command(example_of: Tool, arguments: Mapping[str, Any]) -> str:
    return f"$ {example_of.name} {dict(arguments)}"


def test_there_is_one_page_per_family_and_an_index():
    pages = tool_pages(REGISTRY, format_command)
    assert list(pages) == ["tools/README.md", "tools/notes.md", "tools/work.md"]
    assert (
        pages["tools/README.md"]
        == """\
<!-- Generated from the code. Change the declarations, not this page. -->

# Tools

3 tools, each available on every surface.

| Tool | Family | What it does |  |
| --- | --- | --- | --- |
| [`find`](notes.md#find) | notes | Find notes. | read-only |
| [`erase`](notes.md#erase) | notes | Erase notes. | can delete or overwrite data, not listed by default |
| [`rebuild`](work.md#rebuild) | work | Rebuild it all. | writes, safe to repeat, runs as a job |
"""
    )


def test_a_tool_has_arguments_result_example_and_errors():
    page = tool_pages(Registry([find]), format_command)["tools/notes.md"]
    assert (
        page
        == """\
<!-- Generated from the code. Change the declarations, not this page. -->

# Notes tools

## find

Find notes.

Best first.

*Read-only.*

**Scopes**: `notes:read`.

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

**Errors**: `invalid_request` when the arguments are invalid; all codes are listed in [Errors](../errors.md).
"""
    )


def test_the_result_of_a_job_tool_is_described_inside_the_job():
    page = tool_pages(Registry([rebuild]), format_command)["tools/work.md"]
    assert "**Arguments**\n\nNone.\n" in page
    assert "| `job_id` | text | Pass this to get_job or cancel_job. |" in page
    assert "| `result.counted` | integer |  |" in page
    assert "the job's own error when it fails" in page


def test_the_pages_are_deterministic():
    assert tool_pages(REGISTRY, format_command) == tool_pages(Registry([find, erase, rebuild]), format_command)

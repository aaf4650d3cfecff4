"""The web tools: fetch pages, convert them to Markdown, and search, with the request formats of Mimo."""

import json as json_text
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from scrubjay.features.workspace.web.fetcher import (
    Fetcher,
    WebRequest,
    WebResponse,
    check_headers,
    joined_headers,
    parse_json,
)
from scrubjay.features.workspace.web.page_converter import convert_page
from scrubjay.features.workspace.web.search import WebSearch
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_absent, is_empty

MAX_HTML = 10_000_000


def _lowercase(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


class RequestHeader(Request):
    name: str = Field(min_length=1, max_length=100, description="Header name, such as Accept.")
    value: str = Field(max_length=8_192, description="Header value, on one line.")


class HttpRequestRequest(Request):
    model_config = examples({"url": "https://example.com/", "method": "get"})

    url: str = Field(min_length=1, max_length=8_192, description="A public http or https URL.")
    method: Annotated[Literal["get", "post"], BeforeValidator(_lowercase)] = Field(
        default="get", description="HTTP method."
    )
    json_: JsonValue = Field(default=None, alias="json", description="For post: the JSON body.")
    headers: list[RequestHeader] = Field(default=[], max_length=50, description="Request headers.")
    timeout: int = Field(
        default=10_000,
        ge=1,
        le=120_000,
        description="Milliseconds for the whole call, with redirects and up to three retries.",
    )

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        if self.json_ is not None and self.method != "post":
            raise ValueError("json needs the method post")
        return self


class FetchRequest(HttpRequestRequest):
    model_config = examples(
        {"url": "https://example.com/", "format": "markdown"}, {"url": "https://api.example.com", "format": "json"}
    )

    format: Literal["text", "html", "json", "markdown", "raw"] = Field(
        default="text",
        description="text and html: the unchanged body. json: the parsed body. markdown: the readable content. "
        "raw: the body with status and headers.",
    )


class FetchResult(Result):
    url: str = Field(description="Final URL after redirects.")
    status: int
    format: Literal["text", "html", "json", "markdown", "raw"]
    content: str | None = Field(
        default=None, exclude_if=is_absent, description="For the formats text, html and markdown."
    )
    data: JsonValue = Field(default=None, exclude_if=is_absent, description="For the format json.")
    body: str | None = Field(default=None, exclude_if=is_absent, description="For the format raw.")
    headers: dict[str, str] | None = Field(
        default=None, exclude_if=is_absent, description="For the format raw; names in lower case."
    )
    truncated: bool = Field(default=False, exclude_if=is_empty, description="True when the body was cut off.")
    redirects: int = Field(default=0, exclude_if=is_empty, description="Number of redirects.")

    def bare(self) -> Any:
        """Return only the content, as Mimo does."""
        if self.format == "raw":
            return {"status": self.status, "body": self.body, "headers": self.headers}
        return self.data if self.format == "json" else self.content


class HttpRequestResult(Result):
    status: int
    body: str
    headers: dict[str, str] = Field(description="Header names are in lower case.")
    url: str = Field(description="Final URL after redirects.")
    truncated: bool = Field(default=False, exclude_if=is_empty, description="True when the body was cut off.")


class WebParseRequest(Request):
    model_config = examples({"html": "<h1>Hello</h1><p>It <b>works</b>.</p>"})

    html: str = Field(max_length=MAX_HTML, description="The HTML document.")
    url: str = Field(default="", max_length=8_192, description="URL of the document, to resolve relative links.")


class WebParseResult(Result):
    markdown: str

    def bare(self) -> Any:
        return self.markdown


class WebSearchRequest(Request):
    model_config = examples({"query": "Elixir programming"})

    query: str = Field(min_length=1, max_length=2_000, description="The search query.")
    operation: Literal["web", "code"] = Field(
        default="web", description="web: the whole web. code: programming, documentation and tutorials."
    )


class WebHitView(Result):
    title: str
    url: str
    text: str
    score: float | None = Field(description="Score from the search service.")


class WebSearchResult(Result):
    results: list[WebHitView] = Field(description="At most 10, in the order of the search service.")

    def bare(self) -> Any:
        return self.results


@tool("web", core=False, open_world=True)
async def fetch(request: FetchRequest, fetcher: Fetcher) -> FetchResult:
    """Fetch a public URL and return it as text, HTML, JSON, Markdown, or raw with headers.

    A response with an error status is returned, not raised. Loopback and private addresses are refused, including
    redirects and names that resolve to them, unless the server owner allowed the host.
    """
    response = await _fetch(request, fetcher)
    result = FetchResult(
        url=response.url,
        status=response.status,
        format=request.format,
        truncated=response.truncated,
        redirects=response.redirects,
    )
    match request.format:
        case "text" | "html":
            result.content = response.text
        case "json":
            result.data = parse_json(response)
        case "markdown":
            result.content = await convert_page(response.text, response.url, max_characters=fetcher.max_body_bytes)
        case "raw":
            result.body, result.headers = response.text, dict(joined_headers(response.headers))
    return result


@tool("web", core=False, open_world=True)
async def http_request(request: HttpRequestRequest, fetcher: Fetcher) -> HttpRequestResult:
    """Send an HTTP request to a public URL and return status, headers and body, like fetch with the format raw."""
    response = await _fetch(request, fetcher)
    return HttpRequestResult(
        status=response.status,
        body=response.text,
        headers=dict(joined_headers(response.headers)),
        url=response.url,
        truncated=response.truncated,
    )


@tool("web", read_only=True, core=False)
async def web_parse(request: WebParseRequest) -> WebParseResult:
    """Convert HTML to Markdown: keep headings, lists, tables, code and links; drop menus, scripts and styles."""
    return WebParseResult(markdown=await convert_page(request.html, request.url, max_characters=MAX_HTML))


@tool("web", read_only=True, core=False, open_world=True)
async def search(request: WebSearchRequest, web: WebSearch) -> WebSearchResult:
    """Search the web with the configured search service; `code` looks for programming and documentation.

    To search memories use recall, and for the code of a project semantic_code_search.
    """
    hits = await web.search(request.query, request.operation)
    return WebSearchResult(results=[WebHitView.model_validate(hit, from_attributes=True) for hit in hits])


async def _fetch(request: HttpRequestRequest, fetcher: Fetcher) -> WebResponse:
    content = None
    if request.method == "post":
        content = b"" if request.json_ is None else json_text.dumps(request.json_).encode()
    web_request = WebRequest(
        request.url,
        request.method.upper(),
        check_headers([(header.name, header.value) for header in request.headers]),
        content,
    )
    return await fetcher.fetch(web_request, seconds=request.timeout / 1000)

"""The web as Mimo's clients know it: fetching pages, making them readable, searching."""

import json as json_text
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from scrubjay.features.workspace.web.fetcher import Asked, Fetched, Fetcher, checked_headers, headers_as_told, json_of
from scrubjay.features.workspace.web.search import WebSearch
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_absent as _absent
from scrubjay.tooling.optional_fields import is_nothing

MAX_HTML = 10_000_000


def _in_small_letters(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


class Header(Request):
    name: str = Field(min_length=1, max_length=100, description="Such as Accept.")
    value: str = Field(max_length=8_192, description="One line.")


class HttpRequestRequest(Request):
    model_config = examples({"url": "https://example.com/", "method": "get"})

    url: str = Field(min_length=1, max_length=8_192, description="An address of the public web: http or https.")
    method: Annotated[Literal["get", "post"], BeforeValidator(_in_small_letters)] = Field(
        default="get", description="How to ask."
    )
    json_: JsonValue = Field(default=None, alias="json", description="For post: what to send, as JSON.")
    headers: list[Header] = Field(default=[], max_length=50, description="Headers to send.")
    timeout: int = Field(
        default=10_000, ge=1, le=120_000, description="Milliseconds for all: redirects, and up to three more tries."
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.json_ is not None and self.method != "post":
            raise ValueError("json is sent by the method post")
        return self


class FetchRequest(HttpRequestRequest):
    model_config = examples(
        {"url": "https://example.com/", "format": "markdown"}, {"url": "https://api.example.com", "format": "json"}
    )

    format: Literal["text", "html", "json", "markdown", "raw"] = Field(
        default="text",
        description="text and html: the body as it is. json: parsed. markdown: what the page says, readable. raw: with "
        "status and headers.",
    )


class FetchResult(Result):
    url: str = Field(description="Where it came from, after redirects.")
    status: int
    format: Literal["text", "html", "json", "markdown", "raw"]
    content: str | None = Field(default=None, exclude_if=_absent, description="Of text, html and markdown.")
    data: JsonValue = Field(default=None, exclude_if=_absent, description="Of json.")
    body: str | None = Field(default=None, exclude_if=_absent, description="Of raw.")
    headers: dict[str, str] | None = Field(default=None, exclude_if=_absent, description="Of raw, in small letters.")
    truncated: bool = Field(default=False, exclude_if=is_nothing, description="Whether the body is longer.")
    redirects: int = Field(default=0, exclude_if=is_nothing, description="How often it was sent elsewhere.")

    def bare(self) -> Any:
        """What was asked for, without its frame."""
        if self.format == "raw":
            return {"status": self.status, "body": self.body, "headers": self.headers}
        return self.data if self.format == "json" else self.content


class HttpRequestResult(Result):
    status: int
    body: str
    headers: dict[str, str] = Field(description="In small letters.")
    url: str = Field(description="Where it came from, after redirects.")
    truncated: bool = Field(default=False, exclude_if=is_nothing, description="Whether the body is longer.")


class WebParseRequest(Request):
    model_config = examples({"html": "<h1>Hello</h1><p>It <b>works</b>.</p>"})

    html: str = Field(max_length=MAX_HTML, description="The page.")
    url: str = Field(default="", max_length=8_192, description="Where it is from, so that its links are whole.")


class WebParseResult(Result):
    markdown: str

    def bare(self) -> Any:
        return self.markdown


class SearchRequest(Request):
    model_config = examples({"query": "Elixir programming"})

    query: str = Field(min_length=1, max_length=2_000, description="What to look for.")
    operation: Literal["web", "code"] = Field(
        default="web", description="code: looks for programming, documentation and tutorials."
    )


class WebHitView(Result):
    title: str
    url: str
    text: str
    score: float | None = Field(description="As the service gives it.")


class SearchResult(Result):
    results: list[WebHitView] = Field(description="Ten at most, in the order of the service.")

    def bare(self) -> Any:
        return self.results


@tool("web", core=False, open_world=True)
async def fetch(request: FetchRequest, fetcher: Fetcher) -> FetchResult:
    """Fetch a page or call an API of the public web, and get it as text, HTML, JSON, readable Markdown, or raw.

    An answer is told whatever its status. Addresses of this machine and of private networks are not reached, also not
    by redirects or names that lead there, unless the owner allowed the host.
    """
    fetched = await _fetched(request, fetcher)
    done = FetchResult(
        url=fetched.url,
        status=fetched.status,
        format=request.format,
        truncated=fetched.truncated,
        redirects=fetched.redirects,
    )
    match request.format:
        case "text" | "html":
            done.content = fetched.text
        case "json":
            done.data = json_of(fetched)
        case "markdown":
            from scrubjay.features.workspace.web.readable import readable

            done.content = await readable(fetched.text, fetched.url, max_characters=fetcher.max_body_bytes)
        case "raw":
            done.body, done.headers = fetched.text, dict(headers_as_told(fetched.headers))
    return done


@tool("web", core=False, open_world=True)
async def http_request(request: HttpRequestRequest, fetcher: Fetcher) -> HttpRequestResult:
    """Send a request to the public web and get status, headers and body: the same as fetch with the format raw."""
    fetched = await _fetched(request, fetcher)
    return HttpRequestResult(
        status=fetched.status,
        body=fetched.text,
        headers=dict(headers_as_told(fetched.headers)),
        url=fetched.url,
        truncated=fetched.truncated,
    )


@tool("web", read_only=True, core=False)
async def web_parse(request: WebParseRequest) -> WebParseResult:
    """Turn HTML into readable Markdown: headings, lists, tables, code and links stay; menus, scripts and styles go."""
    from scrubjay.features.workspace.web.readable import readable

    return WebParseResult(markdown=await readable(request.html, request.url, max_characters=MAX_HTML))


@tool("web", read_only=True, core=False, open_world=True)
async def search(request: SearchRequest, web: WebSearch) -> SearchResult:
    """Search the web, by the service that the owner has a key for; `code` looks for programming and documentation.

    For what is remembered there is recall, and for code of a project semantic_code_search.
    """
    hits = await web.search(request.query, request.operation)
    return SearchResult(results=[WebHitView.model_validate(hit, from_attributes=True) for hit in hits])


async def _fetched(request: HttpRequestRequest, fetcher: Fetcher) -> Fetched:
    content = None
    if request.method == "post":
        content = b"" if request.json_ is None else json_text.dumps(request.json_).encode()
    asked = Asked(
        request.url,
        request.method.upper(),
        checked_headers([(header.name, header.value) for header in request.headers]),
        content,
    )
    return await fetcher.fetch(asked, seconds=request.timeout / 1000)

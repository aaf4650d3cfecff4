"""Fixtures for protocol features that Scrubjay does not use: media content, elicitation, sampling, prompts, logging.

They are handlers added to the server that `build_server` returns.
"""

import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    ContentBlock,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    ImageContent,
    InputRequest,
    InputRequiredResult,
    InputResponseRequestParams,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListRootsRequest,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    Tool,
    UnsubscribeRequestParams,
)

from scrubjay.servers.mcp.server import RequestContext, ToolServer
from scrubjay.servers.mcp.tool_methods import ListParams

# The smallest PNG, one red pixel, and the smallest WAV, silent.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = base64.b64encode(
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00"
    b"data\x00\x00\x00\x00"
).decode()

Answer = CallToolResult | InputRequiredResult
ToolHandler = Callable[[RequestContext, CallToolRequestParams], Awaitable[Answer]]

RAW_TOOLS: dict[str, tuple[Tool, ToolHandler]] = {}


def raw_tool(**arguments: str) -> Callable[[ToolHandler], ToolHandler]:
    """Declare a tool that handles the request itself; its arguments are required strings."""
    schema = {
        "type": "object",
        "properties": {name: {"type": "string", "description": text} for name, text in arguments.items()},
        "required": list(arguments),
    }

    def declare(function: ToolHandler) -> ToolHandler:
        name = getattr(function, "__name__", "")
        RAW_TOOLS[name] = Tool(name=name, description=function.__doc__, input_schema=schema), function
        return function

    return declare


def add_raw_handlers(server: ToolServer) -> None:
    """Add the handlers that the suite needs besides our declared tools."""
    listing, calling = server.get_request_handler("tools/list"), server.get_request_handler("tools/call")
    assert listing
    assert calling

    async def list_tools(ctx: RequestContext, params: ListParams) -> ListToolsResult:
        declared = await listing.handler(ctx, params)
        assert isinstance(declared, ListToolsResult)
        return declared.model_copy(update={"tools": [*declared.tools, *(tool for tool, _ in RAW_TOOLS.values())]})

    async def call_tool(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
        if params.name in RAW_TOOLS:
            return await RAW_TOOLS[params.name][1](ctx, params)
        answer = await calling.handler(ctx, params)
        assert isinstance(answer, CallToolResult)
        return answer

    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="fixtures"))
    server.add_request_handler("tools/list", ListParams, list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    server.add_request_handler("resources/list", PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, list_templates)
    server.add_request_handler("resources/read", ReadResourceRequestParams, read_resource)
    server.add_request_handler("resources/subscribe", SubscribeRequestParams, accept)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, accept)
    server.add_request_handler("prompts/list", PaginatedRequestParams, list_prompts)
    server.add_request_handler("prompts/get", GetPromptRequestParams, get_prompt)
    server.add_request_handler("completion/complete", CompleteRequestParams, complete)
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, accept)


async def accept(ctx: RequestContext, params: object) -> EmptyResult:
    return EmptyResult()


# -- content ---------------------------------------------------------------------------------------


def content(*blocks: ContentBlock) -> CallToolResult:
    return CallToolResult(content=list(blocks))


def text(text_: str) -> CallToolResult:
    return content(TextContent(text=text_))


def embedded(uri: str, mime_type: str, text_: str) -> EmbeddedResource:
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text_))


@raw_tool()
async def test_image_content(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Return an image."""
    return content(ImageContent(data=PNG, mime_type="image/png"))


@raw_tool()
async def test_audio_content(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Return audio."""
    return content(AudioContent(data=WAV, mime_type="audio/wav"))


@raw_tool()
async def test_embedded_resource(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Return a resource."""
    return content(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."))


@raw_tool()
async def test_multiple_content_types(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Return several kinds of content."""
    return content(
        TextContent(text="Multiple content types test:"),
        ImageContent(data=PNG, mime_type="image/png"),
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    )


# -- logging and streams ---------------------------------------------------------------------------


@raw_tool()
async def test_tool_with_logging(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Log three messages."""
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message("info", message, related_request_id=ctx.request_id)  # pyright: ignore[reportDeprecated]
        await anyio.sleep(0.05)
    return text("logged")


@raw_tool()
async def test_logging_tool(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Log messages to clients that enabled logging."""
    return await test_tool_with_logging(ctx, params)


@raw_tool()
async def test_reconnection(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Close the stream during the call; the client gets the result on another one."""
    if ctx.close_sse_stream:
        await ctx.close_sse_stream()
    await anyio.sleep(0.2)
    return text("reconnected")


# -- requests to a client of the handshake era -----------------------------------------------------


def object_schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(properties)}


def sampling(prompt: str, max_tokens: int = 100) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(text=prompt))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=max_tokens))


@raw_tool(prompt="What to ask the model.")
async def test_sampling(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Ask the client's model."""
    request = sampling((params.arguments or {})["prompt"])
    related = ServerMessageMetadata(related_request_id=ctx.request_id)
    result = await ctx.session.send_request(request, CreateMessageResult, metadata=related)
    return text(f"LLM response: {result.content}")


async def elicit(ctx: RequestContext, message: str, schema: dict[str, Any]) -> CallToolResult:
    result = await ctx.session.elicit_form(message, schema, ctx.request_id)
    return text(f"Elicitation completed: action={result.action}, content={json.dumps(result.content)}")


@raw_tool(message="What to ask the user.")
async def test_elicitation(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Ask the user."""
    schema = object_schema(
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    return await elicit(ctx, (params.arguments or {})["message"], schema)


@raw_tool()
async def test_elicitation_sep1034_defaults(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Ask with default values."""
    schema = object_schema(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    return await elicit(ctx, "Please confirm", schema)


@raw_tool()
async def test_elicitation_sep1330_enums(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Ask with every kind of choice."""
    options = ["option1", "option2", "option3"]
    titled = [{"const": f"value{number}", "title": f"Choice {number}"} for number in (1, 2, 3)]
    names = ["Option One", "Option Two", "Option Three"]
    schema = object_schema(
        untitledSingle={"type": "string", "enum": options},
        titledSingle={"type": "string", "oneOf": titled},
        legacyEnum={"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": names},
        untitledMulti={"type": "array", "items": {"type": "string", "enum": options}},
        titledMulti={"type": "array", "items": {"anyOf": titled}},
    )
    return await elicit(ctx, "Please choose", schema)


# -- requests to a client of the modern era --------------------------------------------------------


def elicitation(message: str, **properties: str) -> ElicitRequest:
    schema = object_schema(**{name: {"type": kind} for name, kind in properties.items()})
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def ask_until_answered(
    params: InputResponseRequestParams, *, state: str | None = None, **questions: InputRequest
) -> InputRequiredResult | None:
    """Return the questions until each has an answer and the state was returned; then None."""
    if questions.keys() <= (params.input_responses or {}).keys() and params.request_state == state:
        return None
    return InputRequiredResult(input_requests=questions, request_state=state)


@raw_tool()
async def test_input_required_result_elicitation(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Ask for a name."""
    if questions := ask_until_answered(params, user_name=elicitation("What is your name?", name="string")):
        return questions
    answer = (params.input_responses or {})["user_name"]
    assert isinstance(answer, ElicitResult)
    return text(f"Hello, {(answer.content or {}).get('name')}!")


@raw_tool()
async def test_input_required_result_sampling(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Ask a model."""
    return ask_until_answered(params, capital_question=sampling("What is the capital of France?")) or text("answered")


@raw_tool()
async def test_input_required_result_list_roots(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Ask for the roots."""
    return ask_until_answered(params, client_roots=ListRootsRequest()) or text("answered")


@raw_tool()
async def test_input_required_result_request_state(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Ask, with a state that must be returned."""
    return ask_until_answered(params, state="1", confirm=elicitation("Please confirm", ok="boolean")) or text(
        "state-ok"
    )


@raw_tool()
async def test_input_required_result_tampered_state(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Ask, with a state that must be returned unchanged."""
    return await test_input_required_result_request_state(ctx, params)


@raw_tool()
async def test_input_required_result_multiple_inputs(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Ask three things at once."""
    questions = ask_until_answered(
        params,
        state="1",
        user_name=elicitation("What is your name?", name="string"),
        greeting=sampling("Generate a greeting", 50),
        client_roots=ListRootsRequest(),
    )
    return questions or text("answered")


@raw_tool()
async def test_input_required_result_multi_round(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Ask twice, one after the other."""
    second = ask_until_answered(
        params, state="2", step2=elicitation("Step 2: What is your favorite color?", color="string")
    )
    if second is None:
        return text("answered")
    first = ask_until_answered(params, state="1", step1=elicitation("Step 1: What is your name?", name="string"))
    return first or second


@raw_tool()
async def test_input_required_result_capabilities(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Ask only what the client can answer."""
    capabilities = ctx.session.client_capabilities
    if capabilities and capabilities.elicitation:
        return ask_until_answered(params, user=elicitation("What is your name?", name="string")) or text("answered")
    return ask_until_answered(params, model=sampling("Say something")) or text("answered")


@raw_tool()
async def test_streaming_elicitation(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Ask for a name, on a stream if there is one."""
    return await test_input_required_result_elicitation(ctx, params)


@raw_tool()
async def test_missing_capability(ctx: RequestContext, params: CallToolRequestParams) -> Answer:
    """Fail unless the client supports sampling."""
    capabilities = ctx.session.client_capabilities
    if capabilities and capabilities.sampling:
        return text("sampling is there")
    missing: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
    raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "this tool needs a client that offers sampling", missing)


# -- resources -------------------------------------------------------------------------------------


async def list_resources(ctx: RequestContext, params: PaginatedRequestParams) -> ListResourcesResult:
    return ListResourcesResult(
        resources=[
            Resource(uri="test://static-text", name="text", description="Some text", mime_type="text/plain"),
            Resource(uri="test://static-binary", name="image", description="A dot", mime_type="image/png"),
            Resource(uri="test://watched-resource", name="watched", description="To be watched"),
        ]
    )


async def list_templates(ctx: RequestContext, params: PaginatedRequestParams) -> ListResourceTemplatesResult:
    template = ResourceTemplate(uri_template="test://template/{id}/data", name="data", description="Data by id")
    return ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(ctx: RequestContext, params: ReadResourceRequestParams) -> ReadResourceResult:
    uri = params.uri
    match uri.removeprefix("test://").split("/"):
        case ["static-text" | "watched-resource"]:
            contents = TextResourceContents(uri=uri, mime_type="text/plain", text="This is the content of a resource.")
        case ["static-binary"]:
            contents = BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
        case ["template", name, "data"]:
            data = json.dumps({"id": name, "templateTest": True, "data": f"Data for ID: {name}"})
            contents = TextResourceContents(uri=uri, mime_type="application/json", text=data)
        case _:
            raise MCPError(INVALID_PARAMS, "Resource not found", {"uri": uri})
    return ReadResourceResult(contents=[contents])


# -- prompts ---------------------------------------------------------------------------------------


async def list_prompts(ctx: RequestContext, params: PaginatedRequestParams) -> ListPromptsResult:
    def prompt(name: str, *arguments: str) -> Prompt:
        prompt_arguments = [
            PromptArgument(name=argument, description="Some text", required=True) for argument in arguments
        ]
        return Prompt(name=name, description="A prompt for the suite", arguments=prompt_arguments)

    return ListPromptsResult(
        prompts=[
            prompt("test_simple_prompt"),
            prompt("test_prompt_with_arguments", "arg1", "arg2"),
            prompt("test_prompt_with_embedded_resource", "resourceUri"),
            prompt("test_prompt_with_image"),
            prompt("test_input_required_result_prompt"),
        ]
    )


async def get_prompt(ctx: RequestContext, params: GetPromptRequestParams) -> GetPromptResult | InputRequiredResult:
    arguments = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            blocks: list[ContentBlock] = [TextContent(text="This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            text_ = f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'"
            blocks = [TextContent(text=text_)]
        case "test_prompt_with_embedded_resource":
            blocks = [
                embedded(arguments["resourceUri"], "text/plain", "Embedded resource content for testing."),
                TextContent(text="Please process the embedded resource above."),
            ]
        case "test_prompt_with_image":
            blocks = [
                ImageContent(data=PNG, mime_type="image/png"),
                TextContent(text="Please analyze the image above."),
            ]
        case "test_input_required_result_prompt":
            question = elicitation("What context should the prompt use?", context="string")
            if questions := ask_until_answered(params, user_context=question):
                return questions
            blocks = [TextContent(text="With the context that was given.")]
        case _:
            raise MCPError(INVALID_PARAMS, f"there is no prompt called {params.name!r}")
    return GetPromptResult(messages=[PromptMessage(role="user", content=block) for block in blocks])


async def complete(ctx: RequestContext, params: CompleteRequestParams) -> CompleteResult:
    return CompleteResult(completion=Completion(values=["paris", "park", "party"], total=3, has_more=False))

"""The request and response bodies of OpenAI's protocol: the fields that this server reads and writes."""

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError

from scrubjay.features.chat.memory_context import MemoryReference
from scrubjay.servers.openai.errors import InvalidField
from scrubjay.tooling.validation import printable

Json = dict[str, Any]
Label = Annotated[str, Field(min_length=1, max_length=500)]


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class ScrubjayOptions(BaseModel):
    """Options of this server; they are not forwarded to the language model."""

    model_config = ConfigDict(extra="forbid")

    recall: StrictBool = Field(default=True, description="Recall memories and add them to the prompt.")
    remember: StrictBool = Field(default=True, description="Record this exchange.")
    session_id: Label | None = Field(default=None, description="The session that the exchange belongs to.")
    project: Label | None = Field(default=None, description="The project whose memories are recalled.")


class ChatCompletionMessage(_Open):
    """A message of a conversation."""

    role: Annotated[str, Field(min_length=1, max_length=50)]
    content: str | list[Json] | None = None
    tool_call_id: str | None = None


class StreamOptions(_Open):
    include_usage: StrictBool | None = None


class ChatCompletionRequest(_Open):
    """A conversation to continue. All other fields of OpenAI's API are forwarded to the language model unchanged."""

    messages: list[ChatCompletionMessage] = Field(min_length=1, max_length=10_000)
    model: Annotated[str, Field(max_length=500)] | None = Field(default=None, description="See `GET /v1/models`.")
    stream: StrictBool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int, Field(ge=1, le=128)] | None = None
    tools: list[Json] | None = None
    tool_choice: str | Json | None = None
    user: str | None = Field(default=None, description="Used as the session when metadata.session_id is not given.")
    metadata: Json | None = Field(default=None, description="Its `session_id` names the session.")
    scrubjay: ScrubjayOptions | None = None


class Recalled(BaseModel):
    """The memories recalled for the answer, and whether the exchange is recorded."""

    memories: list[MemoryReference]
    tokens: int = Field(
        default=0, description="Estimated tokens of the memories added to the prompt, at 4 bytes per token."
    )
    session_id: str | None = Field(description="The session in which the exchange is recorded.")
    remembers: bool = Field(description="True when the exchange is recorded once it is complete.")
    degraded: str | None = Field(default=None, description="The reason when the recall was incomplete.")


class ChatUsage(_Open):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(_Open):
    """A chat completion."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Json]
    usage: ChatUsage | None = None
    scrubjay: Recalled


class EmbeddingsRequest(_Open):
    """Texts to embed."""

    input: str | list[str] = Field(description="A text, or up to 2048 texts. Lists of tokens are not supported.")
    model: Annotated[str, Field(max_length=500)]
    encoding_format: Literal["float", "base64"] | None = Field(default=None, description="Default: float.")
    dimensions: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Must equal the model's number of dimensions."
    )
    user: str | None = None


class EmbeddingEntry(BaseModel):
    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class EmbeddingUsage(BaseModel):
    prompt_tokens: int
    total_tokens: int


class Embeddings(BaseModel):
    """One vector for each text, in the order of the texts."""

    object: Literal["list"] = "list"
    data: list[EmbeddingEntry]
    model: str
    usage: EmbeddingUsage


class ModelEntry(BaseModel):
    """A model that can be named in requests."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str
    description: str


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelEntry]


class ResponsesRequest(_Open):
    """A request of OpenAI's Responses API. Responses are not stored."""

    input: str | list[Json]
    model: Annotated[str, Field(max_length=500)] | None = None
    instructions: str | None = None
    stream: StrictBool | None = None
    tools: list[Json] | None = None
    tool_choice: str | Json | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    text: Json | None = None
    reasoning: Json | None = None
    user: str | None = None
    metadata: Json | None = None
    previous_response_id: str | None = None
    conversation: str | Json | None = None
    background: StrictBool | None = None
    scrubjay: ScrubjayOptions | None = None


class ResponseObject(_Open):
    """A response of OpenAI's Responses API."""

    id: str
    object: Literal["response"]
    created_at: int
    status: str
    model: str
    output: list[Json]
    scrubjay: Recalled


class ErrorFields(BaseModel):
    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIError(BaseModel):
    """The body of every error response."""

    error: ErrorFields


class Indexed(_Open):
    """An element with an index: a choice, or a tool call."""

    index: int = 0


def indexed(index: int, **fields: Any) -> Json:
    return Indexed(index=index, **fields).model_dump()


def index_of(entry: Json, default: int = 0) -> int:
    """Return the index of an element, or the default, because some services omit it."""
    try:
        found = Indexed.model_validate(entry)
    except ValidationError:
        return default
    return found.index if found.model_fields_set & set(Indexed.model_fields) else default


T = TypeVar("T", bound=BaseModel)


def parse(kind: type[T], body: Json) -> T:
    """Parse the body as this model; raise `InvalidField` for the first invalid field."""
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        parts = [printable(str(part)) for part in problem["loc"]]
        param = ".".join(part for part in parts if not part.startswith(("list[", "dict["))) or None
        raise InvalidField(f"{param or 'body'}: {problem['msg']}", param) from None

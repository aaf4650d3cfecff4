"""The bodies of OpenAI's protocol, as far as this server reads and writes them."""

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError

from scrubjay.features.chat.recall_context import RecalledMemory
from scrubjay.servers.openai.errors import WrongField
from scrubjay.tooling.validation import printable

Json = dict[str, Any]
Label = Annotated[str, Field(min_length=1, max_length=500)]


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class OwnWishes(BaseModel):
    """What only this server understands; it is not passed on."""

    model_config = ConfigDict(extra="forbid")

    recall: StrictBool = Field(default=True, description="Whether memories are looked for and given to the model.")
    remember: StrictBool = Field(default=True, description="Whether this exchange may be remembered.")
    session_id: Label | None = Field(default=None, description="The conversation that this belongs to.")
    project: Label | None = Field(default=None, description="The project whose memories are looked for.")


class ChatMessage(_Open):
    """One message of a conversation."""

    role: Annotated[str, Field(min_length=1, max_length=50)]
    content: str | list[Json] | None = None
    tool_call_id: str | None = None


class StreamOptions(_Open):
    include_usage: StrictBool | None = None


class ChatRequest(_Open):
    """A conversation to be continued. Every other field of OpenAI's is passed on to the language model as it is."""

    messages: list[ChatMessage] = Field(min_length=1, max_length=10_000)
    model: Annotated[str, Field(max_length=500)] | None = Field(default=None, description="See `GET /v1/models`.")
    stream: StrictBool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int, Field(ge=1, le=128)] | None = None
    tools: list[Json] | None = None
    tool_choice: str | Json | None = None
    user: str | None = Field(default=None, description="Taken as the session, unless metadata.session_id is given.")
    metadata: Json | None = Field(default=None, description="Its `session_id` is the session.")
    scrubjay: OwnWishes | None = None


class Recalled(BaseModel):
    """What this server did about the answer."""

    memories: list[RecalledMemory]
    tokens: int = Field(default=0, description="About how many the model was given of them: a token is 4 bytes.")
    session_id: str | None = Field(description="The session under which the exchange is remembered.")
    remembers: bool = Field(description="Whether the exchange is remembered once it is complete.")
    degraded: str | None = Field(default=None, description="Why less was recalled than should have been.")


class ChatUsage(_Open):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(_Open):
    """An answer."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Json]
    usage: ChatUsage | None = None
    scrubjay: Recalled


class EmbeddingsRequest(_Open):
    """Texts whose meaning is wanted."""

    input: str | list[str] = Field(description="A text, or up to 2048. Lists of tokens are not taken.")
    model: Annotated[str, Field(max_length=500)]
    encoding_format: Literal["float", "base64"] | None = Field(default=None, description="By default float.")
    dimensions: Annotated[int, Field(ge=1)] | None = Field(default=None, description="Only those that the model has.")
    user: str | None = None


class EmbeddingEntry(BaseModel):
    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class EmbeddingUsage(BaseModel):
    prompt_tokens: int
    total_tokens: int


class Embeddings(BaseModel):
    """One vector for each text, in their order."""

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
    """What is to be answered, in the form of OpenAI's Responses. Nothing of it is stored as a response."""

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
    scrubjay: OwnWishes | None = None


class ResponseObject(_Open):
    """An answer in the form of OpenAI's Responses."""

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
    """The body of every answer that is not a success."""

    error: ErrorFields


class Indexed(_Open):
    """Something that has its place among others of an answer: a choice, or the call of a tool."""

    index: int = 0


def indexed(place: int, **fields: Any) -> Json:
    return Indexed(index=place, **fields).model_dump()


def place_of(entry: Json, otherwise: int = 0) -> int:
    """Where it is; some services leave that out."""
    try:
        found = Indexed.model_validate(entry)
    except ValidationError:
        return otherwise
    return found.index if found.model_fields_set & set(Indexed.model_fields) else otherwise


T = TypeVar("T", bound=BaseModel)


def read(kind: type[T], body: Json) -> T:
    """The body as this model; the first thing that does not fit is told with its field."""
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        parts = [printable(str(part)) for part in problem["loc"]]
        param = ".".join(part for part in parts if not part.startswith(("list[", "dict["))) or None
        raise WrongField(f"{param or 'body'}: {problem['msg']}", param) from None

"""Everything that can be set, with what it means and what it is by default."""

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal, cast, get_args

from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from scrubjay.app.setting_sources import FILE_NAME, PREFIX, OfFolder, TomlSource
from scrubjay.compat.mimo.settings import MimoVariables
from scrubjay.core.errors import Misconfigured
from scrubjay.core.policies import AgeLimit, ForgettingRules, SecretsPolicy
from scrubjay.core.suggestions import nearest_names
from scrubjay.models.breakers import BreakerLimits
from scrubjay.models.choices import (
    DEFAULT_AZURE_VERSION,
    CallerRights,
    CompletionChoice,
    EmbeddingChoice,
    Pace,
    ProviderName,
)

MIN_KEY_LENGTH = 8
STATIC, MEMORIES, BUNDLED = "static", "memories", "static-v1"
# As others write it; whoever does must not find a server that is open because of a word.
_ENVIRONMENTS = {"prod": "production", "dev": "development"}
_PACE = Pace()
_COMPLETION = CompletionChoice(base_url="", model="")


def _absolute(path: Path | None) -> Path | None:
    # Not Path.expanduser, which raises where there is no home directory.
    return Path(os.path.abspath(os.path.expanduser(path))) if path is not None else None  # noqa: PTH100, PTH111


class JobSettings(BaseModel):
    """Long work."""

    patience_seconds: float = Field(
        default=10, ge=0, le=600, description="How long an MCP call waits for a job before it hands the job back."
    )
    lease_seconds: float = Field(
        default=30,
        ge=3,
        le=3600,
        description="A job whose process has not been heard of for this long is taken over by another.",
    )
    keep_days: float = Field(
        default=30, gt=0, le=36_500, description="After so many days what is known of a job that has ended is erased."
    )


class EmbeddingSettings(BaseModel):
    """The model that finds memories by meaning."""

    provider: ProviderName = Field(
        default="local", description="Who embeds texts: this machine, a service in the cloud, or one of your own."
    )
    model: str | None = Field(
        default=None,
        description="The model's name; by default the provider's usual one. With `onnx`, the folder of a "
        "sentence-transformers model with its ONNX file.",
    )
    dimensions: int | None = Field(
        default=None,
        ge=1,
        le=16_384,
        description="The length of the vectors: needed for a model that is not known, or to get shorter ones.",
    )
    base_url: str | None = Field(
        default=None, description="The address of an OpenAI-compatible service, up to and without `/embeddings`."
    )
    api_key: SecretStr | None = Field(default=None, description="The key of the service; api_key_env is safer.")
    api_key_env: str | None = Field(
        default=None,
        description="The environment variable that holds the key, such as OPENAI_API_KEY. The usual variable of a "
        "provider is used without this, except with a base_url of your own.",
    )
    resource_name: str | None = Field(default=None, description="Azure: the resource that the deployment is in.")
    deployment_name: str | None = Field(default=None, description="Azure: the deployment of the model.")
    api_version: str = Field(default=DEFAULT_AZURE_VERSION, description="Azure: the version of the API.")
    batch_size: int = Field(default=_PACE.batch_size, ge=1, le=2048, description="How many texts go into one request.")
    concurrency: int = Field(default=_PACE.concurrency, ge=1, le=64, description="How many requests go on at once.")
    timeout_seconds: float = Field(
        default=_PACE.timeout_seconds, gt=0, le=600, description="How long one request may take."
    )
    retries: int = Field(
        default=_PACE.retries, ge=0, le=10, description="How often a request that failed is tried again."
    )
    max_characters: int = Field(
        default=_PACE.max_characters, ge=100, description="How much of a long text a service is asked to embed."
    )
    question_seconds: float = Field(
        default=_PACE.question_seconds,
        gt=0,
        le=60,
        description="How long recall waits for a service in all. Then it searches by words only, says so, and leaves "
        "the service alone for half a minute.",
    )
    similarity_threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="A memory that is less similar to a question is not found by its meaning, only by its words. By "
        "default the ranking decides, which is better: what is similar differs from model to model.",
    )
    caller_addresses: list[str] = Field(
        default=["loopback"],
        description="Hosts that a call of configure_embeddings may give as base_url: names, names with a port, or "
        "`loopback` for this machine.",
    )
    caller_keys: dict[str, str] = Field(
        default_factory=dict[str, str],
        description="Environment variables that a call may name as api_key_env, each with the one host that its "
        "content may be sent to. A provider's usual variable can always be sent to that provider itself.",
    )
    caller_folders: list[str] = Field(
        default_factory=list[str],
        description="Folders with ONNX models that a call of configure_embeddings may give as model.",
    )
    cache_bytes: int = Field(
        default=64 * 1024 * 1024,
        ge=0,
        description="How much memory the vectors of recent texts may take, so that they are not made again.",
    )

    def caller_rights(self) -> CallerRights:
        """What callers may choose."""
        return CallerRights(
            addresses=tuple(self.caller_addresses), keys=self.caller_keys, folders=tuple(self.caller_folders)
        )

    def choice(self) -> EmbeddingChoice:
        """What is chosen, as the room of embedders takes it."""
        pace = Pace(**{name: getattr(self, name) for name in Pace.__dataclass_fields__})
        chosen = {name: getattr(self, name) for name in EmbeddingChoice.__dataclass_fields__ if name != "pace"}
        return EmbeddingChoice(**chosen, pace=pace)


class WorkingSettings(BaseModel):
    """What agents have in mind."""

    capacity: int = Field(
        default=100, ge=1, le=10_000, description="How many items the working memory of a session can have."
    )
    ttl_seconds: float = Field(
        default=300, ge=1, le=86_400, description="How long an item is kept unless it says otherwise."
    )
    threshold: float = Field(
        default=0.3,
        ge=0,
        le=1,
        description="The importance from which on an item becomes a memory before it expires, and the least score for "
        "that.",
    )


class TransferSettings(BaseModel):
    """Files that memories move out and in with."""

    folders: list[Path] = Field(
        default_factory=list[Path],
        description="Folders, beside `backups` in the home, that export_database may write to and import_database may "
        "read from. Whoever may call tools can do so, so allow none that has anything else in it.",
    )


class ForgettingSettings(BaseModel):
    """What is let go by itself: by default nothing."""

    enabled: bool = Field(
        default=False,
        description="Whether memories that have faded are erased without being asked. By default nothing ever is: call "
        "forget_faded to see what would go.",
    )
    interval_seconds: float = Field(default=3600, ge=60, description="How often that is done, by one process of all.")
    threshold: float = Field(
        default=0.1, ge=0, le=1, description="A memory weaker than this has faded; 0 lets nothing fade away."
    )
    decay_rate: float = Field(
        default=0.1, ge=0, le=10, description="How fast memories fade: at 0.1 a day they are half as strong in a week."
    )
    cleanup: bool = Field(
        default=False, description="Whether what is old and matters little goes too, and what is too much, as follows."
    )
    cleanup_importance: float = Field(default=0.7, ge=0, le=1, description="What matters less than this goes ...")
    cleanup_days: float = Field(default=30, gt=0, description="... when it was kept more than so many days ago.")
    cleanup_low_importance: float = Field(default=0.5, ge=0, le=1, description="What matters less than this goes ...")
    cleanup_low_days: float = Field(default=7, gt=0, description="... when it was kept more than so many days ago.")
    cleanup_most: int = Field(
        default=100_000,
        ge=0,
        description="If there are more memories than this, those go that matter least, the oldest first; 0: no limit.",
    )

    def rules(self) -> ForgettingRules:
        """What is chosen, as the room of memories takes it."""
        limits = [
            AgeLimit(self.cleanup_importance, timedelta(days=self.cleanup_days)),
            AgeLimit(self.cleanup_low_importance, timedelta(days=self.cleanup_low_days)),
        ]
        return ForgettingRules(
            threshold=self.threshold,
            decay_rate=self.decay_rate,
            age_limits=limits if self.cleanup else (),
            most=self.cleanup_most if self.cleanup else 0,
            every=timedelta(seconds=self.interval_seconds) if self.enabled else None,
        )


class QuotaSettings(BaseModel):
    """How much one client may write."""

    memories_per_client: int = Field(
        default=0,
        ge=0,
        description="How many memories of one client are kept at most, and how many tasks, goals and milestones "
        "together; 0 for no limit.",
    )
    writes_per_minute: int = Field(
        default=6000,
        ge=0,
        description="How often one client may write in a minute, however much each time; 0 for no limit.",
    )


class LlmSettings(BaseModel):
    """The language model that writes summaries; none by default, and everything works without one."""

    base_url: str | None = Field(
        default=None,
        description="The address of an OpenAI-compatible service, up to and without `/chat/completions`. With a model, "
        "this turns the language model on: what it is asked about is sent there.",
    )
    model: str | None = Field(default=None, description="The model's name, as the service calls it.")
    api_key: SecretStr | None = Field(default=None, description="The key of the service; api_key_env is safer.")
    api_key_env: str | None = Field(
        default=None, description="The environment variable that holds the key, such as OPENAI_API_KEY."
    )
    timeout_seconds: float = Field(
        default=_COMPLETION.timeout_seconds, gt=0, le=3600, description="How long one answer may take."
    )
    retries: int = Field(
        default=_COMPLETION.retries, ge=0, le=10, description="How often a request that failed is tried again."
    )
    concurrency: int = Field(
        default=_COMPLETION.concurrency, ge=1, le=64, description="How many requests go on at once."
    )

    @model_validator(mode="after")
    def _whole(self) -> "LlmSettings":
        if (self.base_url is None) != (self.model is None):
            raise ValueError("a language model needs both base_url and model")
        return self

    def choice(self) -> CompletionChoice | None:
        """What is chosen, as the room of language models takes it."""
        if self.base_url is None or self.model is None:
            return None
        return CompletionChoice(**{name: getattr(self, name) for name in CompletionChoice.__dataclass_fields__})


class OpenAISettings(BaseModel):
    """The model with a memory that OpenAI's clients reach."""

    recall_tokens: int = Field(
        default=1_000,
        ge=0,
        le=100_000,
        description="How many tokens of memories a language model is given with a question, in Mira's chat with goals "
        "and tasks; 0 gives it none.",
    )
    recall_limit: int = Field(default=10, ge=1, le=100, description="How many memories it is given at most.")
    remember: bool = Field(
        default=True, description="Whether what clients ask a language model through this server is remembered."
    )
    any_model: bool = Field(
        default=False,
        description="Whether clients may name any model of the language model's service. Otherwise they reach only the "
        "one that llm.model names, as nobody but the operator should choose what costs money.",
    )
    concurrency: int = Field(
        default=16, ge=1, le=1_000, description="How many answers of the language model are passed on at once."
    )


class MiraSettings(BaseModel):
    """Mira's web: its addresses under /api, its chat, and its stream of events at /ws."""

    enabled: bool = Field(default=True, description="Whether there is one.")
    remember: bool = Field(default=True, description="Whether what is said in its chat is remembered.")
    persona: str = Field(
        default="You are an assistant with a long memory.",
        max_length=8_000,
        description="How its chat is to be: what the language model is told first, for all. Whoever chats can add to "
        "it for a project or a session.",
    )
    max_connections: int = Field(default=1000, ge=1, le=100_000, description="How many may listen at /ws at once.")
    outbox_bytes: int = Field(
        default=1024 * 1024,
        ge=64 * 1024,
        description="How much may wait for a listener that reads slowly. Then it is let go, and can come back and hear "
        "what it missed.",
    )
    slow_seconds: float = Field(
        default=10, gt=0, le=600, description="A listener that reads nothing for so long is let go."
    )


class SummarySettings(BaseModel):
    """Summaries of sessions, days and weeks."""

    automatic: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="Whether servers make the summaries that are missing by themselves, soon after they start and then "
        "every hour: auto does so when there is a language model. Without one, an extractive summary says nothing that "
        "the session does not say, so it is made when somebody asks for it.",
    )


class SessionSettings(BaseModel):
    """Sessions of clients, and the history of what they call."""

    history: bool = Field(
        default=True,
        description="Whether every call of a tool is kept in its client's session: arguments without secrets, and the "
        "first 500 characters of the result.",
    )
    keep_days: float = Field(
        default=30,
        gt=0,
        le=36_500,
        description="After so many days calls are erased, and sessions of which nothing is left.",
    )


class CodeSettings(BaseModel):
    """Indexes of repositories."""

    roots: list[Path] = Field(
        default=[],
        description="The only folders whose code may be indexed, and what is in them; every folder that the server may "
        "read, by default. Name some before others may reach the server.",
    )
    workers: int = Field(default=2, ge=1, le=64, description="How many processes read files at the same time.")
    file_seconds: float = Field(
        default=10.0,
        gt=0,
        le=3_600,
        description="How long one file may keep a processor busy; one that needs longer is read as text.",
    )
    worker_bytes: int = Field(
        default=2_000_000_000,
        ge=200_000_000,
        description="How much memory a process that reads files may take; a file that needs more is read as text.",
    )
    graph_bytes: int = Field(
        default=4_000_000_000,
        ge=200_000_000,
        description="How much memory finding who uses what may take; an index that needs more does without it.",
    )
    max_file_bytes: int = Field(
        default=1_000_000, ge=1_000, le=100_000_000, description="Larger files are not read; the index says which."
    )
    max_files: int = Field(default=200_000, ge=1, description="A repository with more files is refused.")
    seconds: float = Field(
        default=120.0, gt=0, le=3_600, description="How long it may take to find out which files a repository has."
    )
    stage_seconds: float = Field(
        default=1_800.0,
        gt=0,
        le=86_400,
        description="How long reading the files of a repository may take, and how long finding who uses what in it.",
    )
    embeddings: str = Field(
        default="static",
        description="Who tells what code means: `static`, the bundled model, and nothing leaves the machine; beside it "
        "`memories`, the model that the settings of `embedding` choose; or another one by its provider, or by provider "
        "and name, such as `mistral/codestral-embed`. Unless that is `local` or `onnx`, code without its secrets, "
        "and what is searched for, is then sent to that provider.",
    )
    embedding_seconds: float = Field(
        default=2.0,
        gt=0,
        le=60,
        description="How long a search waits for that model in all. Then it ranks by the bundled one and says so.",
    )
    batch_api: bool = Field(
        default=False,
        description="Whether code is embedded by batches of the provider, which cost less and take up to a day. What a "
        "search needs first is still asked for at once.",
    )

    @field_validator("embeddings")
    @classmethod
    def _known_provider(cls, chosen: str) -> str:
        if chosen not in (STATIC, MEMORIES) and chosen.partition("/")[0] not in get_args(ProviderName):
            raise ValueError(f"not {STATIC}, {MEMORIES}, or one of {', '.join(get_args(ProviderName))}")
        return chosen

    def embedding_choice(self, of_memories: EmbeddingChoice) -> EmbeddingChoice | None:
        """The model that is heard beside the bundled one, given that of memories; None when there is none."""
        if self.embeddings == STATIC:
            return None
        provider, _, model = self.embeddings.partition("/")
        if self.embeddings == MEMORIES:
            choice = of_memories
        elif provider == of_memories.provider:  # its address and key are known
            choice = replace(of_memories, model=model, dimensions=None) if model else of_memories
        else:
            choice = EmbeddingChoice(provider=cast(ProviderName, provider), model=model or None, pace=of_memories.pace)
        return None if choice.provider == "local" and choice.model in (None, BUNDLED) else choice


class HookSettings(BaseModel):
    """What agents' programs ask and tell beside calls of tools."""

    callers_may_allow: bool = Field(
        default=False,
        description="Whether callers of every door may add permission rules that allow, and remove those that deny or "
        "ask. By default only the owner may, on the command line: an agent must not give itself more than it has.",
    )
    keep_turns: bool = Field(
        default=True, description="Whether what an agent was asked and what it answered is kept, without secrets."
    )
    brief_tokens: int = Field(
        default=600, ge=50, le=10_000, description="How many tokens an agent is told at most when a session begins."
    )
    prompt_tokens: int = Field(
        default=400, ge=0, le=10_000, description="How many tokens are added to a prompt at most; 0 adds nothing."
    )
    server_ms: int = Field(
        default=60,
        ge=1,
        le=1_500,
        description="How many milliseconds the command of a hook waits at most for a server that runs, before it looks "
        "into the store itself. Unless this is set it waits less, down to 20, where starting took long.",
    )


class SkillSettings(BaseModel):
    """Other MCP servers whose tools are ours."""

    file: Path = Field(
        default=Path("skills.json"), description="Where the skills are written down; from the home when not absolute."
    )
    commands: list[str] = Field(
        default_factory=list[str],
        description="Commands that skills may be started by, beside npx, docker, node, python and python3.",
    )
    variables: list[str] = Field(
        default_factory=list[str],
        description="Variables that `${NAME}` in skills.json may name, beside the usual ones.",
    )
    max_processes: int = Field(
        default=10, ge=1, le=100, description="How many skills may run at a time; the longest unused one is ended."
    )
    memory_bytes: int = Field(
        default=2 * 1024**3, ge=64 * 1024**2, description="How much memory each program of a skill may use (Linux)."
    )
    pause_seconds: float = Field(
        default=30, ge=0, le=3600, description="How long a skill that failed too often is left alone."
    )


class FileSettings(BaseModel):
    """Files that callers may read and change."""

    enabled: bool = Field(default=True, description="Whether there is a tool for files.")
    root: Path | None = Field(
        default=None,
        description="The folder that callers may work in, for files and commands; by default the one that the server "
        "was started in, unless that is /.",
    )
    max_bytes: int = Field(
        default=10 * 1024 * 1024,
        ge=1,
        le=1024**3,
        description="The largest file that is read or written, and all that one call reads.",
    )
    search_seconds: float = Field(
        default=10, gt=0, le=600, description="How long a search in files may take; then what was found is told."
    )

    @field_validator("root")
    @classmethod
    def _whole_path(cls, path: Path | None) -> Path | None:
        return _absolute(path)


class TerminalSettings(BaseModel):
    """Commands that callers may run."""

    enabled: bool = Field(default=True, description="Whether there is a tool for commands.")
    unrestricted: bool = Field(
        default=False,
        description="Whether callers may run any command, by `restricted: false`, with all that the server's user may "
        "do. Otherwise only programs of a list, with arguments that only read.",
    )
    max_sessions: int = Field(default=10, ge=0, le=1000, description="How many programs may go on between calls.")
    max_output_bytes: int = Field(
        default=1024 * 1024, ge=1024, le=1024**3, description="How much of what a program says is kept for its caller."
    )
    memory_bytes: int = Field(
        default=2 * 1024**3, ge=64 * 1024**2, description="How much memory each program may use (Linux)."
    )
    file_bytes: int = Field(
        default=100 * 1024**2, ge=0, description="How large a file may become that a program writes."
    )
    variables: list[str] = Field(
        default_factory=list[str],
        description="Environment variables that programs see, beside PATH, HOME, LANG, TZ and the like.",
    )


class DelegatingSettings(BaseModel):
    """A coding agent on this machine that others may give tasks and ask."""

    command: str = Field(
        default="claude",
        min_length=1,
        max_length=1000,
        description="Its program: a name that is looked for in PATH, or a whole path. No caller can choose another.",
    )
    arguments: list[str] = Field(default_factory=list[str], description="What it is always given.")
    print_arguments: list[str] = Field(
        default=["--print"],
        description="What it is given as well to answer one question, which comes on its standard input, and end.",
    )
    allow: Literal["nobody", "local", "keys", "everybody"] = Field(
        default="local",
        description="Who may let it work, if they may run commands: who works on this machine (local), also callers "
        "over the network with a key (keys), or also without one (everybody). It can do all that the server's user "
        "may.",
    )
    in_chat: bool = Field(
        default=False,
        description="Whether the language model of the chat may give it tasks: what the model has read could make it.",
    )
    max_agents: int = Field(default=4, ge=0, le=100, description="How many may run at once.")
    memory_bytes: int = Field(default=8 * 1024**3, ge=64 * 1024**2, description="How much memory each may use (Linux).")
    variables: list[str] = Field(
        default_factory=list[str],
        description="Environment variables that it sees, such as ANTHROPIC_API_KEY, beside PATH, HOME, USER and LANG.",
    )


class WebSettings(BaseModel):
    """The web that callers may reach."""

    enabled: bool = Field(default=True, description="Whether there are tools for the web.")
    allowed_hosts: list[str] = Field(
        default_factory=list[str],
        description="Hosts that may be fetched from although they are not public, such as `localhost:8080`: names, or "
        "names with a port.",
    )
    max_bytes: int = Field(
        default=5 * 1024 * 1024, ge=1024, le=1024**3, description="How much of an answer is read; the rest is left out."
    )
    search_url: str = Field(
        default="https://api.exa.ai", description="The service that searches, up to and without `/search`."
    )
    search_key: SecretStr | None = Field(
        default=None, description="Its key; by default the content of the variable EXA_API_KEY."
    )


class SandboxSettings(BaseModel):
    """Programs of agents."""

    enabled: bool = Field(default=True, description="Whether there is a tool that runs programs.")
    profile: Literal["restrictive", "default", "permissive"] = Field(
        default="default", description="The limits of a program whose caller names no profile."
    )
    max_execution_time_ms: int = Field(
        default=10_000, ge=1, le=600_000, description="How long a program may run at most, whatever is asked for."
    )
    max_memory_mb: int = Field(
        default=256, ge=8, le=4_000, description="How much memory a program may have at most, whatever is asked for."
    )
    max_cpu_percent: int = Field(
        default=100, ge=1, le=100, description="How much of one processor a program may use at most."
    )
    tools: bool = Field(default=True, description="Whether programs may call tools, with the rights of their callers.")
    allowed_paths: list[Path] = Field(
        default_factory=list[Path],
        description="Folders in which programs may read files, if their profile or config lets them; none by default.",
    )
    slots: int | None = Field(
        default=None, ge=1, le=100, description="How many programs run at once; by default two a processor, 20 at most."
    )

    @field_validator("allowed_paths")
    @classmethod
    def _whole_paths(cls, paths: list[Path]) -> list[Path]:
        return [_absolute(path) or path for path in paths]


class SynapseSettings(BaseModel):
    """The live channel, a WebSocket at /cortex/websocket."""

    enabled: bool = Field(default=True, description="Whether there is one.")
    workers: int = Field(
        default=8, ge=1, le=1000, description="How many questions and calls of all sockets are worked on at once."
    )
    max_waiting: int = Field(
        default=256, ge=0, le=100_000, description="How many of them may wait; more are refused as overloaded."
    )
    max_connections: int = Field(default=1000, ge=1, le=100_000, description="How many sockets may be open.")
    messages_per_second: float = Field(
        default=50, ge=1, le=100_000, description="How many messages one socket may send in a second on average."
    )
    max_frame_bytes: int = Field(
        default=1024 * 1024, ge=1024, description="The largest message that is taken from a WebSocket."
    )
    outbox_bytes: int = Field(
        default=1024 * 1024,
        ge=1024,
        description="How much may wait for a client that reads slowly. Then thoughts are dropped, and when results "
        "find no room its socket is closed.",
    )
    slow_seconds: float = Field(
        default=10, gt=0, le=600, description="A client that reads nothing for so long is let go."
    )
    idle_seconds: float = Field(
        default=45,
        gt=0,
        le=3600,
        description="A client that says nothing for so long, not even a heartbeat, is let go; also one that has not "
        "joined a topic by then.",
    )


class LimitSettings(BaseModel):
    """How much the HTTP server lets anybody ask for. 0 is without end."""

    window_seconds: float = Field(
        default=60, gt=0, le=86_400, description="In how many seconds the numbers of requests below are let through."
    )
    per_address: int = Field(default=6_000, ge=0, description="Requests of one address in each window.")
    per_loopback: int = Field(
        default=600_000, ge=0, description="Requests of this machine itself in each window, all its clients together."
    )
    per_key: int = Field(default=60_000, ge=0, description="Requests with one key in each window.")
    concurrent: int = Field(
        default=512, ge=0, description="Requests that may wait for their answer at once; streams do not count."
    )
    request_seconds: float = Field(
        default=300, ge=0, le=86_400, description="How long one request may take until its answer begins."
    )
    latency_ms: float = Field(
        default=0,
        ge=0,
        description="When one of a hundred requests takes longer than this, others are refused with 503 for a while.",
    )
    wrong_keys: int = Field(
        default=20, ge=0, description="After so many wrong keys an address is blocked; never this machine itself."
    )
    refusals: int = Field(
        default=200, ge=0, description="After so many requests beyond the limits an address is blocked."
    )
    abuse_seconds: float = Field(
        default=300, gt=0, le=86_400, description="In how many seconds wrong keys and refusals are counted together."
    )
    block_seconds: float = Field(default=3_600, gt=0, le=2_592_000, description="How long an address is blocked.")


class LogSettings(BaseModel):
    """What is written to standard error."""

    level: Literal["debug", "info", "warning", "error"] | None = Field(
        default=None,
        description="The least serious message that is written; by default info for the server, else warning.",
    )
    format: Literal["auto", "json", "text"] = Field(
        default="auto", description="One JSON object a line, or text for people; auto is text on a terminal."
    )


class AuditSettings(BaseModel):
    """The record of who called what, in `audit.jsonl` of the home."""

    enabled: bool = Field(default=True, description="Whether calls and refusals are written to the audit log.")
    max_bytes: int = Field(
        default=100_000_000,
        ge=10_000,
        description="A file that would become larger is put aside as `audit.jsonl.1`, and a new one begun.",
    )
    keep_files: int = Field(
        default=10, ge=1, le=1000, description="How many files there are at most, with the one that is written."
    )


class UpstreamSettings(BaseModel):
    """Services elsewhere that fail: when they are left alone, and when they are asked again."""

    failures: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="After so many failures in a row a service is left alone: by default 5, and 3 for ollama.",
    )
    pause_seconds: float = Field(default=60, gt=0, le=86_400, description="For so long; then it is tried.")
    successes: int = Field(
        default=3, ge=1, le=1000, description="After so many trials in a row that succeeded all is as it was."
    )

    def limits(self) -> BreakerLimits:
        """What is chosen, as the room of models takes it."""
        return BreakerLimits(failures=self.failures, pause_seconds=self.pause_seconds, successes=self.successes)


class FeatureSettings(BaseModel):
    """Parts that can be switched off. Mimo's variables, such as WEBSOCKET_ENABLED, set them too: to `true` or `1`."""

    rust_nifs: bool = Field(
        default=True,
        description="Whether the compiled part is used where there is one. It has Mimo's name, and is in C.",
    )
    semantic_store: bool = Field(default=True, description="Whether the store of relations is used.")
    procedural_store: bool = Field(
        default=True, description="Whether the store of procedures is used, once there is one."
    )
    websocket_synapse: bool = Field(default=True, description="Whether clients may connect to the WebSocket.")


class TracingSettings(BaseModel):
    """Spans of calls, for OpenTelemetry."""

    enabled: bool = Field(
        default=False,
        description="Whether every call of a tool is a span. Where spans go is decided by OpenTelemetry's own SDK and "
        "its OTEL_* variables; without it they go nowhere.",
    )


class Settings(BaseSettings):
    """The whole tree. Later sources yield to earlier ones: options, SCRUBJAY_* variables, .env, scrubjay.toml."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="_", env_nested_max_split=1, env_file=".env", extra="ignore"
    )

    home: Path = Field(
        default=Path("~/.scrubjay"),
        description="The folder of the store. Must be on a local disk, not a network share.",
    )
    host: str = Field(
        default="127.0.0.1",
        description="The address that `scrubjay serve` listens on. Others than loopback need an api_key.",
    )
    port: int = Field(
        default=4000, ge=0, le=65535, description="The port that `scrubjay serve` listens on; 0 takes a free one."
    )
    api_key: SecretStr | None = Field(
        default=None,
        description="The key that HTTP clients must send as `Authorization: Bearer KEY`. MIMO_API_KEY sets it too.",
    )
    environment: Literal["development", "test", "production"] = Field(
        default="development",
        description="In production, or `prod`, the server does not start without a key, also on loopback.",
    )
    allowed_hosts: list[str] = Field(
        default_factory=list[str],
        description="Host names, beside those of loopback, under which browsers and clients may reach the server.",
    )
    allowed_origins: list[str] = Field(
        default_factory=list[str],
        description="Pages that may use the server from a browser, such as https://app.example.com, beside those of "
        "loopback and of the allowed hosts.",
    )
    trusted_proxies: list[str] = Field(
        default_factory=list[str],
        description="Addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed.",
    )
    limits: LimitSettings = Field(default=LimitSettings(), description="How much one caller may ask the HTTP server.")
    max_body_bytes: int = Field(
        default=16 * 1024 * 1024, ge=1024, description="The largest HTTP request or MCP message that is accepted."
    )
    tools: str = Field(
        default="core",
        description="Which tools are listed: core, all, or families and names joined by commas. All can be called.",
    )
    profile: Literal["mimo", "do-memory", "mira", "mimir", "neo"] | None = Field(
        default=None,
        description="List exactly the tools of one of these systems, under its names, in the place of `tools`.",
    )
    project: Path | None = Field(
        default=None, description="The project that clients work in until they set another; by default none."
    )
    jobs: JobSettings = Field(default=JobSettings(), description="Long work.")
    embedding: EmbeddingSettings = Field(
        default=EmbeddingSettings(), description="The model that finds memories by meaning."
    )
    working: WorkingSettings = Field(default=WorkingSettings(), description="What agents have in mind.")
    transfer: TransferSettings = Field(
        default=TransferSettings(), description="Files that memories move out and in with."
    )
    secrets: SecretsPolicy = Field(
        default=SecretsPolicy.MASK,
        description="What becomes of keys, tokens and passwords in what is to be remembered: refuse it, mask them (a "
        "mark such as `[secret: password]` is kept instead), or keep them. No caller can choose otherwise.",
    )
    forgetting: ForgettingSettings = Field(
        default=ForgettingSettings(), description="What is let go by itself: by default nothing."
    )
    quota: QuotaSettings = Field(default=QuotaSettings(), description="How much one client may write.")
    llm: LlmSettings = Field(default=LlmSettings(), description="The language model, if there is one.")
    mira: MiraSettings = Field(default=MiraSettings(), description="Mira's web: /api, its chat, and /ws.")
    openai: OpenAISettings = Field(default=OpenAISettings(), description="What OpenAI's clients reach.")
    summaries: SummarySettings = Field(default=SummarySettings(), description="Summaries of sessions, days and weeks.")
    sessions: SessionSettings = Field(
        default=SessionSettings(), description="Sessions of clients, and the history of what they call."
    )
    code: CodeSettings = Field(default=CodeSettings(), description="Indexes of repositories.")
    hooks: HookSettings = Field(
        default=HookSettings(), description="What agents' programs ask and tell beside calls of tools."
    )
    skills: SkillSettings = Field(default=SkillSettings(), description="Other MCP servers whose tools are ours.")
    files: FileSettings = Field(default=FileSettings(), description="Files that callers may read and change.")
    terminal: TerminalSettings = Field(default=TerminalSettings(), description="Commands that callers may run.")
    delegating: DelegatingSettings = Field(
        default=DelegatingSettings(), description="A coding agent that others may give tasks and ask."
    )
    web: WebSettings = Field(default=WebSettings(), description="The web that callers may reach.")
    sandbox: SandboxSettings = Field(default=SandboxSettings(), description="Programs of agents.")
    synapse: SynapseSettings = Field(
        default=SynapseSettings(), description="The live channel, a WebSocket at /cortex/websocket."
    )
    log: LogSettings = Field(default=LogSettings(), description="What is written to standard error.")
    audit: AuditSettings = Field(default=AuditSettings(), description="The record of who called what.")
    upstreams: UpstreamSettings = Field(default=UpstreamSettings(), description="Services elsewhere that fail.")
    features: FeatureSettings = Field(default=FeatureSettings(), description="Parts that can be switched off.")
    tracing: TracingSettings = Field(default=TracingSettings(), description="Spans of calls, for OpenTelemetry.")

    @field_validator("home", "project")
    @classmethod
    def _whole_path(cls, path: Path | None) -> Path | None:
        return _absolute(path)

    @field_validator("allowed_origins")
    @classmethod
    def _named_origins(cls, origins: list[str]) -> list[str]:
        for origin in origins:
            if not re.fullmatch(r"https?://[^/*\s@]+/?", origin):
                raise ValueError(f"{origin!r} is no origin; each is named, as in https://app.example.com, and never *")
        return origins

    @field_validator("trusted_proxies")
    @classmethod
    def _known_networks(cls, proxies: list[str]) -> list[str]:
        for proxy in proxies:
            ip_network(proxy.strip(), strict=False)
        return proxies

    @field_validator("api_key")
    @classmethod
    def _not_guessable(cls, key: SecretStr | None) -> SecretStr | None:
        if key is None:
            return None
        text = key.get_secret_value().strip()  # of a file, it comes with the end of its line
        if len(text) < MIN_KEY_LENGTH:
            raise ValueError(f"a key needs at least {MIN_KEY_LENGTH} characters")
        return SecretStr(text)

    @field_validator("environment", mode="before")
    @classmethod
    def _spelt_out(cls, environment: object) -> object:
        if not isinstance(environment, str):
            return environment
        given = environment.strip().lower()
        return _ENVIRONMENTS.get(given, given)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (
            init_settings,
            env_settings,
            OfFolder(settings_cls, dotenv_settings, ".env"),
            MimoVariables(settings_cls),
            OfFolder(settings_cls, TomlSource(settings_cls), FILE_NAME),
        )


def load_settings(**chosen: Any) -> Settings:
    """The settings of this process; options that are None were not chosen."""
    try:
        return Settings(**{name: value for name, value in chosen.items() if value is not None})
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
            for problem in error.errors(include_input=False, include_url=False)
        )
        raise Misconfigured(
            f"the settings are wrong: {problems}", hint=f"look at the {PREFIX}* variables, .env and {FILE_NAME}"
        ) from None


def unknown_variables(environment: Iterable[str]) -> dict[str, list[str]]:
    """Variables that look like ours but set nothing, with the names they may have been meant to be."""
    known = set(variable_names(Settings))
    return {
        name: nearest_names(name, known)
        for name in sorted(environment)
        if name.startswith(PREFIX) and name not in known
    }


def variable_names(model: type[BaseModel], prefix: str = PREFIX) -> list[str]:
    """The environment variable of every setting."""
    names: list[str] = []
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            names += variable_names(inner, f"{prefix}{name.upper()}_")
        else:
            names.append(f"{prefix}{name.upper()}")
    return names

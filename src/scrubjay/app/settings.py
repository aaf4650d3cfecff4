"""The settings of Scrubjay, with their meaning and defaults."""

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_network
from json import JSONDecodeError
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from scrubjay.app.setting_sources import FILE_NAME, PREFIX, FolderSource, TomlSource
from scrubjay.compat.mimo.settings import MimoVariables
from scrubjay.compat.mira.settings import MiraSettings
from scrubjay.core.environment import all_variables
from scrubjay.core.errors import Misconfigured
from scrubjay.core.paths import absolute_path
from scrubjay.core.policies import SecretsPolicy
from scrubjay.core.secrets import find_secrets, secret_kind
from scrubjay.core.suggestions import nearest_names
from scrubjay.features.code.settings import CodeSettings
from scrubjay.features.delegation.settings import DelegationSettings
from scrubjay.features.embeddings.settings import EmbeddingSettings
from scrubjay.features.forgetting.settings import ForgettingSettings
from scrubjay.features.hooks.settings import HookSettings
from scrubjay.features.memory.settings import QuotaSettings
from scrubjay.features.monitoring.settings import AuditSettings, TracingSettings
from scrubjay.features.sandbox.settings import SandboxSettings
from scrubjay.features.sessions.settings import SessionSettings
from scrubjay.features.summaries.settings import SummarySettings
from scrubjay.features.transfer.settings import TransferSettings
from scrubjay.features.upstream_mcp.settings import SkillSettings
from scrubjay.features.working_memory.settings import WorkingSettings
from scrubjay.features.workspace.settings import FileSettings, TerminalSettings, WebSettings
from scrubjay.models.settings import LlmSettings, UpstreamSettings
from scrubjay.servers.http.settings import LimitSettings
from scrubjay.servers.openai.settings import OpenAISettings
from scrubjay.servers.phoenix.settings import SynapseSettings
from scrubjay.tooling.feature_settings import FeatureSettings
from scrubjay.tooling.jobs.settings import JobSettings

MIN_KEY_LENGTH = 8
# Common abbreviations: a server started with `prod` must not run with less strict rules.
_ENVIRONMENTS = {"prod": "production", "dev": "development"}


class LogSettings(BaseModel):
    """Logs on standard error."""

    level: Literal["debug", "info", "warning", "error"] | None = Field(
        default=None,
        description="Minimum level of messages. Default: info for `scrubjay serve`, warning for all other commands.",
    )
    format: Literal["auto", "json", "text"] = Field(
        default="auto",
        description="json writes one JSON object per line, text a line for people; auto is text on a terminal and "
        "json elsewhere.",
    )


class Settings(BaseSettings):
    """The settings of a process. Sources by precedence: options, SCRUBJAY_* variables, .env, scrubjay.toml."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="_", env_nested_max_split=1, env_file=".env", extra="ignore"
    )

    home: Path = Field(
        default=Path("~/.scrubjay"),
        description="Folder of the store. Must be on a local disk, not on a network share.",
    )
    host: str = Field(
        default="127.0.0.1",
        description="Address that `scrubjay serve` listens on. Any other than loopback requires a key.",
    )
    port: int = Field(
        default=4000, ge=0, le=65535, description="Port that `scrubjay serve` listens on; 0 picks a free one."
    )
    api_key: SecretStr | None = Field(
        default=None,
        description="Key that HTTP clients must send as `Authorization: Bearer KEY`. MIMO_API_KEY sets it too.",
    )
    environment: Literal["development", "test", "production"] = Field(
        default="development",
        description="With production (or `prod`), the server refuses to start without a key, even on loopback.",
    )
    allowed_hosts: list[str] = Field(
        default_factory=list[str],
        description="Host names under which clients may reach the server, besides those of loopback.",
    )
    allowed_origins: list[str] = Field(
        default_factory=list[str],
        description="Origins of web pages that may call the server from a browser, such as https://app.example.com or "
        "http://localhost:3000, besides the server's own.",
    )
    trusted_proxies: list[str] = Field(
        default_factory=list[str],
        description="Addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted.",
    )
    limits: LimitSettings = Field(default=LimitSettings(), description="Rate and load limits of the HTTP server.")
    max_body_bytes: int = Field(
        default=16 * 1024 * 1024, ge=1024, description="Maximum size of an HTTP request body or MCP message."
    )
    tools: str = Field(
        default="core",
        description="Tools to list: core, all, or families and names separated by commas. Unlisted tools can still "
        "be called.",
    )
    profile: Literal["mimo", "do-memory", "mira", "mimir", "neo"] | None = Field(
        default=None,
        description="List exactly the tools of one of these systems, under its names, instead of `tools`.",
    )
    project: Path | None = Field(
        default=None, description="Project that clients work in until they set another. Default: none."
    )
    jobs: JobSettings = Field(default=JobSettings(), description="Jobs: work that can outlive its call.")
    embedding: EmbeddingSettings = Field(
        default=EmbeddingSettings(), description="The embedding model, which finds memories by meaning."
    )
    working: WorkingSettings = Field(default=WorkingSettings(), description="Working memory of agents.")
    transfer: TransferSettings = Field(default=TransferSettings(), description="Import and export of memories.")
    secrets: SecretsPolicy = Field(
        default=SecretsPolicy.MASK,
        description="Treatment of keys, tokens and passwords in text to be stored: refuse the text, mask them (stored "
        "as, for example, `[secret: password]`), or keep them. Callers cannot override it.",
    )
    forgetting: ForgettingSettings = Field(
        default=ForgettingSettings(), description="Automatic eviction of memories; off by default."
    )
    quota: QuotaSettings = Field(default=QuotaSettings(), description="Limits on what one client may store.")
    llm: LlmSettings = Field(default=LlmSettings(), description="The language model; optional.")
    mira: MiraSettings = Field(default=MiraSettings(), description="Mira's HTTP API: /api, its chat, and /ws.")
    openai: OpenAISettings = Field(default=OpenAISettings(), description="The OpenAI-compatible API.")
    summaries: SummarySettings = Field(default=SummarySettings(), description="Summaries of sessions, days and weeks.")
    sessions: SessionSettings = Field(default=SessionSettings(), description="Sessions of clients and call history.")
    code: CodeSettings = Field(default=CodeSettings(), description="Indexes of repositories.")
    hooks: HookSettings = Field(default=HookSettings(), description="Hooks of coding agents.")
    skills: SkillSettings = Field(
        default=SkillSettings(), description="Upstream MCP servers whose tools are offered as Scrubjay's own."
    )
    files: FileSettings = Field(default=FileSettings(), description="Files that callers may read and write.")
    terminal: TerminalSettings = Field(default=TerminalSettings(), description="Commands that callers may run.")
    delegation: DelegationSettings = Field(
        default=DelegationSettings(), description="The coding agent that callers may delegate tasks to."
    )
    web: WebSettings = Field(default=WebSettings(), description="Web access of callers.")
    sandbox: SandboxSettings = Field(default=SandboxSettings(), description="The sandbox for agents' programs.")
    synapse: SynapseSettings = Field(default=SynapseSettings(), description="Mimo's WebSocket at /cortex/websocket.")
    log: LogSettings = Field(default=LogSettings(), description="Logs on standard error.")
    audit: AuditSettings = Field(default=AuditSettings(), description="The audit log: who called what.")
    upstreams: UpstreamSettings = Field(
        default=UpstreamSettings(), description="Circuit breakers of embedding and language model services."
    )
    features: FeatureSettings = Field(default=FeatureSettings(), description="Features that can be switched off.")
    tracing: TracingSettings = Field(default=TracingSettings(), description="OpenTelemetry spans of calls.")

    @field_validator("home", "project")
    @classmethod
    def _make_absolute(cls, path: Path | None) -> Path | None:
        return absolute_path(path)

    @field_validator("allowed_origins")
    @classmethod
    def _check_origins(cls, origins: list[str]) -> list[str]:
        for origin in origins:
            if not re.fullmatch(r"https?://[^/*\s@]+/?", origin):
                raise ValueError(
                    f"{origin!r} is not an origin such as https://app.example.com; wildcards are not supported"
                )
        return origins

    @field_validator("trusted_proxies")
    @classmethod
    def _check_networks(cls, proxies: list[str]) -> list[str]:
        for proxy in proxies:
            ip_network(proxy.strip(), strict=False)
        return proxies

    @field_validator("api_key")
    @classmethod
    def _check_key(cls, key: SecretStr | None) -> SecretStr | None:
        if key is None:
            return None
        text = key.get_secret_value().strip()  # a key read from a file ends with a newline
        if len(text) < MIN_KEY_LENGTH:
            raise ValueError(f"a key needs at least {MIN_KEY_LENGTH} characters")
        return SecretStr(text)

    @field_validator("environment", mode="before")
    @classmethod
    def _expand_environment(cls, environment: object) -> object:
        if not isinstance(environment, str):
            return environment
        name = environment.strip().lower()
        return _ENVIRONMENTS.get(name, name)

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
            FolderSource(settings_cls, dotenv_settings, ".env"),
            MimoVariables(settings_cls),
            FolderSource(settings_cls, TomlSource(settings_cls), FILE_NAME),
        )


def load_settings(**options: Any) -> Settings:
    """Load the settings of this process; options that are None are ignored."""
    try:
        return Settings(**{name: value for name, value in options.items() if value is not None})
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
            for problem in error.errors(include_input=False, include_url=False)
        )
        raise Misconfigured(
            f"invalid settings: {problems}", hint=f"check the {PREFIX}* variables, .env and {FILE_NAME}"
        ) from None
    except SettingsError as error:
        text = error.__cause__.doc if isinstance(error.__cause__, JSONDecodeError) else None
        names = [name for name, value in all_variables().items() if name.upper().startswith(PREFIX) and value == text]
        raise Misconfigured(
            f"{names[0] if names else 'a setting'} is not valid JSON",
            hint="""write lists and tables as JSON, for example SCRUBJAY_CODE_ROOTS='["/srv/code"]'""",
        ) from None


def unknown_variables(environment: Iterable[str]) -> dict[str, list[str]]:
    """Return the variables with our prefix that are no setting, each with the settings it may be meant for."""
    known = set(variable_names(Settings))
    return {
        name: nearest_names(name, known)
        for name in sorted(environment)
        if name.startswith(PREFIX) and name not in known
    }


def secret_variables(settings: Settings, environment: Mapping[str, str]) -> set[str]:
    """Return the variables that hold a secret: by their names, by the settings that name them, and by their values.

    Variables of proxies stay, because clients of services read them when they connect.
    """
    named = {settings.embedding.api_key_env, settings.llm.api_key_env, *settings.embedding.caller_keys}
    ours = _secret_settings(Settings, PREFIX)
    return {
        name
        for name, value in environment.items()
        if name in named
        or name.upper() in ours
        or secret_kind(name) is not None
        or (not name.lower().endswith("_proxy") and find_secrets(value))
    }


def _secret_settings(model: type[BaseModel], prefix: str) -> set[str]:
    """Return the variables of the settings that are secrets, and of the sections that have one (as JSON)."""
    names: set[str] = set()
    for name, field in model.model_fields.items():
        inner, variable = field.annotation, f"{prefix}{name.upper()}"
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found = _secret_settings(inner, f"{variable}_")
            names |= found | {variable} if found else found
        elif SecretStr in (inner, *get_args(inner)):
            names.add(variable)
    return names


def variable_names(model: type[BaseModel], prefix: str = PREFIX) -> list[str]:
    """Return the environment variable of every setting."""
    names: list[str] = []
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            names += variable_names(inner, f"{prefix}{name.upper()}_")
        else:
            names.append(f"{prefix}{name.upper()}")
    return names

"""Settings of code indexes."""

import os
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

from pydantic import BaseModel, Field, field_validator

from scrubjay.models.choices import EmbeddingChoice, ProviderName

STATIC, MEMORIES, BUNDLED = "static", "memories", "static-v1"


class CodeSettings(BaseModel):
    """Indexes of repositories."""

    enabled: bool = Field(default=True, description="Offer the tools for code.")
    roots: list[Path] = Field(
        default=[],
        description="Folders whose code may be indexed, including subfolders. Default: for callers with a key, the "
        "root of files and the projects that the owner has set; for the owner without a key, every folder that the "
        "server can read. Required if the server listens beyond loopback.",
    )
    workers: int = Field(default=2, ge=1, le=64, description="Number of processes that parse files in parallel.")
    file_seconds: float = Field(
        default=10.0,
        gt=0,
        le=3_600,
        description="CPU seconds to parse one file; a file that needs more is indexed as plain text.",
    )
    worker_bytes: int = Field(
        default=2_000_000_000,
        ge=200_000_000,
        description="Memory limit of a parser process; a file that needs more is indexed as plain text.",
    )
    graph_bytes: int = Field(
        default=4_000_000_000,
        ge=200_000_000,
        description="Memory limit for resolving uses; an index that needs more has no use graph.",
    )
    max_file_bytes: int = Field(
        default=1_000_000, ge=1_000, le=100_000_000, description="Larger files are skipped; the index lists them."
    )
    max_files: int = Field(default=200_000, ge=1, description="A repository with more files is rejected.")
    seconds: float = Field(default=120.0, gt=0, le=3_600, description="Seconds to list the files of a repository.")
    stage_seconds: float = Field(
        default=1_800.0,
        gt=0,
        le=86_400,
        description="Seconds to parse the files of a repository, and again to resolve their uses.",
    )
    embeddings: str = Field(
        default="static",
        description="Embedding model for code. `static`: only the bundled model; nothing leaves the machine. "
        "`memories`: rerank with the model of the `embedding` settings. A provider, or provider and model such as "
        "`mistral/codestral-embed`: rerank with that model. Unless it is `local` or `onnx`, code (with secrets masked) "
        "and search queries are sent to that provider.",
    )
    embedding_seconds: float = Field(
        default=2.0,
        gt=0,
        le=60,
        description="Seconds that a search waits for that model in total; after that it uses the bundled model only "
        "and says so in `degraded`.",
    )
    batch_api: bool = Field(
        default=False,
        description="Embed code with the provider's batch API, which costs less and takes up to a day. Chunks that a "
        "search needs are still embedded at once.",
    )

    @field_validator("roots")
    @classmethod
    def _absolute_paths(cls, roots: list[Path]) -> list[Path]:
        return [Path(os.path.abspath(os.path.expanduser(root))) for root in roots]  # noqa: PTH100, PTH111  as in paths

    @field_validator("embeddings")
    @classmethod
    def _known_provider(cls, chosen: str) -> str:
        if chosen not in (STATIC, MEMORIES) and chosen.partition("/")[0] not in get_args(ProviderName):
            raise ValueError(f"must be {STATIC}, {MEMORIES}, or start with one of {', '.join(get_args(ProviderName))}")
        return chosen

    def embedding_choice(self, of_memories: EmbeddingChoice) -> EmbeddingChoice | None:
        """Return the model that reranks code search, given that of memories; None if only the bundled one is used."""
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

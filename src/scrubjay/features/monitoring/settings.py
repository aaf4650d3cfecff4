"""Settings of the audit log and of tracing."""

from pydantic import BaseModel, Field


class AuditSettings(BaseModel):
    """The audit log of calls and refusals: `audit.jsonl` in the home folder."""

    enabled: bool = Field(default=True, description="Write calls and refusals to the audit log.")
    max_bytes: int = Field(
        default=100_000_000,
        ge=10_000,
        description="Maximum size of a file, in bytes; then it is rotated to `audit.jsonl.1`.",
    )
    keep_files: int = Field(
        default=10, ge=1, le=1000, description="Maximum number of files, including the current one."
    )


class TracingSettings(BaseModel):
    """Spans of calls, for OpenTelemetry."""

    enabled: bool = Field(
        default=False,
        description="Create a span for every tool call. OpenTelemetry's SDK and its OTEL_* variables configure the "
        "export; without the SDK, spans are dropped.",
    )

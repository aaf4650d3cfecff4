"""Settings of the HTTP server's limits."""

from pydantic import BaseModel, Field


class LimitSettings(BaseModel):
    """Limits of the HTTP server; 0 means no limit."""

    window_seconds: float = Field(
        default=60,
        gt=0,
        le=86_400,
        description="Length of the rate-limit window in seconds, for the three limits below.",
    )
    per_address: int = Field(default=6_000, ge=0, description="Maximum requests per window from one address.")
    per_loopback: int = Field(
        default=600_000, ge=0, description="Maximum requests per window from this machine, all its clients together."
    )
    per_key: int = Field(default=60_000, ge=0, description="Maximum requests per window with one key.")
    concurrent: int = Field(
        default=512,
        ge=0,
        description="Maximum concurrent requests, from the head of each until its response is read; open streams do "
        "not count. One key, or one address other than loopback, may have at most as many as are left for others: half "
        "when it is alone.",
    )
    streams: int = Field(
        default=1_000,
        ge=0,
        description="Maximum open event streams and WebSockets, with the same shares for each key and address.",
    )
    body_bytes: int = Field(
        default=256 * 1024 * 1024,
        ge=0,
        description="Maximum bytes of all request bodies in memory, with the same shares; at least twice the maximum "
        "size of one body is used.",
    )
    request_seconds: float = Field(
        default=300, ge=0, le=86_400, description="Maximum seconds until the response to a request starts."
    )
    latency_ms: float = Field(
        default=0,
        ge=0,
        description="99th percentile latency in milliseconds above which new requests are refused with 503.",
    )
    wrong_keys: int = Field(
        default=20, ge=0, description="Wrong keys after which an address is blocked; loopback is never blocked."
    )
    refusals: int = Field(
        default=200, ge=0, description="Requests beyond the rate limits after which an address is blocked."
    )
    abuse_seconds: float = Field(
        default=300, gt=0, le=86_400, description="Seconds within which wrong keys and refusals are counted."
    )
    block_seconds: float = Field(
        default=3_600, gt=0, le=2_592_000, description="Seconds for which an address is blocked."
    )

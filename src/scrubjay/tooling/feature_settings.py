"""Settings that switch features off."""

from pydantic import BaseModel, Field


class FeatureSettings(BaseModel):
    """Features that can be switched off. Mimo's variables, such as WEBSOCKET_ENABLED=true, set them too."""

    native_extension: bool = Field(
        default=True,
        description="Use the C extension if it is compiled. Mimo's RUST_NIFS_ENABLED sets it too.",
    )
    semantic_store: bool = Field(default=True, description="Offer the tools of the knowledge graph.")
    procedural_store: bool = Field(
        default=True, description="Offer the tools of stored procedures. No effect yet: there are none."
    )
    websocket_synapse: bool = Field(default=True, description="Accept connections to Mimo's WebSocket.")

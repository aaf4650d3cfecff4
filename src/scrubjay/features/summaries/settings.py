"""Settings of summaries."""

from typing import Literal

from pydantic import BaseModel, Field

from scrubjay.models.settings import LlmSettings


class SummarySettings(BaseModel):
    """Summaries of sessions, days and weeks."""

    automatic: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="Create missing summaries automatically, soon after the server starts and then every hour. auto: "
        "only if a language model is set, because an extractive summary adds nothing to the session and is made on "
        "request.",
    )

    def disabled_reason(self, llm: LlmSettings) -> str | None:
        """Return why servers create no summaries automatically; None if they do."""
        match self.automatic:
            case "off":
                return "the setting summaries.automatic is off"
            case "auto" if llm.choice() is None:
                return "no language model is set; summarize_sessions makes extractive summaries when it is called"
            case _:
                return None

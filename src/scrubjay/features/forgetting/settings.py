"""Settings of forgetting."""

from datetime import timedelta

from pydantic import BaseModel, Field

from scrubjay.core.policies import AgeLimit, ForgettingRules


class ForgettingSettings(BaseModel):
    """Automatic forgetting; off by default."""

    enabled: bool = Field(
        default=False,
        description="Erase faded memories automatically. Off by default: nothing is erased; call forget_faded to see "
        "which memories would be.",
    )
    interval_seconds: float = Field(
        default=3600, ge=60, description="Seconds between runs; one of the processes does each run."
    )
    threshold: float = Field(
        default=0.1, ge=0, le=1, description="Strength below which a memory has faded; 0 means never."
    )
    decay_rate: float = Field(
        default=0.1, ge=0, le=10, description="Decay of the strength per day; at 0.1 it halves in a week."
    )
    cleanup: bool = Field(
        default=False, description="Also erase old, unimportant and excess memories, by the limits below."
    )
    cleanup_importance: float = Field(
        default=0.7, ge=0, le=1, description="Memories below this importance are erased after cleanup_days."
    )
    cleanup_days: float = Field(default=30, gt=0, description="Age in days for cleanup_importance.")
    cleanup_low_importance: float = Field(
        default=0.5, ge=0, le=1, description="Memories below this importance are erased after cleanup_low_days."
    )
    cleanup_low_days: float = Field(default=7, gt=0, description="Age in days for cleanup_low_importance.")
    cleanup_max_memories: int = Field(
        default=100_000,
        ge=0,
        description="Maximum number of memories; beyond it the least important are erased, oldest first. 0: no limit.",
    )

    def rules(self) -> ForgettingRules:
        """Return the settings as rules for the forgetter."""
        limits = [
            AgeLimit(self.cleanup_importance, timedelta(days=self.cleanup_days)),
            AgeLimit(self.cleanup_low_importance, timedelta(days=self.cleanup_low_days)),
        ]
        return ForgettingRules(
            threshold=self.threshold,
            decay_rate=self.decay_rate,
            age_limits=limits if self.cleanup else (),
            max_memories=self.cleanup_max_memories if self.cleanup else 0,
            every=timedelta(seconds=self.interval_seconds) if self.enabled else None,
        )

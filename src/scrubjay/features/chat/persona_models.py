"""How the chat is to be: a base for all, and what is laid over it in a project and in a session."""

from dataclasses import dataclass
from enum import StrEnum


class Layer(StrEnum):
    """What lies over the base; later ones over earlier ones."""

    PROJECT = "project"
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """All layers, as they hold for one session."""

    base: str
    project: str | None = None
    session: str | None = None

    @property
    def text(self) -> str:
        """What a language model is told."""
        return "\n\n".join(part for part in (self.base, self.project, self.session) if part)

"""The persona of a chat: a base for all chats, extended by project and session layers."""

from dataclasses import dataclass
from enum import StrEnum


class PersonaLayer(StrEnum):
    """An addition to the base persona, in the order in which they apply."""

    PROJECT = "project"
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """The layers that apply to one session."""

    base: str
    project: str | None = None
    session: str | None = None

    @property
    def text(self) -> str:
        """The layers as one text for the language model."""
        return "\n\n".join(part for part in (self.base, self.project, self.session) if part)


@dataclass(frozen=True, slots=True)
class BasePersona:
    """The persona that the operator sets for every chat."""

    text: str

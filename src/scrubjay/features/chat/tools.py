"""How the chat is to be."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.chat.persona_models import Layer
from scrubjay.features.chat.personas import MOST_CHARACTERS, Personas
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

PersonaAction = Literal["get", "set_session", "set_project"]


class PersonaRequest(Request):
    model_config = examples({"action": "get"}, {"action": "set_session", "content": "Answer in Italian, and briefly."})

    action: PersonaAction = Field(default="get", description="What to do.")
    content: Annotated[str, Field(max_length=MOST_CHARACTERS)] | None = Field(
        default=None, description="For set_session and set_project, which need it; null takes away what was there."
    )
    session_id: Annotated[str, Field(min_length=1, max_length=400)] | None = Field(
        default=None, description="The session of the chat; by default the client's own."
    )
    project: ProjectReference = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.action == "get") == ("content" in self.model_fields_set):
            raise ValueError(f"{self.action} {'takes no' if self.action == 'get' else 'needs'} content")
        return self


class PersonaResult(Result):
    base: str = Field(description="What holds for all; the operator sets it by SCRUBJAY_MIRA_PERSONA.")
    project: str | None = Field(description="What you added for the project.")
    session: str | None = Field(description="What you added for the session.")
    session_id: str | None = Field(description="The session that is meant.")
    text: str = Field(description="All of it, as the language model of the chat is told.")
    masked: list[str] = Field(description="The kinds of secrets that were found in the content and masked.")


@tool("persona", idempotent=True, core=False, fleeting=True, reading_operations=("get",))
async def persona(
    request: PersonaRequest, personas: Personas, projects: ProjectService, context: CallContext
) -> PersonaResult:
    """Show how the chat is to be, or add to that for a project or a session of yours.

    The chat's language model is told the base first, then what you added for the project, then for the session.
    """
    caller, session_id = context.caller, request.session_id or context.client
    project_id = await project_id_of(request.project, projects, context)
    masked: list[str] = []
    match request.action:
        case "get":
            pass
        case "set_session":
            if session_id is None:
                raise InvalidRequest("nobody knows which session is meant", hint="give session_id")
            masked = await personas.set(caller, Layer.SESSION, session_id, request.content, context.client)
        case "set_project":
            if project_id is None:
                raise InvalidRequest("no project is active", hint="give project, or choose one by set_project")
            masked = await personas.set(caller, Layer.PROJECT, project_id, request.content, context.client)
    found = await personas.get(caller, project_id, session_id or "")
    return PersonaResult(
        base=found.base,
        project=found.project,
        session=found.session,
        session_id=session_id,
        text=found.text,
        masked=masked,
    )

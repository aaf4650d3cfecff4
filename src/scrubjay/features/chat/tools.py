"""The `persona` tool."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.chat.persona_models import PersonaLayer
from scrubjay.features.chat.persona_service import MAX_LAYER_CHARACTERS, PersonaService
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

PersonaAction = Literal["get", "set_session", "set_project"]


class PersonaRequest(Request):
    model_config = examples({"action": "get"}, {"action": "set_session", "content": "Answer in Italian, and briefly."})

    action: PersonaAction = Field(default="get", description="Operation to perform.")
    content: Annotated[str, Field(max_length=MAX_LAYER_CHARACTERS)] | None = Field(
        default=None, description="New text of the layer, for set_session and set_project; null removes the layer."
    )
    session_id: Annotated[str, Field(min_length=1, max_length=400)] | None = Field(
        default=None, description="Chat session. Default: the client's own session."
    )
    project: ProjectReference = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.action == "get") == ("content" in self.model_fields_set):
            raise ValueError(f"{self.action} {'takes no' if self.action == 'get' else 'needs'} content")
        return self


class PersonaResult(Result):
    base: str = Field(description="Base persona of all chats; the operator sets it with SCRUBJAY_MIRA_PERSONA.")
    project: str | None = Field(description="Your layer for the project.")
    session: str | None = Field(description="Your layer for the session.")
    session_id: str | None = Field(description="Session of the session layer.")
    text: str = Field(description="The complete persona, as sent to the chat's language model.")
    masked: list[str] = Field(description="Kinds of secrets that were masked in the content.")


@tool("persona", idempotent=True, core=False, log_payload=False, reading_operations=("get",))
async def persona(
    request: PersonaRequest, personas: PersonaService, projects: ProjectService, context: CallContext
) -> PersonaResult:
    """Show the persona of the chat, or set your layer of it for a project or a session.

    The chat's language model receives the base, then your project layer, then your session layer.
    """
    caller, session_id = context.caller, request.session_id or context.client
    project_id = await project_id_of(request.project, projects, context)
    masked: list[str] = []
    match request.action:
        case "get":
            pass
        case "set_session":
            if session_id is None:
                raise InvalidRequest("the call belongs to no session", hint="pass session_id")
            masked = await personas.set(caller, PersonaLayer.SESSION, session_id, request.content, context.client)
        case "set_project":
            if project_id is None:
                raise InvalidRequest("no project is active", hint="pass project, or select one with set_project")
            masked = await personas.set(caller, PersonaLayer.PROJECT, project_id, request.content, context.client)
    found = await personas.get(caller, project_id, session_id or "")
    return PersonaResult(
        base=found.base,
        project=found.project,
        session=found.session,
        session_id=session_id,
        text=found.text,
        masked=masked,
    )

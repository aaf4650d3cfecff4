"""Rules about what agents may do with their tools; the permission hook heeds them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.permissions.models import Effect, MatchType, PermissionRule
from scrubjay.features.permissions.service import PermissionService
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label, shown_client
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

MAX_PATTERN = 4_000
ToolName = Annotated[str, Field(min_length=1, max_length=200)]


class RuleView(Result):
    """A rule."""

    id: str
    effect: Effect
    tool_name: str
    match_type: MatchType
    pattern: str
    field: str | None = Field(description="The field of the tool's input that is compared; null: all of it as JSON.")
    scope: Literal["global", "project"]
    project: str | None = Field(description="The id of its project; null for a rule that holds everywhere.")
    note: str | None
    created_at: datetime
    created_by: str = Field(description="Who made it: the door that they came through, and the client if it is known.")


class AddRuleRequest(Request):
    model_config = examples(
        {"effect": "deny", "tool_name": "Bash", "field": "command", "match_type": "prefix", "pattern": "rm -rf"},
        {"effect": "ask", "tool_name": "mcp__*", "match_type": "glob", "pattern": "*", "note": "other servers"},
    )

    effect: Effect = Field(
        description="deny, ask the user, or allow. Of several rules that match, deny wins over ask, and ask over allow."
    )
    tool_name: ToolName = Field(
        description="The agent's tool, such as Bash, Edit or mcp__github__create_issue; `*` stands for any characters."
    )
    pattern: str = Field(max_length=MAX_PATTERN, description="What to compare with what the tool is given.")
    match_type: MatchType = Field(
        default=MatchType.PREFIX,
        description="exact; prefix; glob, where `*` is any characters; or regex. All but prefix must fit the whole "
        "text. A regex has no look-around and no backreferences, and takes linear time.",
    )
    field: Label | None = Field(
        default=None,
        description="The field of the tool's input to compare, such as command or file_path; dots lead inwards. By "
        "default all of the input as JSON without spaces and with sorted names.",
    )
    scope: Literal["global", "project"] = Field(
        default="global", description="Where it holds: everywhere, or in one project's folder and all inside of it."
    )
    project: ProjectReference = None
    note: Label | None = Field(default=None, description="Why; the agent is told when the rule decides.")


class AddRuleResult(Result):
    rule: RuleView
    added: bool = Field(description="False when the same rule was there before.")


class ListRulesRequest(Request):
    project: ProjectReference = None


class ListRulesResult(Result):
    rules: list[RuleView] = Field(description="Those of the project and those of all; made last first.")


class RemoveRuleRequest(Request):
    model_config = examples({"rule_id": "rule_01jd8x4v9q2m5n7p3r6s8t0w1y"})

    rule_id: Label = Field(description="The rule's id; list_permission_rules shows it.")


class RemoveRuleResult(Result):
    rule: RuleView = Field(description="What it was.")


class PermissionQuestion(Request):
    model_config = examples({"tool_name": "Bash", "tool_input": {"command": "git push --force"}})

    tool_name: ToolName = Field(description="The agent's tool.")
    tool_input: dict[str, Any] = Field(default_factory=dict[str, Any], description="What the tool would be given.")
    working_directory: Annotated[str, Field(min_length=1, max_length=4_000)] | None = Field(
        default=None, description="The folder that the agent works in; by default that of this client's project."
    )


class PermissionAnswer(Result):
    decision: Effect | None = Field(description="null: no rule applies, so the agent does as it does without rules.")
    reason: str = Field(description="Which rule decides and why, or why none does.")
    rule: RuleView | None = Field(description="The rule that decides.")
    other_rules: list[RuleView] = Field(description="Further rules that match, but do not decide.")


@tool("permissions", idempotent=True, core=False)
async def add_permission_rule(
    request: AddRuleRequest, permissions: PermissionService, projects: ProjectService, context: CallContext
) -> AddRuleResult:
    """Keep a rule about what agents may do with one of their tools.

    Anybody may add rules that deny or ask. Rules that allow are for the owner, who adds them on the command line: no
    caller can give itself more than it has.
    """
    project_id = None
    if request.scope == "project":
        project_id = await project_id_of(request.project, projects, context, make=True)
        if project_id is None:
            raise InvalidRequest("no project is active", hint="name a project, or call set_project first")
    elif request.project is not None:
        raise InvalidRequest("a global rule is of no project", hint='give `scope` "project" as well')
    rule, added = await permissions.add(
        effect=request.effect,
        tool_name=request.tool_name,
        match_type=request.match_type,
        pattern=request.pattern,
        field=request.field,
        project_id=project_id,
        note=request.note,
        surface=context.surface,
        created_by=" ".join(filter(None, [context.surface, shown_client(context.client)])),
    )
    return AddRuleResult(rule=_rule(rule), added=added)


@tool("permissions", read_only=True, core=False)
async def list_permission_rules(
    request: ListRulesRequest, permissions: PermissionService, projects: ProjectService, context: CallContext
) -> ListRulesResult:
    """List the rules about what agents may do: those of all projects and those of this one."""
    rules = await permissions.list(await project_id_of(request.project, projects, context))
    return ListRulesResult(rules=[_rule(rule) for rule in rules])


@tool("permissions", destructive=True, idempotent=False, core=False)
async def remove_permission_rule(
    request: RemoveRuleRequest, permissions: PermissionService, context: CallContext
) -> RemoveRuleResult:
    """Remove a rule. Rules that deny or ask are for the owner to remove, on the command line."""
    return RemoveRuleResult(rule=_rule(await permissions.remove(request.rule_id, context.surface)))


@tool("permissions", read_only=True, core=False)
async def test_permission(
    request: PermissionQuestion, permissions: PermissionService, projects: ProjectService, context: CallContext
) -> PermissionAnswer:
    """Tell what the rules say of a call of an agent's tool, without making it: which rule decides, and why."""
    folder = request.working_directory
    if folder is None:
        project = await projects.active(context.client)
        folder = project.path if project else context.working_directory
    verdict = await permissions.judge(request.tool_name, request.tool_input, [folder] if folder else [])
    return PermissionAnswer(
        decision=verdict.effect,
        reason=verdict.reason,
        rule=_rule(verdict.rule) if verdict.rule else None,
        other_rules=[_rule(rule) for rule in verdict.others],
    )


def _rule(rule: PermissionRule) -> RuleView:
    return RuleView(
        id=rule.id,
        effect=rule.effect,
        tool_name=rule.tool_name,
        match_type=rule.match_type,
        pattern=rule.pattern,
        field=rule.field,
        scope="project" if rule.project_id else "global",
        project=rule.project_id,
        note=rule.note,
        created_at=rule.created_at,
        created_by=rule.created_by,
    )

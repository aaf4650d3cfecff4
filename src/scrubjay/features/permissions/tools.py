"""Tools that manage and test permission rules."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.permissions.models import Effect, MatchType, PermissionRule
from scrubjay.features.permissions.service import PermissionService
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label, visible_client
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
    field: str | None = Field(description="Input field to compare; null for the whole input as JSON.")
    scope: Literal["global", "project"]
    project: str | None = Field(description="Id of its project; null for a global rule.")
    note: str | None
    created_at: datetime
    created_by: str = Field(description="Surface, and client if known, that created it.")


class AddRuleRequest(Request):
    model_config = examples(
        {"effect": "deny", "tool_name": "Bash", "field": "command", "match_type": "prefix", "pattern": "rm -rf"},
        {"effect": "ask", "tool_name": "mcp__*", "match_type": "glob", "pattern": "*", "note": "other servers"},
    )

    effect: Effect = Field(
        description="deny, ask (the user) or allow. Of several matching rules, deny wins over ask, and ask over allow."
    )
    tool_name: ToolName = Field(
        description="The agent's tool, such as Bash, Edit or mcp__github__create_issue; `*` matches any characters."
    )
    pattern: str = Field(max_length=MAX_PATTERN, description="Pattern to compare with the tool's input.")
    match_type: MatchType = Field(
        default=MatchType.PREFIX,
        description="exact; prefix; glob, where `*` matches any characters; or regex. All but prefix must match the "
        "whole text. A regex has no look-around and no backreferences. Shell commands (command, cmd, script) are "
        "compared by words: deny and ask match every spelling, allow covers only the words that it names.",
    )
    field: Label | None = Field(
        default=None,
        description="Input field to compare, such as command or file_path; use dots for nested fields. Default: the "
        "whole input as JSON without spaces and with sorted names, so that a prefix begins with `{`.",
    )
    scope: Literal["global", "project"] = Field(
        default="global",
        description="Where the rule applies: everywhere, or in one project's folder and its subfolders.",
    )
    project: ProjectReference = None
    note: Label | None = Field(default=None, description="Reason; shown to the agent when the rule decides.")


class AddRuleResult(Result):
    rule: RuleView
    added: bool = Field(description="False if an identical rule existed.")


class ListRulesRequest(Request):
    project: ProjectReference = None


class ListRulesResult(Result):
    rules: list[RuleView] = Field(description="Rules of the project and global ones, newest first.")


class RemoveRuleRequest(Request):
    model_config = examples({"rule_id": "rule_01jd8x4v9q2m5n7p3r6s8t0w1y"})

    rule_id: Label = Field(description="Id of the rule, from list_permission_rules.")


class RemoveRuleResult(Result):
    rule: RuleView = Field(description="The removed rule.")


class PermissionQuestion(Request):
    model_config = examples({"tool_name": "Bash", "tool_input": {"command": "git push --force"}})

    tool_name: ToolName = Field(description="The agent's tool.")
    tool_input: dict[str, Any] = Field(default_factory=dict[str, Any], description="Input of the tool.")
    working_directory: Annotated[str, Field(min_length=1, max_length=4_000)] | None = Field(
        default=None, description="Folder in which the agent works; default: the folder of this client's project."
    )


class PermissionAnswer(Result):
    decision: Effect | None = Field(description="null: no rule applies, and the agent decides as without rules.")
    reason: str = Field(description="The deciding rule and why it matches, or why none does.")
    rule: RuleView | None = Field(description="The deciding rule, or one that may match.")
    other_rules: list[RuleView] = Field(description="Further matching rules that do not decide.")


@tool("permissions", idempotent=True, core=False)
async def add_permission_rule(
    request: AddRuleRequest, permissions: PermissionService, projects: ProjectService, context: CallContext
) -> AddRuleResult:
    """Add a rule that denies, asks for or allows calls of an agent's tool.

    Every caller may add rules that deny or ask. Only the owner may add rules that allow, on the command line, so that
    no caller can widen its own permissions.
    """
    project_id = None
    if request.scope == "project":
        project_id = await project_id_of(request.project, projects, context, make=True)
        if project_id is None:
            raise InvalidRequest("no project is active", hint="name a project, or call set_project first")
    elif request.project is not None:
        raise InvalidRequest("a global rule has no project", hint='set `scope` to "project"')
    rule, added = await permissions.add(
        effect=request.effect,
        tool_name=request.tool_name,
        match_type=request.match_type,
        pattern=request.pattern,
        field=request.field,
        project_id=project_id,
        note=request.note,
        surface=context.surface,
        created_by=" ".join(filter(None, [context.surface, visible_client(context.client)])),
    )
    return AddRuleResult(rule=_rule(rule), added=added)


@tool("permissions", read_only=True, core=False)
async def list_permission_rules(
    request: ListRulesRequest, permissions: PermissionService, projects: ProjectService, context: CallContext
) -> ListRulesResult:
    """List the permission rules of this project and the global ones."""
    rules = await permissions.list(await project_id_of(request.project, projects, context))
    return ListRulesResult(rules=[_rule(rule) for rule in rules])


@tool("permissions", destructive=True, idempotent=False, core=False)
async def remove_permission_rule(
    request: RemoveRuleRequest, permissions: PermissionService, context: CallContext
) -> RemoveRuleResult:
    """Remove a permission rule. Only the owner may remove rules that deny or ask, on the command line."""
    return RemoveRuleResult(rule=_rule(await permissions.remove(request.rule_id, context.surface)))


@tool("permissions", read_only=True, core=False)
async def test_permission(
    request: PermissionQuestion, permissions: PermissionService, projects: ProjectService, context: CallContext
) -> PermissionAnswer:
    """Show the decision of the rules on a call of an agent's tool without making the call."""
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

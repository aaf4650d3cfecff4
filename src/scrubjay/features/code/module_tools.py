"""The `summarize_codebase` tool: purpose, exports and dependencies of each module of a project."""

from pydantic import Field

from scrubjay import code_index
from scrubjay.code_index import CodeService
from scrubjay.core.progress import Reporter
from scrubjay.features.code.budgets import Budget, TokenBudget, Truncated
from scrubjay.features.code.repository_tools import Freshness
from scrubjay.features.code.tools import ProjectOption, project_index
from scrubjay.features.projects.service import ProjectService
from scrubjay.models.completion import LanguageModel
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.job_view import ErrorView

# Share of the token budget for entry points, and of the rest for libraries.
LISTS_SHARE = 0.1


class SummarizeCodebaseRequest(Request):
    model_config = examples({}, {"limit": 20})

    project: ProjectOption
    limit: int = Field(default=100, ge=1, le=1_000, description="Maximum number of modules.")
    offset: int = Field(default=0, ge=0, description="Number of modules to skip.")
    token_budget: TokenBudget = 20_000


class ModuleView(Result):
    id: str
    name: str
    path: str
    purpose: str = Field(
        description="What the module is for: from its docstring or README, else from its name and exports."
    )
    exports: list[str] = Field(description="At most 20.")
    depends_on: list[str] = Field(description="Other modules of the project, most used first.")
    symbol_count: int
    line_count: int


class SummarizeCodebaseResult(Result):
    message: str
    name: str
    project_type: str
    method: str = Field(description="structural: by rules; llm: a language model wrote the purposes.")
    problem: ErrorView | None = Field(description="Why the configured language model could not be used, if so.")
    modules: list[ModuleView]
    total: int
    entry_points: list[str]
    external_dependencies: list[str] = Field(description="Libraries, most used first.")
    truncated: Truncated
    freshness: Freshness


@tool("code", read_only=True)
async def summarize_codebase(
    request: SummarizeCodebaseRequest,
    code: CodeService,
    model: LanguageModel,
    projects: ProjectService,
    context: CallContext,
    reporter: Reporter,
) -> SummarizeCodebaseResult:
    """Summarize the modules of the project: purpose, exports and dependencies of each.

    Start here in an unfamiliar repository. A configured language model writes the purposes; without one they come
    from the modules' own documentation and names.
    """
    loaded, freshness = await project_index(request.project, code, projects, context)
    found = await code_index.describe_modules(await code.modules(loaded), model.completer, reporter)
    everything = found.modules.modules
    answer = SummarizeCodebaseResult(
        message=f"Summarized {len(everything)} of {len(everything)} modules",
        name=found.modules.name,
        project_type=found.modules.project_type,
        method=found.method,
        problem=ErrorView.of(found.problem) if found.problem else None,
        modules=[],
        total=len(everything),
        entry_points=[],
        external_dependencies=[],
        truncated=False,
        freshness=freshness,
    )
    budget = Budget(request.token_budget, answer)
    entry_points = budget.fitting_texts(found.modules.entry_points, LISTS_SHARE)
    dependencies = budget.fitting_texts(found.modules.external_deps, LISTS_SHARE)
    shown = budget.fitting(
        (
            ModuleView(
                id=module.id,
                name=module.name,
                path=module.path,
                purpose=module.purpose,
                exports=list(module.exports),
                depends_on=list(module.depends_on),
                symbol_count=module.symbol_count,
                line_count=module.line_count,
            )
            for module in everything[request.offset : request.offset + request.limit]
        ),
        at_least=1,
    )
    return answer.model_copy(
        update={
            "message": f"Summarized {len(shown)} of {len(everything)} modules",
            "modules": shown,
            "entry_points": entry_points,
            "external_dependencies": dependencies,
            "truncated": request.offset + len(shown) < len(everything)
            or len(entry_points) < len(found.modules.entry_points)
            or len(dependencies) < len(found.modules.external_deps),
        }
    )

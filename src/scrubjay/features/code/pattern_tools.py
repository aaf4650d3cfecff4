"""Code by its form: regular expressions over the files of an index, and code with holes over their syntax."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from scrubjay.code_index.models import FileTrait, Language
from scrubjay.code_index.pattern_search.messages import Expression, Question, Structure
from scrubjay.code_index.service import CodeService, Loaded
from scrubjay.code_index.store import IndexedFile
from scrubjay.core.errors import InvalidRequest
from scrubjay.features.code.budgets import Budget, TokenBudget, Truncated, tokens_of_view
from scrubjay.features.code.graph_tools import IndexOption, chosen_index
from scrubjay.features.code.repository_tools import Freshness, Shown, printable_path
from scrubjay.features.code.tools import ProjectOption
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

if TYPE_CHECKING:
    from scrubjay.code_index.pattern_search.messages import Match
    from scrubjay.code_index.pattern_search.service import Found

# What the program itself says is told before what is beside it.
_BESIDE = FileTrait.TEST | FileTrait.EXAMPLE | FileTrait.DOCUMENTATION | FileTrait.VENDORED | FileTrait.GENERATED
MOST_NAMED = 20

Glob = Annotated[str, Field(min_length=1, max_length=500)]
Seconds = Annotated[float, Field(gt=0, le=60, description="How long may be looked; then what was found is told.")]


class FormRequest(Request):
    """What a search by form takes, whatever the form."""

    pattern: str
    include: list[Glob] = Field(
        default=[], max_length=50, description="Only files that one of these names, as in a .gitignore."
    )
    exclude: list[Glob] = Field(default=[], max_length=50, description="No files that one of these names, likewise.")
    output: Literal["places", "counts"] = Field(default="places", description="counts: only how many each file has.")
    context_lines: int = Field(default=0, ge=0, le=20, description="How many lines around each place are shown.")
    limit: int = Field(default=50, ge=1, le=1_000, description="How many places at most; of counts, files.")
    offset: int = Field(default=0, ge=0, le=10_000, description="How many are passed over.")
    seconds: Seconds = 10.0
    token_budget: TokenBudget = 8_000
    project: ProjectOption
    index_id: IndexOption


class SearchPatternRequest(FormRequest):
    model_config = examples(
        {"pattern": r"def \w+_handler\(", "include": ["src/**/*.py"]},
        {"pattern": "TODO(", "literal": True, "output": "counts"},
    )

    pattern: str = Field(
        min_length=1,
        max_length=2_000,
        description="A regular expression in Python's syntax; ^ and $ are the beginning and end of a line.",
    )
    literal: bool = Field(default=False, description="Whether the pattern is plain text.")
    case: Literal["sensitive", "insensitive", "smart"] = Field(
        default="sensitive", description="smart: capitals count if the pattern has any."
    )
    word: bool = Field(default=False, description="Only whole words.")
    multiline: bool = Field(default=False, description="Whether a match may go over lines; then a dot is any sign.")
    language: Language | None = Field(default=None, description="Only files of this language.")


class SearchStructureRequest(FormRequest):
    model_config = examples(
        {"pattern": "$CLIENT.get($$$ARGS, timeout=$T)", "language": "python"},
        {"pattern": "if err != nil { return $$$ }", "language": "go"},
    )

    pattern: str = Field(
        min_length=1,
        max_length=2_000,
        description="Code with holes: $NAME is one thing, the same wherever the name is the same; $$$NAME is any "
        "number of neighbours (arguments, statements, parameters); $_ and $$$ are whatever. Layout does not count.",
    )
    language: Language = Field(description="The language of the pattern; only its files are looked through.")
    seconds: Seconds = 20.0


class PlaceView(Result):
    lines: list[int] = Field(description="The first line and the last, counted from 1.")
    column: int = Field(description="Where it begins on its first line, counted from 1.")
    span: list[int] = Field(description="The first byte, and the one behind the last.")
    symbol: str = Field(description="The definition that it is in; empty when it is in none.")
    content: Shown = Field(description="The whole lines.")
    captures: dict[str, str | list[str]] = Field(description="What the holes, or the groups with names, hold.")


class MatchedFile(Result):
    path: str
    language: Language
    count: int = Field(description="How many lines have a match, or how many places are of the form.")
    content_sha: str = Field(description="The id that git gives the file's content.")
    matches: list[PlaceView]


class SearchPatternResult(Result):
    files: list[MatchedFile] = Field(description="The program itself first, then tests and the like; by path.")
    total: int = Field(description="How many places there are in all files that were looked through.")
    total_files: int = Field(description="How many files have one.")
    looked_at: int = Field(description="How many files were read: the words of the index tell that no other can match.")
    unread: list[str] = Field(description="Files that changed since they were indexed, or that could not be read.")
    timed_out: bool = Field(description="Whether time was over before all was looked at.")
    stopped_at: list[str] = Field(description="The files that were being looked through then.")
    truncated: Truncated
    freshness: Freshness


@tool("code", read_only=True, core=False)
async def search_pattern(
    request: SearchPatternRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> SearchPatternResult:
    """Find the lines that fit a regular expression in the indexed files of a project, with the definitions they are in.

    For what must be complete, such as every use of a text; semantic_code_search finds what a question means. Ignored
    files are never looked at, and secrets cannot be found.
    """
    insensitive = request.case == "insensitive" or (request.case == "smart" and request.pattern.islower())
    wanted = Expression(request.pattern, request.literal, insensitive, request.word, request.multiline)
    return await _searched(wanted, request, request.language, code, projects, context)


@tool("code", read_only=True, core=False)
async def search_structure(
    request: SearchStructureRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> SearchPatternResult:
    """Find code of a certain form, written as code with holes, and tell what the holes hold.

    By syntax: comments, line ends and blanks make no difference, and a match is a whole expression, statement or
    definition. For every language that is read by its syntax.
    """
    wanted = Structure(request.pattern, request.language)
    return await _searched(wanted, request, request.language, code, projects, context)


async def _searched(
    wanted: Expression | Structure,
    request: FormRequest,
    language: Language | None,
    code: CodeService,
    projects: ProjectService,
    context: CallContext,
) -> SearchPatternResult:
    from scrubjay.code_index.pattern_search.service import find

    loaded, freshness = await chosen_index(request.index_id, request.project, code, projects, context)
    counts = request.output == "counts"
    most = 0 if counts else request.offset + request.limit
    included, excluded = _named(request.include), _named(request.exclude)

    def wants(file: IndexedFile) -> bool:
        if language is not None and file.content.language is not language:
            return False
        return (included is None or included(file.path)) and (excluded is None or not excluded(file.path))

    found = await find(
        Question(wanted, most, request.context_lines),
        code,
        loaded,
        wants=wants,
        order=lambda file: (bool(file.traits & _BESIDE), file.path),
        seconds=request.seconds,
    )
    answer = SearchPatternResult(
        files=[],
        total=sum(count for _, count, _ in found.files),
        total_files=len(found.files),
        looked_at=found.looked_at - found.unlooked,
        unread=[_path(row, loaded) for row in found.unread[:MOST_NAMED]],
        timed_out=bool(found.stopped_at),
        stopped_at=[_path(row, loaded) for row in found.stopped_at],
        truncated=False,
        freshness=freshness,
    )
    left = Budget(request.token_budget, answer).left
    files, complete = (_counted if counts else _placed)(found, request, loaded, left)
    truncated = not complete or bool(found.stopped_at or found.unread)
    return answer.model_copy(update={"files": files, "truncated": truncated})


def _named(globs: Sequence[str]) -> Callable[[str], bool] | None:
    """Whether one of these names a path; None when there are none."""
    from scrubjay.code_index.discovery.ignore_rules import IgnoreRules

    rules: list[IgnoreRules] = []
    for glob in globs:
        rules.append(IgnoreRules())
        rules[-1].add("", [glob])
        if not rules[-1]:
            raise InvalidRequest(f"{glob!r} names no files", hint="write it as in a .gitignore, such as src/**/*.py")
    return (lambda path: any(rule.ignores(path) for rule in rules)) if rules else None


def _counted(found: "Found", request: FormRequest, loaded: Loaded, left: int) -> tuple[list[MatchedFile], bool]:
    wanted = found.files[request.offset : request.offset + request.limit]
    files: list[MatchedFile] = []
    for row, count, _ in wanted:
        view = _file(row, count, [], loaded)
        left -= tokens_of_view(view)
        if left < 0 and files:
            break
        files.append(view)
    return files, request.offset + len(files) >= len(found.files)


def _placed(found: "Found", request: FormRequest, loaded: Loaded, left: int) -> tuple[list[MatchedFile], bool]:
    """The places of this page, as many as the budget lets; and whether these are the last ones."""
    files: list[MatchedFile] = []
    place, end = 0, request.offset + request.limit
    for row, count, matches in found.files:
        views: list[PlaceView] = []
        wanted = matches[max(0, request.offset - place) : max(0, end - place)]
        if wanted:
            left -= tokens_of_view(_file(row, count, [], loaded))
        for match in wanted:
            view = _place(match, row, loaded)
            left -= tokens_of_view(view)
            if left < 0 and (files or views):  # one in any case: else nobody would come to what is behind it
                break
            views.append(view)
        if views:
            files.append(_file(row, count, views, loaded))
        place += count
        if left < 0 or place >= end:
            break
    total = sum(count for _, count, _ in found.files)
    return files, request.offset + sum(len(file.matches) for file in files) >= total


def _file(row: int, count: int, matches: list[PlaceView], loaded: Loaded) -> MatchedFile:
    file = loaded.corpus.files[row]
    return MatchedFile(
        path=_path(row, loaded),
        language=file.content.language,
        count=count,
        content_sha=file.content.blob,
        matches=matches,
    )


def _place(match: "Match", row: int, loaded: Loaded) -> PlaceView:
    symbol = loaded.names.around(row, match.start)
    return PlaceView(
        lines=[match.first_line, match.last_line],
        column=match.column,
        span=[match.start, match.end],
        symbol=loaded.names.qualified(symbol) if symbol >= 0 else "",
        content=Shown(pre=match.before, text=match.text, post=match.after),
        captures=match.captures,
    )


def _path(row: int, loaded: Loaded) -> str:
    return printable_path(loaded.corpus.files[row].path)

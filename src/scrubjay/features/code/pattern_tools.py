"""Tools that search indexed files by regular expression and by structural pattern."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from scrubjay import code_index
from scrubjay.code_index import CodeService, FileTrait, IndexedFile, Language, LoadedIndex
from scrubjay.core.errors import InvalidRequest
from scrubjay.features.code.budgets import Budget, TokenBudget, Truncated, tokens_of_view
from scrubjay.features.code.graph_tools import IndexOption, chosen_index
from scrubjay.features.code.repository_tools import CodeExcerptView, Freshness, printable_path
from scrubjay.features.code.tools import ProjectOption
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

if TYPE_CHECKING:
    from scrubjay.code_index import Expression, PatternMatch, PatternSearchResult, Structure

# Matches in program code are listed before matches in these files.
_SUPPORTING = FileTrait.TEST | FileTrait.EXAMPLE | FileTrait.DOCUMENTATION | FileTrait.VENDORED | FileTrait.GENERATED
MAX_NAMED_PATHS = 20

Glob = Annotated[str, Field(min_length=1, max_length=500)]
Seconds = Annotated[float, Field(gt=0, le=60, description="Time limit; matches found by then are returned.")]


class CodePatternRequest(Request):
    """Arguments that both pattern searches share."""

    pattern: str
    include: list[Glob] = Field(
        default=[], max_length=50, description="Only files that match one of these patterns, in .gitignore syntax."
    )
    exclude: list[Glob] = Field(default=[], max_length=50, description="Skip files that match one of these patterns.")
    output: Literal["matches", "counts"] = Field(default="matches", description="counts: only the number in each file.")
    context_lines: int = Field(default=0, ge=0, le=20, description="Lines of context around each match.")
    limit: int = Field(default=50, ge=1, le=1_000, description="Maximum number of matches; of files for counts.")
    offset: int = Field(default=0, ge=0, le=10_000, description="Number of matches to skip; of files for counts.")
    seconds: Seconds = 10.0
    token_budget: TokenBudget = 8_000
    project: ProjectOption
    index_id: IndexOption


class SearchPatternRequest(CodePatternRequest):
    model_config = examples(
        {"pattern": r"def \w+_handler\(", "include": ["src/**/*.py"]},
        {"pattern": "TODO(", "literal": True, "output": "counts"},
    )

    pattern: str = Field(
        min_length=1,
        max_length=2_000,
        description="A regular expression in Python syntax; ^ and $ match at the start and end of each line.",
    )
    literal: bool = Field(default=False, description="Treat the pattern as plain text.")
    case: Literal["sensitive", "insensitive", "smart"] = Field(
        default="sensitive", description="smart: case-sensitive only if the pattern has capitals."
    )
    word: bool = Field(default=False, description="Match whole words only.")
    multiline: bool = Field(default=False, description="Allow matches across lines; a dot then matches newlines too.")
    language: Language | None = Field(default=None, description="Only files of this language.")


class SearchStructureRequest(CodePatternRequest):
    model_config = examples(
        {"pattern": "$CLIENT.get($$$ARGS, timeout=$T)", "language": "python"},
        {"pattern": "if err != nil { return $$$ }", "language": "go"},
    )

    pattern: str = Field(
        min_length=1,
        max_length=2_000,
        description="Code with metavariables: $NAME matches one node, the same one wherever the name repeats; $$$NAME "
        "matches any number of siblings (arguments, statements, parameters); $_ and $$$ match anything. Layout is "
        "ignored.",
    )
    language: Language = Field(description="The language of the pattern; only files of this language are searched.")
    seconds: Seconds = 20.0


class CodeMatchView(Result):
    lines: list[int] = Field(description="First and last line, counted from 1.")
    column: int = Field(description="Column of the first character, counted from 1.")
    span: list[int] = Field(description="Byte offsets: first byte, and one past the last.")
    symbol: str = Field(description="The enclosing definition; empty if there is none.")
    content: CodeExcerptView = Field(description="The complete lines.")
    captures: dict[str, str | list[str]] = Field(description="Text of the metavariables, or of the named groups.")


class MatchedFile(Result):
    path: str
    language: Language
    count: int = Field(description="Number of matching lines, or of structural matches.")
    content_sha: str = Field(description="The git blob id of the file's content.")
    matches: list[CodeMatchView]


class SearchPatternResult(Result):
    files: list[MatchedFile] = Field(description="Program code first, then tests and the like; by path.")
    total: int = Field(description="Number of matches in all searched files.")
    total_files: int = Field(description="Number of files with a match.")
    files_read: int = Field(description="Number of files read; the index rules out all others.")
    unread: list[str] = Field(description="Files that changed since they were indexed, or could not be read.")
    timed_out: bool = Field(description="Whether the time limit ended the search early.")
    stopped_at: list[str] = Field(description="The files being searched when the time ran out.")
    truncated: Truncated
    freshness: Freshness


@tool("code", read_only=True, core=False)
async def search_pattern(
    request: SearchPatternRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> SearchPatternResult:
    """Find the lines that match a regular expression in the indexed files of a project, with their definitions.

    Use this when the result must be complete, such as every use of a string; semantic_code_search finds code by
    meaning. Ignored files are never read, and secrets cannot be found.
    """
    insensitive = request.case == "insensitive" or (request.case == "smart" and request.pattern.islower())
    wanted = code_index.Expression(request.pattern, request.literal, insensitive, request.word, request.multiline)
    return await _search(wanted, request, request.language, code, projects, context)


@tool("code", read_only=True, core=False)
async def search_structure(
    request: SearchStructureRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> SearchPatternResult:
    """Find code by a structural pattern: code with metavariables, whose matches are returned.

    Matches syntax trees: comments, line breaks and whitespace make no difference, and a match is a complete
    expression, statement or definition. Works for every language with a parser.
    """
    wanted = code_index.Structure(request.pattern, request.language)
    return await _search(wanted, request, request.language, code, projects, context)


async def _search(
    wanted: "Expression | Structure",
    request: CodePatternRequest,
    language: Language | None,
    code: CodeService,
    projects: ProjectService,
    context: CallContext,
) -> SearchPatternResult:
    loaded, freshness = await chosen_index(request.index_id, request.project, code, projects, context)
    counts = request.output == "counts"
    most = 0 if counts else request.offset + request.limit
    included, excluded = _glob_filter(request.include), _glob_filter(request.exclude)

    def wants(file: IndexedFile) -> bool:
        if language is not None and file.content.language is not language:
            return False
        return (included is None or included(file.path)) and (excluded is None or not excluded(file.path))

    found = await code_index.find(
        code_index.PatternQuery(wanted, most, request.context_lines),
        code,
        loaded,
        wants=wants,
        order=lambda file: (bool(file.traits & _SUPPORTING), file.path),
        seconds=request.seconds,
    )
    answer = SearchPatternResult(
        files=[],
        total=sum(count for _, count, _ in found.files),
        total_files=len(found.files),
        files_read=found.searched - found.not_searched,
        unread=[_path(row, loaded) for row in found.unread[:MAX_NAMED_PATHS]],
        timed_out=bool(found.stopped_at),
        stopped_at=[_path(row, loaded) for row in found.stopped_at],
        truncated=False,
        freshness=freshness,
    )
    left = Budget(request.token_budget, answer).left
    files, complete = (_count_page if counts else _match_page)(found, request, loaded, left)
    truncated = not complete or bool(found.stopped_at or found.unread)
    return answer.model_copy(update={"files": files, "truncated": truncated})


def _glob_filter(globs: Sequence[str]) -> Callable[[str], bool] | None:
    """Return a predicate that is true for paths matching one of these; None if there are no patterns."""
    rules: list[code_index.IgnoreRules] = []
    for glob in globs:
        rules.append(code_index.IgnoreRules())
        rules[-1].add("", [glob])
        if not rules[-1]:
            raise InvalidRequest(f"{glob!r} matches no files", hint="use .gitignore syntax, such as src/**/*.py")
    return (lambda path: any(rule.ignores(path) for rule in rules)) if rules else None


def _count_page(
    found: "PatternSearchResult", request: CodePatternRequest, loaded: LoadedIndex, left: int
) -> tuple[list[MatchedFile], bool]:
    wanted = found.files[request.offset : request.offset + request.limit]
    files: list[MatchedFile] = []
    for row, count, _ in wanted:
        view = _file_view(row, count, [], loaded)
        left -= tokens_of_view(view)
        if left < 0 and files:
            break
        files.append(view)
    return files, request.offset + len(files) >= len(found.files)


def _match_page(
    found: "PatternSearchResult", request: CodePatternRequest, loaded: LoadedIndex, left: int
) -> tuple[list[MatchedFile], bool]:
    """Return the matches of this page that fit the budget, and whether they are the last ones."""
    files: list[MatchedFile] = []
    place, end = 0, request.offset + request.limit
    for row, count, matches in found.files:
        views: list[CodeMatchView] = []
        wanted = matches[max(0, request.offset - place) : max(0, end - place)]
        if wanted:
            left -= tokens_of_view(_file_view(row, count, [], loaded))
        for match in wanted:
            view = _match_view(match, row, loaded)
            left -= tokens_of_view(view)
            if left < 0 and (files or views):  # at least one, or paging could never get past it
                break
            views.append(view)
        if views:
            files.append(_file_view(row, count, views, loaded))
        place += count
        if left < 0 or place >= end:
            break
    total = sum(count for _, count, _ in found.files)
    return files, request.offset + sum(len(file.matches) for file in files) >= total


def _file_view(row: int, count: int, matches: list[CodeMatchView], loaded: LoadedIndex) -> MatchedFile:
    file = loaded.corpus.files[row]
    return MatchedFile(
        path=_path(row, loaded),
        language=file.content.language,
        count=count,
        content_sha=file.content.blob,
        matches=matches,
    )


def _match_view(match: "PatternMatch", row: int, loaded: LoadedIndex) -> CodeMatchView:
    symbol = loaded.names.enclosing(row, match.start)
    return CodeMatchView(
        lines=[match.first_line, match.last_line],
        column=match.column,
        span=[match.start, match.end],
        symbol=loaded.names.qualified(symbol) if symbol >= 0 else "",
        content=CodeExcerptView(pre=match.before, text=match.text, post=match.after),
        captures=match.captures,
    )


def _path(row: int, loaded: LoadedIndex) -> str:
    return printable_path(loaded.corpus.files[row].path)

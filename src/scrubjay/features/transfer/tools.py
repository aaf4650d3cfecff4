"""Tools that export and import memories."""

from typing import Annotated, Literal

from pydantic import Field

from scrubjay.features.memory.link_review import LinkReviewer
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.transfer.exporter import Exporter, ExportResult
from scrubjay.features.transfer.formats import Included
from scrubjay.features.transfer.importer import Importer, ImportResult, Mode
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.jobs.service import JobRun

FilePath = Annotated[str, Field(min_length=1, max_length=1_000)]


class ExportDatabaseRequest(Request):
    model_config = examples({}, {"include": ["summaries"], "path": "summaries-of-march.jsonl"})

    include: list[Included] = Field(
        default=["memories", "summaries", "tasks", "goals"],
        min_length=1,
        max_length=4,
        description="What to export: memories (of every kind but summaries), summaries, tasks, goals (with their "
        "milestones); by default all of it.",
    )
    path: FilePath | None = Field(
        default=None,
        description="File to write: a name in the backup folder, or a path in an allowed folder. Default: a name "
        "with the current time. An existing file is never overwritten.",
    )


class ExportDatabaseResult(Result):
    message: str = Field(description="Summary of the export.")
    path: str = Field(description="The file on the server's machine, readable only by its owner.")
    memories: int = Field(description="Number of exported memories, including former versions.")
    summaries: int = Field(description="Number of exported summaries.")
    tasks: int = Field(description="Number of exported tasks.")
    goals: int = Field(description="Number of exported goals; their milestones are included.")
    counts: dict[str, int] = Field(description="Number of memories by kind.")
    checksum: str = Field(description="SHA-256 of all lines before the last; the last line contains it.")
    bytes: int = Field(description="Size of the file in bytes.")


class ImportDatabaseRequest(Request):
    model_config = examples(
        {"file": "scrubjay-2026-01-31T12-00-00-000000.jsonl"}, {"file": "conversations.json", "project": "/home/ada/x"}
    )

    file: FilePath = Field(
        description="File to read: a name in the backup folder, or a path in an allowed folder.",
    )
    mode: Mode = Field(
        default="merge",
        description="merge adds new records and never changes existing ones. replace deletes all memories of the kinds "
        "in the file, and all tasks or goals if the file has any, in every project, and adds those of the file, in "
        "one step.",
    )
    project: Annotated[str, Field(min_length=1, max_length=500)] | None = Field(
        default=None,
        description="For files of other programs: the project (path, name or id) of all imported memories. Default: "
        "the project that the file names, else the active project.",
    )


class ImportDatabaseResult(Result):
    imported: int = Field(description="Number of imported memories.")
    skipped: int = Field(
        description="Number of memories skipped because their id, or their key in the same scope, exists."
    )
    mode: Literal["merge", "replace"] = Field(description="The requested mode.")
    message: str = Field(description="Summary of the import.")
    file: str = Field(description="Absolute path of the file.")
    format: str | None = Field(
        description="Detected format: scrubjay, neo, claude-code, openai or mcp-memory; null for an empty file."
    )
    erased: int = Field(description="Number of deleted memories; 0 unless mode is replace.")
    tasks: int = Field(description="Number of imported tasks.")
    goals: int = Field(description="Number of imported goals.")
    plans_skipped: int = Field(description="Number of tasks and goals skipped because their id exists.")
    plans_erased: int = Field(description="Number of deleted tasks and goals; 0 unless mode is replace.")
    masked: int = Field(description="Number of memories in which a likely secret was masked.")
    ignored: dict[str, int] = Field(description="Number of ignored entries in the file, by type.")


@tool("transfer", runs_as_job=True, core=False, reads=("memory", "planning"))
async def export_database(
    request: ExportDatabaseRequest, exporter: Exporter, links: LinkReviewer, context: CallContext, run: JobRun
) -> ExportDatabaseResult:
    """Export all memories, summaries, tasks and goals of every project to one file on the server's machine.

    Use it for backups and to move to another store. The file is a consistent snapshot and appears only after it was
    read back and verified. It contains no vectors; an import computes them again. Links of memories to code, with the
    text of the code, are included if your key may read that code.
    """
    may_read_code = await links.readable_roots(context.caller) if context.caller.holds_key else None
    done = await exporter.export(request.include, request.path, run, may_read_code=may_read_code)
    memories, summaries = done.count("memories"), done.count("summaries")
    return ExportDatabaseResult(
        message=f"Export complete. Exported {memories} memories and {summaries} summaries.{_plans_message(done)}",
        path=str(done.path),
        memories=memories,
        summaries=summaries,
        tasks=done.tasks,
        goals=done.goals,
        counts={kind.value: count for kind, count in done.counts.items()},
        checksum=done.checksum,
        bytes=done.bytes,
    )


@tool("transfer", runs_as_job=True, destructive=True, core=False)
async def import_database(
    request: ImportDatabaseRequest, importer: Importer, projects: ProjectService, context: CallContext, run: JobRun
) -> ImportDatabaseResult:
    """Import memories from a file of export_database or of another program.

    Also supported: Neo backups, Claude Code session logs, OpenAI's conversations.json and the file of the MCP reference
    memory server; the format is detected. The whole file is validated first: a truncated, damaged or unknown file
    changes nothing. Importing a file again adds nothing.
    """
    if request.project is not None:
        project = await projects.find(request.project, context.working_directory, make=True)
    else:
        project = await projects.active(context.client)
    done = await importer.import_file(
        request.file,
        request.mode,
        run,
        import_id=run.job_id,
        project_id=project.id if project else None,
        override_project=request.project is not None,
        client=context.client,
        resume=run.resumed,
    )
    return ImportDatabaseResult(
        imported=done.progress.imported,
        skipped=done.progress.skipped,
        mode=request.mode,
        message=_message(done),
        file=str(done.path),
        format=done.format,
        erased=done.progress.erased,
        tasks=done.progress.tasks,
        goals=done.progress.goals,
        plans_skipped=done.progress.plans_skipped,
        plans_erased=done.progress.plans_erased,
        masked=done.masked,
        ignored=dict(done.ignored),
    )


def _plans_message(done: ExportResult) -> str:
    return f" Also {done.tasks} tasks and {done.goals} goals." if done.tasks or done.goals else ""


def _message(done: ImportResult) -> str:
    progress = done.progress
    plans = progress.tasks + progress.goals + progress.plans_skipped
    if progress.imported + progress.skipped + plans == 0:
        return f"No records found in {done.path.name}"
    text = f"Import complete. Imported {progress.imported} records and skipped {progress.skipped}."
    if plans:
        text += f" Also {progress.tasks} tasks and {progress.goals} goals, {progress.plans_skipped} skipped."
    if done.ignored:
        text += f" {sum(done.ignored.values())} other entries in the file were ignored."
    if done.other_model:
        text += " The embedding model changed during the import: run embed_memories to add missing vectors."
    return text

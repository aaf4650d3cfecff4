"""Moving memories out and in."""

from typing import Annotated, Literal

from pydantic import Field

from scrubjay.features.projects.service import ProjectService
from scrubjay.features.transfer.exporter import Exported, Exporter
from scrubjay.features.transfer.formats import Included
from scrubjay.features.transfer.importer import Imported, Importer, Mode
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
        description="The file to write: a name in the folder for backups, or a path in a folder that the server "
        "allows. By default a name with the time. An existing file is never overwritten.",
    )


class ExportDatabaseResult(Result):
    message: str = Field(description="What was exported, in words.")
    path: str = Field(description="The file on the server's machine, readable for its owner only.")
    memories: int = Field(description="How many memories are in it, former versions included.")
    summaries: int = Field(description="How many summaries are in it.")
    tasks: int = Field(description="How many tasks are in it.")
    goals: int = Field(description="How many goals are in it, with their milestones.")
    counts: dict[str, int] = Field(description="How many memories of each kind.")
    checksum: str = Field(description="The SHA-256 of all lines before the last one, which has it too.")
    bytes: int = Field(description="The size of the file.")


class ImportDatabaseRequest(Request):
    model_config = examples(
        {"file": "scrubjay-2026-01-31T12-00-00-000000.jsonl"}, {"file": "conversations.json", "project": "/home/ada/x"}
    )

    file: FilePath = Field(
        description="The file to read: a name in the folder for backups, or a path in a folder that the server allows.",
    )
    mode: Mode = Field(
        default="merge",
        description="merge adds what is not there yet and never changes what is. replace lets the file take the place "
        "of all memories of the kinds it holds, and of all tasks or goals if it has them, in every project, in one "
        "step.",
    )
    project: Annotated[str, Field(min_length=1, max_length=500)] | None = Field(
        default=None,
        description="For another program's file: the project (path, name or id) that everything in it goes to. By "
        "default the one that the file names, else the active one.",
    )


class ImportDatabaseResult(Result):
    imported: int = Field(description="How many memories were kept.")
    skipped: int = Field(
        description="How many were not, because the store has one with the same id, or the same key in the same scope."
    )
    mode: Literal["merge", "replace"] = Field(description="What was asked for.")
    message: str = Field(description="What happened, in words.")
    file: str = Field(description="The whole path of the file.")
    format: str | None = Field(
        description="Who wrote it: scrubjay, neo, claude-code, openai or mcp-memory; null when it is empty."
    )
    erased: int = Field(description="How many memories had to go; only mode replace erases any.")
    tasks: int = Field(description="How many tasks were kept.")
    goals: int = Field(description="How many goals were kept.")
    plans_skipped: int = Field(description="How many tasks and goals were not, because the store has their id.")
    plans_erased: int = Field(description="How many tasks and goals had to go.")
    masked: int = Field(description="In how many memories something that looks like a secret was masked.")
    left_out: dict[str, int] = Field(
        description="What else is in the file and brings no memory, by what it is: how often."
    )


@tool("transfer", runs_as_job=True, core=False)
async def export_database(request: ExportDatabaseRequest, exporter: Exporter, run: JobRun) -> ExportDatabaseResult:
    """Write all memories, summaries, tasks and goals, of every project, into one file on the server's machine.

    For backups and for moving to another store. The file holds one moment: nothing is torn, and what is written later
    is not in it. It appears only when it was read back and found whole. Vectors are not in it: they are made again.
    """
    done = await exporter.export(request.include, request.path, run)
    memories, summaries = done.count("memories"), done.count("summaries")
    return ExportDatabaseResult(
        message=f"Export complete. Exported {memories} memories and {summaries} summaries.{_planned(done)}",
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
    """Bring in memories from a file: one of export_database, or one that another program wrote.

    Known are Neo's backups, session logs of Claude Code, conversations.json of OpenAI, and the file of MCP's reference
    memory server, told by what is in them. A file is read whole first; one that is torn, damaged or unknown changes
    nothing. Importing a file twice keeps everything once.
    """
    if request.project is not None:
        project = await projects.find(request.project, context.working_directory, make=True)
    else:
        project = await projects.active(context.client)
    done = await importer.bring_in(
        request.file,
        request.mode,
        run,
        import_id=run.job_id,
        project_id=project.id if project else None,
        only_there=request.project is not None,
        client=context.client,
        goes_on=run.resumed,
    )
    return ImportDatabaseResult(
        imported=done.arrived.imported,
        skipped=done.arrived.skipped,
        mode=request.mode,
        message=_message(done),
        file=str(done.path),
        format=done.format,
        erased=done.arrived.erased,
        tasks=done.arrived.tasks,
        goals=done.arrived.goals,
        plans_skipped=done.arrived.plans_skipped,
        plans_erased=done.arrived.plans_erased,
        masked=done.masked,
        left_out=dict(done.left_out),
    )


def _planned(done: Exported) -> str:
    return f" Also {done.tasks} tasks and {done.goals} goals." if done.tasks or done.goals else ""


def _message(done: Imported) -> str:
    arrived = done.arrived
    plans = arrived.tasks + arrived.goals + arrived.plans_skipped
    if arrived.imported + arrived.skipped + plans == 0:
        return f"No records found in {done.path.name}"
    said = f"Import complete. Imported {arrived.imported} records and skipped {arrived.skipped}."
    if plans:
        said += f" Also {arrived.tasks} tasks and {arrived.goals} goals, {arrived.plans_skipped} skipped."
    if done.left_out:
        said += f" {sum(done.left_out.values())} other things in the file bring no memory."
    if done.other_model:
        said += " Another embedding model was chosen meanwhile: embed_memories makes the vectors that are missing."
    return said

"""Tools that write an index to a bundle file and open such a file."""

from pathlib import Path

from pydantic import Field

from scrubjay import code_index
from scrubjay.code_index import CodeService
from scrubjay.core.progress import Reporter
from scrubjay.features.code.index_jobs import CodeJobGuard
from scrubjay.features.code.repository_tools import Freshness, IndexId, freshness_of, known_index
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.jobs.service import JobRun


class GetRepoBundleRequest(Request):
    model_config = examples({"index_id": "idx_abc"})

    index_id: IndexId


class GetRepoBundleResult(Result):
    bundle_uri: str = Field(description="Read it as an MCP resource, or stream it with GET /v1/resources?uri=….")
    manifest_uri: str
    path: str = Field(description="Path of the file on the server's machine.")
    bytes: int
    freshness: Freshness


class OpenRepoBundleRequest(Request):
    model_config = examples({"path": "/home/you/bundle.tar.zst"})

    path: str = Field(
        min_length=1, max_length=4_096, description="Path of the bundle: absolute, or relative to your working folder."
    )


class BundleOriginView(Result):
    index_id: str
    root: str
    rev: str


class OpenRepoBundleResult(Result):
    index_id: str = Field(description="Id of the opened index, for search_repo and ask_index.")
    files: int
    without_text: int = Field(
        description="Number of files that the bundle lists without their text; searches cannot find them."
    )
    symbols: int
    origin: BundleOriginView = Field(description="The index that the bundle was made from.")


@tool("code", idempotent=True, core=False)
async def get_repo_bundle(
    request: GetRepoBundleRequest, code: CodeService, reporter: Reporter, context: CallContext
) -> GetRepoBundleResult:
    """Export an indexed repository to one file, bundle.tar.zst, and return its path.

    The bundle contains ranks, definitions, uses, vectors and texts of the files, types and sources of imported
    libraries that are on disk, a manifest and a log; secrets are masked. Open it with open_repo_bundle, also on another
    machine. Returns at once if the index has not changed since the last export.
    """
    await known_index(request.index_id, code, context)
    file = await code_index.write_bundle(code, request.index_id, reporter)
    record = await known_index(request.index_id, code, context)
    return GetRepoBundleResult(
        bundle_uri=f"mimir://indexes/{record.id}/bundle.tar.zst",
        manifest_uri=f"mimir://indexes/{record.id}/manifest.json",
        path=str(file),
        bytes=file.stat().st_size,
        freshness=freshness_of(record, None),
    )


@tool("code", runs_as_job=True, idempotent=True, core=False, job_guard=CodeJobGuard)
async def open_repo_bundle(
    request: OpenRepoBundleRequest, code: CodeService, context: CallContext, run: JobRun
) -> OpenRepoBundleResult:
    """Open a bundle written by get_repo_bundle, so that it can be searched without the repository.

    Only paths and texts are taken from the bundle; everything else is computed again. Malformed bundles are rejected.
    Opening the same bundle again returns the same index.
    """
    file = await code.folders.permit_file(request.path, context.working_directory, restricted=context.caller.holds_key)
    opened = await code_index.open_bundle(code.indexer, Path(file), run)
    return OpenRepoBundleResult(
        index_id=opened.record.id,
        files=opened.files,
        without_text=opened.without_text,
        symbols=opened.record.details["symbols"],
        origin=BundleOriginView(**opened.origin.as_data()),
    )

"""An index as a file: written for others, and opened where the repository is not."""

from pathlib import Path

from pydantic import Field

from scrubjay.code_index.service import CodeService
from scrubjay.core.progress import Reporter
from scrubjay.features.code.repository_tools import Freshness, IndexId, freshness_of, known_index, resolved_root
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.jobs.service import JobRun


class GetRepoBundleRequest(Request):
    model_config = examples({"index_id": "idx_abc"})

    index_id: IndexId


class GetRepoBundleResult(Result):
    bundle_uri: str = Field(description="Read it as a resource, or by GET /v1/resources?uri=…, which streams it.")
    manifest_uri: str
    path: str = Field(description="Where the file is, on the server's machine.")
    bytes: int
    freshness: Freshness


class OpenRepoBundleRequest(Request):
    model_config = examples({"path": "/home/you/bundle.tar.zst"})

    path: str = Field(
        min_length=1, max_length=4_096, description="The bundle's file: absolute, or from where you work."
    )


class Origin(Result):
    index_id: str
    root: str
    rev: str


class OpenRepoBundleResult(Result):
    index_id: str = Field(description="By which it is asked here; search_repo and ask_index take it.")
    files: int
    without_text: int = Field(description="Files that the bundle names and has no text of; they are not found.")
    symbols: int
    origin: Origin = Field(description="What the bundle says of itself.")


@tool("code", idempotent=True, core=False)
async def get_repo_bundle(request: GetRepoBundleRequest, code: CodeService, reporter: Reporter) -> GetRepoBundleResult:
    """Write all that is known of an indexed repository into one file, bundle.tar.zst, and tell where it is.

    It holds the files' ranks, definitions, uses, vectors and texts, the types and sources of what is imported where
    they are on disk, a manifest and a log; secrets are masked. open_repo_bundle opens it on another machine. When the
    index did not change since, this answers at once.
    """
    from scrubjay.code_index.bundle.writer import bundle

    file = await bundle(code, request.index_id, reporter)
    record = await known_index(request.index_id, code)
    return GetRepoBundleResult(
        bundle_uri=f"mimir://indexes/{record.id}/bundle.tar.zst",
        manifest_uri=f"mimir://indexes/{record.id}/manifest.json",
        path=str(file),
        bytes=file.stat().st_size,
        freshness=freshness_of(record, None),
    )


@tool("code", runs_as_job=True, idempotent=True, core=False)
async def open_repo_bundle(
    request: OpenRepoBundleRequest, code: CodeService, context: CallContext, run: JobRun
) -> OpenRepoBundleResult:
    """Open a bundle that get_repo_bundle wrote, here or on another machine, and search it without the repository.

    Only names and texts are taken from it, everything else is found anew; a bundle with anything strange in it is
    refused. The same bundle is opened once.
    """
    from scrubjay.code_index.bundle.reader import open_bundle

    opened = await open_bundle(code.indexer, Path(resolved_root(request.path, context, code)), run)
    return OpenRepoBundleResult(
        index_id=opened.record.id,
        files=opened.files,
        without_text=opened.without_text,
        symbols=opened.record.details["symbols"],
        origin=Origin(**opened.origin.as_data()),
    )

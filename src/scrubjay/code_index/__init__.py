"""Index a repository and query it: symbols, a resolved use graph, search, and answers with evidence.

This is the whole public API; other packages import nothing below it. Names are loaded on first use, so importing this
package loads neither numpy nor a parser. Use `from scrubjay import code_index`, then `code_index.impact_of(...)`, where
a process must start fast.

    indexer = Indexer(store, folder)
    code = CodeService(store, indexer)
    built = await indexer.build(root, "HEAD", IndexOptions(), reporter)         # build, or update what changed
    hits = await code.search(built.record.id, "parse a date", limit=10, toggles=SignalToggles(), context_lines=3)
    loaded = await code.load(built.record.id)                                   # the index in memory
    facts = await code.facts(loaded, "src/dates.py")                            # symbols, imports and uses of a file
    answer = await answer_question("who calls parse_date?", code, loaded, context_lines=3, token_budget=2_000)

What it offers:

- Build and keep up to date: `Indexer`, `IndexOptions`, `index_id_of`, `FolderPolicy`, `FolderWatcher`,
  `FullRelinkScheduler`.
- Query one index: `CodeService` (search, facts, links, modules), `answer_question`, `impact_of`, `trace_calls`,
  `repository_map`, `describe_modules`.
- Compare and combine: `diff_files`, `consequences_of`, `reaching_tests`; `search_all`, `links_between`,
  `used_elsewhere`, `defined_elsewhere`.
- Search by pattern: `find` with a `PatternQuery` of an `Expression` or a `Structure`.
- Read files that no index has yet: `read_work_tree`, `language_of_file`, `facts_of_content`, `head_commit`.
- Export: `write_bundle`, `open_bundle`.
- Storage: implement `CodeStore` to keep indexes, and its values `Content`, `IndexedFile`, `IndexRecord`.

Failures are raised as `scrubjay.core.errors`: `NotFound` for an unknown index or file, `Unavailable` for work that
exceeded its limits, `Cancelled` when a reporter stops it. Code is never executed; it is parsed in child processes.
"""

from typing import TYPE_CHECKING

from scrubjay.core.lazy import lazy_exports

if TYPE_CHECKING:
    from scrubjay.code_index.bundle.paths import OPENED_FOLDER as OPENED_FOLDER
    from scrubjay.code_index.bundle.reader import open_bundle as open_bundle
    from scrubjay.code_index.bundle.status import completed_status as completed_status
    from scrubjay.code_index.bundle.status import status_fields as status_fields
    from scrubjay.code_index.bundle.writer import bundle_log as bundle_log
    from scrubjay.code_index.bundle.writer import bundle_manifest as bundle_manifest
    from scrubjay.code_index.bundle.writer import write_bundle as write_bundle
    from scrubjay.code_index.cross_repo.definitions import defined_elsewhere as defined_elsewhere
    from scrubjay.code_index.cross_repo.definitions import unresolved_calls as unresolved_calls
    from scrubjay.code_index.cross_repo.dependents import RepositoryLink as RepositoryLink
    from scrubjay.code_index.cross_repo.dependents import UsedSymbol as UsedSymbol
    from scrubjay.code_index.cross_repo.dependents import links_between as links_between
    from scrubjay.code_index.cross_repo.dependents import used_elsewhere as used_elsewhere
    from scrubjay.code_index.cross_repo.packages import Ecosystem as Ecosystem
    from scrubjay.code_index.cross_repo.packages import related_to as related_to
    from scrubjay.code_index.cross_repo.search import search_all as search_all
    from scrubjay.code_index.diff.dangling_uses import StillUsed as StillUsed
    from scrubjay.code_index.diff.files import ChangeStatus as ChangeStatus
    from scrubjay.code_index.diff.files import FileChange as FileChange
    from scrubjay.code_index.diff.files import diff_files as diff_files
    from scrubjay.code_index.diff.risk import Consequence as Consequence
    from scrubjay.code_index.diff.risk import consequences_of as consequences_of
    from scrubjay.code_index.diff.risk import reaching_tests as reaching_tests
    from scrubjay.code_index.diff.symbols import Touch as Touch
    from scrubjay.code_index.discovery.ignore_rules import IgnoreRules as IgnoreRules
    from scrubjay.code_index.discovery.languages import is_header as is_header
    from scrubjay.code_index.discovery.limits import IndexLimits as IndexLimits
    from scrubjay.code_index.folder_policy import FolderPolicy as FolderPolicy
    from scrubjay.code_index.folder_policy import resolve_folder as resolve_folder
    from scrubjay.code_index.index.indexer import Indexer as Indexer
    from scrubjay.code_index.index.linker import PENDING_RELINK as PENDING_RELINK
    from scrubjay.code_index.index.options import IndexOptions as IndexOptions
    from scrubjay.code_index.index.options import index_id_of as index_id_of
    from scrubjay.code_index.index.options import unknown_index as unknown_index
    from scrubjay.code_index.index.relink_scheduler import FullRelinkScheduler as FullRelinkScheduler
    from scrubjay.code_index.index.statistics import GRAPH_PROBLEM as GRAPH_PROBLEM
    from scrubjay.code_index.index.statistics import left_out_of as left_out_of
    from scrubjay.code_index.index.watcher import FolderWatcher as FolderWatcher
    from scrubjay.code_index.index.watcher import RefreshResult as RefreshResult
    from scrubjay.code_index.index.worker_pool import WorkerPool as WorkerPool
    from scrubjay.code_index.models import Evidence as Evidence
    from scrubjay.code_index.models import FileFacts as FileFacts
    from scrubjay.code_index.models import FileTrait as FileTrait
    from scrubjay.code_index.models import Language as Language
    from scrubjay.code_index.models import Snapshot as Snapshot
    from scrubjay.code_index.models import Span as Span
    from scrubjay.code_index.models import SymbolKind as SymbolKind
    from scrubjay.code_index.models import UseKind as UseKind
    from scrubjay.code_index.models import qualified_name as qualified_name
    from scrubjay.code_index.module_descriptions import describe_modules as describe_modules
    from scrubjay.code_index.pattern_search.messages import Expression as Expression
    from scrubjay.code_index.pattern_search.messages import PatternMatch as PatternMatch
    from scrubjay.code_index.pattern_search.messages import PatternQuery as PatternQuery
    from scrubjay.code_index.pattern_search.messages import Structure as Structure
    from scrubjay.code_index.pattern_search.service import PatternSearchResult as PatternSearchResult
    from scrubjay.code_index.pattern_search.service import find as find
    from scrubjay.code_index.questions.answerer import answer_question as answer_question
    from scrubjay.code_index.questions.impact import Impact as Impact
    from scrubjay.code_index.questions.impact import impact_of as impact_of
    from scrubjay.code_index.questions.impact import is_guess as is_guess
    from scrubjay.code_index.questions.impact import trace_calls as trace_calls
    from scrubjay.code_index.questions.intents import Intent as Intent
    from scrubjay.code_index.questions.repo_map import repository_map as repository_map
    from scrubjay.code_index.questions.repo_map import signature_of as signature_of
    from scrubjay.code_index.questions.traversal import GraphNode as GraphNode
    from scrubjay.code_index.questions.traversal import ReachedNode as ReachedNode
    from scrubjay.code_index.reranking.service import CodeEmbedding as CodeEmbedding
    from scrubjay.code_index.reranking.service import EmbeddingState as EmbeddingState
    from scrubjay.code_index.search.call_query import parse_call_query as parse_call_query
    from scrubjay.code_index.search.ranker import SignalToggles as SignalToggles
    from scrubjay.code_index.search.use_graph import UseLink as UseLink
    from scrubjay.code_index.secret_masking import mask_secrets as mask_secrets
    from scrubjay.code_index.service import MAX_AUTO_REFRESH_FILES as MAX_AUTO_REFRESH_FILES
    from scrubjay.code_index.service import ChangeKind as ChangeKind
    from scrubjay.code_index.service import CodeHit as CodeHit
    from scrubjay.code_index.service import CodeService as CodeService
    from scrubjay.code_index.service import FileChangeListener as FileChangeListener
    from scrubjay.code_index.service import LoadedIndex as LoadedIndex
    from scrubjay.code_index.store import CodeStore as CodeStore
    from scrubjay.code_index.store import Content as Content
    from scrubjay.code_index.store import IndexedFile as IndexedFile
    from scrubjay.code_index.store import IndexRecord as IndexRecord
    from scrubjay.code_index.store import StoredDigest as StoredDigest
    from scrubjay.code_index.store import StoredEdges as StoredEdges
    from scrubjay.code_index.vector_store import StoredBatch as StoredBatch
    from scrubjay.code_index.vector_store import UnembeddedContent as UnembeddedContent
    from scrubjay.code_index.vector_store import VectorCounts as VectorCounts
    from scrubjay.code_index.work_tree import WorkTreeFile as WorkTreeFile
    from scrubjay.code_index.work_tree import facts_of_content as facts_of_content
    from scrubjay.code_index.work_tree import head_commit as head_commit
    from scrubjay.code_index.work_tree import is_source_text as is_source_text
    from scrubjay.code_index.work_tree import language_of_file as language_of_file
    from scrubjay.code_index.work_tree import read_work_tree as read_work_tree

EXPORTS = {
    "ChangeKind": "service:ChangeKind",
    "ChangeStatus": "diff.files:ChangeStatus",
    "CodeEmbedding": "reranking.service:CodeEmbedding",
    "CodeHit": "service:CodeHit",
    "CodeService": "service:CodeService",
    "CodeStore": "store:CodeStore",
    "Consequence": "diff.risk:Consequence",
    "Content": "store:Content",
    "Ecosystem": "cross_repo.packages:Ecosystem",
    "EmbeddingState": "reranking.service:EmbeddingState",
    "Evidence": "models:Evidence",
    "Expression": "pattern_search.messages:Expression",
    "FileChange": "diff.files:FileChange",
    "FileChangeListener": "service:FileChangeListener",
    "FileFacts": "models:FileFacts",
    "FileTrait": "models:FileTrait",
    "FolderWatcher": "index.watcher:FolderWatcher",
    "FullRelinkScheduler": "index.relink_scheduler:FullRelinkScheduler",
    "GRAPH_PROBLEM": "index.statistics:GRAPH_PROBLEM",
    "GraphNode": "questions.traversal:GraphNode",
    "IgnoreRules": "discovery.ignore_rules:IgnoreRules",
    "Impact": "questions.impact:Impact",
    "IndexLimits": "discovery.limits:IndexLimits",
    "IndexOptions": "index.options:IndexOptions",
    "IndexRecord": "store:IndexRecord",
    "IndexedFile": "store:IndexedFile",
    "FolderPolicy": "folder_policy:FolderPolicy",
    "OPENED_FOLDER": "bundle.paths:OPENED_FOLDER",
    "resolve_folder": "folder_policy:resolve_folder",
    "Indexer": "index.indexer:Indexer",
    "Intent": "questions.intents:Intent",
    "StoredBatch": "vector_store:StoredBatch",
    "StoredDigest": "store:StoredDigest",
    "StoredEdges": "store:StoredEdges",
    "Language": "models:Language",
    "LoadedIndex": "service:LoadedIndex",
    "MAX_AUTO_REFRESH_FILES": "service:MAX_AUTO_REFRESH_FILES",
    "PENDING_RELINK": "index.linker:PENDING_RELINK",
    "PatternMatch": "pattern_search.messages:PatternMatch",
    "PatternQuery": "pattern_search.messages:PatternQuery",
    "PatternSearchResult": "pattern_search.service:PatternSearchResult",
    "ReachedNode": "questions.traversal:ReachedNode",
    "RefreshResult": "index.watcher:RefreshResult",
    "RepositoryLink": "cross_repo.dependents:RepositoryLink",
    "SignalToggles": "search.ranker:SignalToggles",
    "Snapshot": "models:Snapshot",
    "Span": "models:Span",
    "StillUsed": "diff.dangling_uses:StillUsed",
    "Structure": "pattern_search.messages:Structure",
    "SymbolKind": "models:SymbolKind",
    "Touch": "diff.symbols:Touch",
    "UnembeddedContent": "vector_store:UnembeddedContent",
    "UseKind": "models:UseKind",
    "UseLink": "search.use_graph:UseLink",
    "UsedSymbol": "cross_repo.dependents:UsedSymbol",
    "VectorCounts": "vector_store:VectorCounts",
    "WorkTreeFile": "work_tree:WorkTreeFile",
    "WorkerPool": "index.worker_pool:WorkerPool",
    "answer_question": "questions.answerer:answer_question",
    "parse_call_query": "search.call_query:parse_call_query",
    "bundle_log": "bundle.writer:bundle_log",
    "bundle_manifest": "bundle.writer:bundle_manifest",
    "completed_status": "bundle.status:completed_status",
    "consequences_of": "diff.risk:consequences_of",
    "defined_elsewhere": "cross_repo.definitions:defined_elsewhere",
    "describe_modules": "module_descriptions:describe_modules",
    "diff_files": "diff.files:diff_files",
    "facts_of_content": "work_tree:facts_of_content",
    "find": "pattern_search.service:find",
    "head_commit": "work_tree:head_commit",
    "impact_of": "questions.impact:impact_of",
    "index_id_of": "index.options:index_id_of",
    "is_guess": "questions.impact:is_guess",
    "is_header": "discovery.languages:is_header",
    "is_source_text": "work_tree:is_source_text",
    "language_of_file": "work_tree:language_of_file",
    "left_out_of": "index.statistics:left_out_of",
    "links_between": "cross_repo.dependents:links_between",
    "mask_secrets": "secret_masking:mask_secrets",
    "open_bundle": "bundle.reader:open_bundle",
    "qualified_name": "models:qualified_name",
    "reaching_tests": "diff.risk:reaching_tests",
    "read_work_tree": "work_tree:read_work_tree",
    "related_to": "cross_repo.packages:related_to",
    "repository_map": "questions.repo_map:repository_map",
    "search_all": "cross_repo.search:search_all",
    "signature_of": "questions.repo_map:signature_of",
    "status_fields": "bundle.status:status_fields",
    "trace_calls": "questions.impact:trace_calls",
    "unknown_index": "index.options:unknown_index",
    "unresolved_calls": "cross_repo.definitions:unresolved_calls",
    "used_elsewhere": "cross_repo.dependents:used_elsewhere",
    "write_bundle": "bundle.writer:write_bundle",
}

__getattr__ = lazy_exports(__name__, EXPORTS)

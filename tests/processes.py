"""Child processes forked from a server that has the program loaded; loading takes most of a child's time.

There is one such server per test worker, and the last list of modules wins, so only this file sets it.
"""

from multiprocessing import get_context

FORKED = get_context("forkserver")
# The modules that remember, recall and indexing load; `scrubjay` itself imports most of them late.
LOADED = [
    "scrubjay.app.application",
    "scrubjay.app.commands",
    "scrubjay.app.lifespan",
    "scrubjay.app.logs",
    "scrubjay.code_index.graph.python",
    "scrubjay.servers.cli.calls",
    "scrubjay.servers.cli.commands",
    "scrubjay.models.embedding_cache",
    "scrubjay.models.providers",
    "scrubjay.features.memory.ranking.ranker",
    "scrubjay.features.memory.ranking.selection",
    "scrubjay.features.memory.index",
    "scrubjay.app.sqlite_store",
    "anyio._backends._asyncio",
    "numkong",
    "numpy",
    "Stemmer",
    "tests.code_index.test_killed",
    "tests.loaded_server",
    "tests.surfaces.commands",
]
FORKED.set_forkserver_preload(LOADED)

"""Processes forked off one that has loaded the program, which takes most of the time of a child.

There is one such process in a test worker, and who names last what it loads decides for everybody: only this file does.
"""

from multiprocessing import get_context

FORKED = get_context("forkserver")
# All that remembering, recalling and indexing load: `scrubjay` itself loads most of it when it is first needed.
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
    "tests.surfaces.commands",
]
FORKED.set_forkserver_preload(LOADED)

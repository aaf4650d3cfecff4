"""Processes forked off one that has loaded the program, which takes most of the time of a child.

There is one such process in a test worker, and who names last what it loads decides for everybody: only this file does.
"""

from multiprocessing import get_context

FORKED = get_context("forkserver")
# All that remembering, recalling and indexing load: `recollect` itself loads most of it when it is first needed.
LOADED = [
    "recollect.app.application",
    "recollect.app.commands",
    "recollect.app.lifespan",
    "recollect.app.logs",
    "recollect.codebase.graph.python",
    "recollect.gateway.cli.calls",
    "recollect.gateway.cli.commands",
    "recollect.inference.caching",
    "recollect.inference.providers",
    "recollect.retrieval.ranking",
    "recollect.retrieval.selection",
    "recollect.storage.sqlite.memory_index",
    "recollect.storage.sqlite.store",
    "anyio._backends._asyncio",
    "numkong",
    "numpy",
    "Stemmer",
    "tests.codebase.test_killed",
    "tests.surfaces.commands",
]
FORKED.set_forkserver_preload(LOADED)

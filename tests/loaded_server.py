"""Import what a running server has imported: `tests/processes.py` forks servers from a process that has done so."""

from importlib import import_module
from pkgutil import walk_packages

import scrubjay.features

PARTS = ("wiring", "tools", "sqlite", "service")

import_module("scrubjay.app.http_server")
for module in walk_packages(scrubjay.features.__path__, "scrubjay.features."):
    if module.name.rpartition(".")[2] in PARTS:
        import_module(module.name)

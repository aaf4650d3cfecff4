"""Included headers are resolved to files."""

from scrubjay.code_index.graph.modules import Modules
from scrubjay.code_index.models import FileFacts, Language


def test_an_included_header_is_the_nearest_with_that_path_suffix():
    files = ("a/main.c", "a/util.h", "b/util.h", "inc/sys/deep.h")
    modules = Modules({path: FileFacts(Language.C, 1) for path in files})
    assert modules.by_suffix("a/main.c", "util.h") == "a/util.h"
    assert modules.by_suffix("a/main.c", "sys/deep.h") == "inc/sys/deep.h"
    assert modules.by_suffix("a/main.c", "stdio.h") is None

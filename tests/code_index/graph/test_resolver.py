"""Resolution of the uses of all files."""

import subprocess
import sys

from scrubjay.code_index.graph.resolver import resolve
from scrubjay.code_index.models import FileEdges, FileFacts, Language


def test_files_without_code_have_no_edges_and_unknown_paths_are_skipped():
    facts = {"README.md": FileFacts(Language.MARKDOWN, 3)}
    assert resolve(["README.md", "gone.py"], facts) == {"README.md": FileEdges()}


def test_importing_the_package_loads_neither_numpy_nor_grammars():
    modules = "resolver", "names", "javascript", "pagerank", "module_map", "javascript_flow", "names_flow"
    code = ";".join(f"import scrubjay.code_index.graph.{name}" for name in modules)
    code += ";import sys;print(sorted({'numpy', 'tree_sitter'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

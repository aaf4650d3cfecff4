"""Rules of docs/conventions.md that no linter checks: position of imports, class names, length of classes."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "scrubjay"
MAX_CLASS_LINES = 500


@cache
def modules() -> list[tuple[str, ast.Module]]:
    paths = sorted(PACKAGE.rglob("*.py"))
    return [(path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text("utf-8"))) for path in paths]


def imports_in_functions(module: ast.Module) -> list[int]:
    """Return the lines of imports inside of functions."""
    functions = (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    imports = (node for function in functions for node in ast.walk(function))
    return sorted({node.lineno for node in imports if isinstance(node, ast.Import | ast.ImportFrom)})


def test_every_import_stands_at_the_top_of_its_file() -> None:
    """Late loading goes through the catalogs or `core.lazy`: see ARCHITECTURE.md."""
    late = {path: lines for path, module in modules() if (lines := imports_in_functions(module))}
    assert late == {}


def test_an_import_inside_of_a_function_is_found() -> None:
    module = ast.parse("import a\n\nclass C:\n    async def f(self):\n        if self:\n            from b import c\n")
    assert imports_in_functions(module) == [6]


def test_no_public_class_name_means_two_things() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, module in modules():
        for node in module.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_no_class_is_longer_than_500_lines() -> None:
    long = {
        f"{path}: {node.name}": length
        for path, module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef) and (length := (node.end_lineno or 0) - node.lineno + 1) > MAX_CLASS_LINES
    }
    assert long == {}

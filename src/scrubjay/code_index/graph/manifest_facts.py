"""Extracts from manifests what decides which file an import refers to, to store it beside the facts of the file.

A manifest is recognized by its content, since stored facts depend on nothing else: `tsconfig.json` and `package.json`
are JSON; `go.mod`, `go.work` and `Cargo.toml` are text. Nothing else is stored, so that a new version of a dependency
changes no facts.
"""

import re
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import to_json

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

MAX_BYTES = 200_000
"""Bytes; a larger file holds data."""
MAX_ENTRIES = 2_000
MAX_DEPTH = 8

_COMPILER = ("baseUrl", "paths", "rootDir", "outDir")
_PACKAGE = ("name", "source", "types", "typings", "module", "main", "exports", "imports")
_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")
_TARGETS = ("bin", "example", "test", "bench")

# These are searched in every text file, so they are few: each manifest contains one of its two.
_GO = (b"module ", b"go 1.")
_CARGO = (b"[package", b"[workspace")
_GO_COMMENT = re.compile(r"//.*")
_GO_BLOCK = re.compile(r"^\s*(\w+)\s*\(([^)]*)\)", re.MULTILINE)


def extract_manifest(content: bytes, tree: "Tree | None") -> bytes:
    """Return the serialized facts of a manifest; empty for other files. Only JSON files have a tree."""
    if len(content) > MAX_BYTES:
        return b""
    if tree is not None:
        found = _json(content, tree)
    elif _begins_a_line(content, _CARGO):
        found = _cargo(content)
    elif _begins_a_line(content, _GO):
        found = _go(content.decode("utf-8", "replace"))
    else:
        found = {}
    return to_json(found) if found else b""


def _begins_a_line(content: bytes, signs: tuple[bytes, ...]) -> bool:
    return content.startswith(signs) or any(b"\n" + sign in content for sign in signs)


# JSON


def _json(content: bytes, tree: "Tree") -> dict[str, Any]:
    """Read JSON from its tree, which tolerates comments and trailing commas, as TypeScript does."""
    root = next((node for node in tree.root_node.named_children if node.type == "object"), None)
    if root is None:
        return {}
    top = {key: value for key, value in _pairs(content, root) if key in ("compilerOptions", "extends", "references")}
    found: dict[str, Any] = {}
    if top:
        options = _mapping(_value(content, top.get("compilerOptions"), 0))
        references = _value(content, top.get("references"), 0)
        found["typescript"] = {
            "extends": _texts(_value(content, top.get("extends"), 0)),
            "references": _texts([_mapping(one).get("path") for one in _list(references)]),
            **{key: options[key] for key in _COMPILER if key in options},
        }
    package = {key: _value(content, value, 0) for key, value in _pairs(content, root) if key in _PACKAGE}
    if isinstance(package.get("name"), str) or "exports" in package or "imports" in package:
        found["package"] = package
    return found


def _pairs(content: bytes, node: "Node") -> "list[tuple[str, Node]]":
    found: list[tuple[str, Node]] = []
    for pair in node.named_children[:MAX_ENTRIES]:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is not None and value is not None:
            found.append((_text(content, key), value))
    return found


def _text(content: bytes, node: "Node") -> str:
    return content[node.start_byte : node.end_byte].decode("utf-8", "replace").strip('"').replace("\\/", "/")


def _value(content: bytes, node: "Node | None", depth: int) -> Any:
    if node is None or depth > MAX_DEPTH:
        return None
    match node.type:
        case "object":
            return {key: _value(content, value, depth + 1) for key, value in _pairs(content, node)}
        case "array":
            return [_value(content, child, depth + 1) for child in node.named_children[:MAX_ENTRIES]]
        case "string":
            return _text(content, node)
        case _:
            return None


# Go


def _go(text: str) -> dict[str, Any]:
    """Read `go.mod` or `go.work`: the module's name, the folders used, and replacements by folders."""
    text = _GO_COMMENT.sub("", text)
    # `use ( ./a ./b )` is equivalent to `use ./a` and `use ./b`.
    text = _GO_BLOCK.sub(
        lambda block: "\n".join(f"{block[1]} {line}" for line in block[2].splitlines() if line.strip()), text
    )
    module, uses, replaced = "", list[str](), list[tuple[str, str]]()
    for line in text.splitlines():
        words = [word.strip('"`') for word in line.split()]
        match words:
            case ["module", name]:
                module = name
            case ["use", folder]:
                uses.append(folder)
            case ["replace", old, *rest] if "=>" in rest[:-1]:
                new = rest[rest.index("=>") + 1]
                if new.startswith("."):
                    replaced.append((old, new))
            case _:
                pass
    return {"go": {"module": module, "use": uses, "replace": replaced}} if module or uses or replaced else {}


# Rust


def _cargo(content: bytes) -> dict[str, Any]:
    try:
        document = tomllib.loads(content.decode("utf-8", "replace"))
    except (ValueError, RecursionError):  # not such a file, or malformed
        return {}
    package, workspace, library = (_mapping(document.get(part)) for part in ("package", "workspace", "lib"))
    if not package and not workspace:
        return {}
    needs = _needs(document)
    for target in _mapping(document.get("target")).values():
        needs |= _needs(_mapping(target))
    roots = [
        path
        for part in _TARGETS
        for one in _list(document.get(part))
        if isinstance(path := _mapping(one).get("path"), str)
    ]
    return {
        "cargo": {
            "name": _name(package),
            "library": _name(library),
            "path": library["path"] if isinstance(library.get("path"), str) else "",
            "roots": roots,
            "needs": needs,
            "shared": _needs(workspace),
        }
    }


def _needs(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the package of each dependency, by its local name; `*` if the workspace specifies it."""
    found: dict[str, str] = {}
    for part in _DEPENDENCIES:
        for name, requirement in _mapping(document.get(part)).items():
            package = _mapping(requirement).get("package")
            found[name] = (
                package if isinstance(package, str) else "*" if _mapping(requirement).get("workspace") is True else name
            )
    return found


def _name(table: Mapping[str, Any]) -> str:
    name = table.get("name")
    return name if isinstance(name, str) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [one for one in (_list(value) or [value]) if isinstance(one, str)]

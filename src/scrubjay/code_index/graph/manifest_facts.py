"""What a manifest says of how the modules of its project are found, kept beside the facts of its file.

A manifest is known by what is in it, since facts depend on nothing but content: `tsconfig.json` and `package.json` are
JSON, `go.mod`, `go.work` and `Cargo.toml` are text. Of each no more is kept than what decides which file an import
means, so that a new version of a dependency changes nothing.
"""

import re
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import to_json

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

LONGEST = 200_000
"""Bytes: what is larger is no manifest, but data."""
MOST_ENTRIES = 2_000
DEEPEST = 8

_COMPILER = ("baseUrl", "paths", "rootDir", "outDir")
_PACKAGE = ("name", "source", "types", "typings", "module", "main", "exports", "imports")
_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")
_TARGETS = ("bin", "example", "test", "bench")

# Looked for in every text, so it must cost little; each of these manifests says one of its two.
_GO = (b"module ", b"go 1.")
_CARGO = (b"[package", b"[workspace")
_GO_COMMENT = re.compile(r"//.*")
_GO_BLOCK = re.compile(r"^\s*(\w+)\s*\(([^)]*)\)", re.MULTILINE)


def flow_of(content: bytes, tree: "Tree | None") -> bytes:
    """What a manifest says; nothing of any other file. JSON is told by its tree, text has none."""
    if len(content) > LONGEST:
        return b""
    if tree is not None:
        said = _json(content, tree)
    elif _begins_a_line(content, _CARGO):
        said = _cargo(content)
    elif _begins_a_line(content, _GO):
        said = _go(content.decode("utf-8", "replace"))
    else:
        said = {}
    return to_json(said) if said else b""


def _begins_a_line(content: bytes, signs: tuple[bytes, ...]) -> bool:
    return content.startswith(signs) or any(b"\n" + sign in content for sign in signs)


# JSON


def _json(content: bytes, tree: "Tree") -> dict[str, Any]:
    """Read from the tree: comments and commas at the end, which TypeScript allows, are no harm there."""
    root = next((node for node in tree.root_node.named_children if node.type == "object"), None)
    if root is None:
        return {}
    top = {key: value for key, value in _pairs(content, root) if key in ("compilerOptions", "extends", "references")}
    said: dict[str, Any] = {}
    if top:
        options = _mapping(_value(content, top.get("compilerOptions"), 0))
        references = _value(content, top.get("references"), 0)
        said["typescript"] = {
            "extends": _texts(_value(content, top.get("extends"), 0)),
            "references": _texts([_mapping(one).get("path") for one in _list(references)]),
            **{key: options[key] for key in _COMPILER if key in options},
        }
    package = {key: _value(content, value, 0) for key, value in _pairs(content, root) if key in _PACKAGE}
    if isinstance(package.get("name"), str) or "exports" in package or "imports" in package:
        said["package"] = package
    return said


def _pairs(content: bytes, node: "Node") -> "list[tuple[str, Node]]":
    found: list[tuple[str, Node]] = []
    for pair in node.named_children[:MOST_ENTRIES]:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is not None and value is not None:
            found.append((_text(content, key), value))
    return found


def _text(content: bytes, node: "Node") -> str:
    return content[node.start_byte : node.end_byte].decode("utf-8", "replace").strip('"').replace("\\/", "/")


def _value(content: bytes, node: "Node | None", depth: int) -> Any:
    if node is None or depth > DEEPEST:
        return None
    match node.type:
        case "object":
            return {key: _value(content, value, depth + 1) for key, value in _pairs(content, node)}
        case "array":
            return [_value(content, child, depth + 1) for child in node.named_children[:MOST_ENTRIES]]
        case "string":
            return _text(content, node)
        case _:
            return None


# Go


def _go(text: str) -> dict[str, Any]:
    """`go.mod` and `go.work`: the module's name, the folders that are used, and what is replaced by a folder."""
    text = _GO_COMMENT.sub("", text)
    # `use ( ./a ./b )` says what `use ./a` and `use ./b` say.
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
        told = tomllib.loads(content.decode("utf-8", "replace"))
    except (ValueError, RecursionError):  # it is no such file, or nobody can read it
        return {}
    package, workspace, library = (_mapping(told.get(part)) for part in ("package", "workspace", "lib"))
    if not package and not workspace:
        return {}
    needs = _needs(told)
    for target in _mapping(told.get("target")).values():
        needs |= _needs(_mapping(target))
    roots = [
        path for part in _TARGETS for one in _list(told.get(part)) if isinstance(path := _mapping(one).get("path"), str)
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


def _needs(told: Mapping[str, Any]) -> dict[str, str]:
    """By the name that it has here, the package that is meant; `*` for what the workspace says."""
    found: dict[str, str] = {}
    for part in _DEPENDENCIES:
        for name, said in _mapping(told.get(part)).items():
            package = _mapping(said).get("package")
            found[name] = (
                package if isinstance(package, str) else "*" if _mapping(said).get("workspace") is True else name
            )
    return found


def _name(told: Mapping[str, Any]) -> str:
    name = told.get("name")
    return name if isinstance(name, str) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [one for one in (_list(value) or [value]) if isinstance(one, str)]

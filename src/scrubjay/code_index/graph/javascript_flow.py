"""Converts the syntax tree of a JavaScript or TypeScript file to its flow: what it does with values, in a flat form."""

from typing import TYPE_CHECKING

from pydantic_core import to_json

from scrubjay.code_index.graph.javascript_flow_reader import ScriptReader

if TYPE_CHECKING:
    from tree_sitter import Tree


def build_flow(content: bytes, tree: "Tree") -> bytes:
    """Return the serialized flow of a file, which is stored with its facts."""
    reader = ScriptReader(content)
    reader.read_module(tree.root_node)
    flow = reader.flow
    return to_json(
        {
            "nodes": flow.nodes,
            "functions": flow.functions,
            "classes": flow.classes,
            "body": flow.body,
            "imports": flow.imports,
            "exports": flow.exports,
            "stars": flow.stars,
        }
    )

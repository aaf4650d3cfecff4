"""Converts the syntax tree of a Python file to its flow: bindings, assignments, arguments and calls."""

import ast

from pydantic_core import to_json

from scrubjay.code_index.graph.python_flow_builder import FlowBuilder
from scrubjay.code_index.graph.python_flow_statements import FlowStatementReader


def build_flow(content: bytes, module: ast.Module) -> bytes:
    """Return the serialized flow of a file. `module` is its syntax tree, possibly of a repaired text."""
    builder = FlowBuilder(content)
    FlowStatementReader(builder).read(module)
    return to_json(builder.flow())

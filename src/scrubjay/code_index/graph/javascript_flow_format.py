"""The stored format of the flow of JavaScript files."""

from typing import Any

# Kinds of nodes; the letters are stored on disk. Operands are nodes unless noted.
UNKNOWN, NAME, LITERAL, MEMBER, ENTRY, CALL, NEW = "u", "n", "s", "m", "x", "c", "w"
FUNCTION, FUNCTION_DECLARATION, CLASS, CLASS_DECLARATION = "f", "df", "k", "dk"
OBJECT, ARRAY, THIS, SUPER, ASSIGNMENT, EITHER, YIELD = "o", "a", "t", "p", "=", "j", "y"
CAST, SEQUENCE, REQUIRE, DECLARATION, BLOCK, BRANCHES = "cast", "seq", "q", "v", "b", "if"
FOR, RETURN, ALIAS, NAMESPACE, EXPORT_DEFAULT, EXPORT_ALL = "for", "ret", "alias", "ns", "expd", "expm"
DEFAULT_PATTERN, REST_PATTERN, ARRAY_PATTERN, OBJECT_PATTERN = "pd", "pr", "pa", "po"

# Indexes of a node's items. Nodes come from JSON as lists; converting them to objects would take longer than the walk.
KIND = 0
NAME_TEXT = 1
MEMBER_OBJECT = 1
MEMBER_NAME = 2
ARRAY_ITEMS = 1
PATTERN_TARGET = 1
PATTERN_PARTS = 1

Item = list[Any]
"""A node: its kind, then its operands."""

MAX_DEPTH = 60
"""Nesting of syntax within one function that is read, because reading recurses."""
FUNCTION_TYPES = {
    "function_declaration",
    "generator_function_declaration",
    "function_signature",
    "function_expression",
    "generator_function",
    "arrow_function",
    "method_definition",
}
"""Types of the syntax nodes of functions."""

"""The stored format of the flow of Python files. Changes need a new `VERSION`, here and in the C code."""

from typing import Any

VERSION = 1

# Kinds of nodes; the letters are stored on disk. Node 0 is the unknown value. Operands are nodes unless noted.
# FUNCTION scope [1 for a lambda]         CLASS scope                    MODULE dotted name, level
# IMPORTED module name, level, name       ATTRIBUTE base, name           RESULT call
# PARAMETER scope, index                  CONSTANT string or integer     GLOBAL name
# SEQUENCE type name, items ...           MAPPING keys, values           SPREAD iterable
# ITEM base, key                          SLICE base, first, last        REPLACED base, key, value
# GROWN base, item                        MERGED base, other container   ELEMENT iterable
# ENTERED context manager                 EITHER options ...             INSTANCE class
# UNPACKED base, index                    REST base, items before, items after
# SUPER scope of the class                DECORATED result, function
FUNCTION, CLASS, MODULE, IMPORTED, ATTRIBUTE, RESULT, PARAMETER, CONSTANT = "f", "c", "m", "i", "a", "k", "p", "s"
SEQUENCE, MAPPING, ITEM, SLICE, REPLACED, GROWN, MERGED, ELEMENT = "l", "d", "x", "h", "u", "+", "U", "e"
ENTERED, EITHER, GLOBAL, INSTANCE, SUPER, UNPACKED, REST, SPREAD = "w", "j", "g", "z", "y", "t", "T", "*"
DECORATED, UNKNOWN = "D", "?"

# Indexes of a node's items. Nodes come from JSON as lists; converting them to objects would take longer than
# evaluating.
KIND = 0
BASE = 1
ATTRIBUTE_NAME = 2
GLOBAL_NAME = 1
SCOPE_INDEX = 1
SEQUENCE_TYPE = 1
SEQUENCE_ITEMS = slice(2, None)

MODULE_SCOPE, CLASS_SCOPE, FUNCTION_SCOPE = "m", "c", "f"

# How a call site calls the value of its node.
CALLED, DECORATING, RAISED, ITERATED, ENTERING = range(5)
POSITIONAL, ANY_POSITIONAL, KEYWORD, ANY_KEYWORD = range(4)


def empty_flow() -> list[Any]:
    """Return the flow of a file without code."""
    return [VERSION, [[UNKNOWN]], [[MODULE_SCOPE, "", -1, 0, {}, [], [], {}, [], [], 0]], [], [], [], {}, None]

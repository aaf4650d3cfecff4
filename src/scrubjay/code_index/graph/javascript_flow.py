"""What one file of JavaScript or TypeScript does with its values, in a flat form that can be walked through later."""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

DEEPEST = 60
"""Whoever nests deeper than this within one function is not followed: walking recurses."""
LONGEST_LITERAL = 80

# The kinds of nodes, which are stored on disk. Operands are places of other nodes unless noted.
UNKNOWN, NAME, LITERAL, MEMBER, ENTRY, CALL, NEW = "u", "n", "s", "m", "x", "c", "w"
FUNCTION, FUNCTION_DECLARATION, CLASS, CLASS_DECLARATION = "f", "df", "k", "dk"
OBJECT, ARRAY, THIS, SUPER, ASSIGNMENT, EITHER, YIELD = "o", "a", "t", "p", "=", "j", "y"
CAST, SEQUENCE, REQUIRE, DECLARATION, BLOCK, BRANCHES = "cast", "seq", "q", "v", "b", "if"
FOR, RETURN, ALIAS, NAMESPACE, EXPORT_DEFAULT, EXPORT_ALL = "for", "ret", "alias", "ns", "expd", "expm"
DEFAULT_PATTERN, REST_PATTERN, ARRAY_PATTERN, OBJECT_PATTERN = "pd", "pr", "pa", "po"

# Indexes of a node's items. Nodes come from JSON as lists; making objects of them would take longer than the walk.
KIND = 0
NAME_TEXT = 1
MEMBER_OBJECT = 1
MEMBER_NAME = 2
ARRAY_ITEMS = 1
PATTERN_TARGET = 1
PATTERN_PARTS = 1

Item = list[Any]
"""A node of the flow: what it is, then what it has; other nodes by their places."""

_TRANSPARENT_TYPES = {
    "Promise",
    "Readonly",
    "Partial",
    "Required",
    "NonNullable",
    "Awaited",
    "PromiseLike",
    "Omit",
    "Pick",
}
_CONTAINER_TYPES = {
    "Array",
    "ReadonlyArray",
    "Set",
    "ReadonlySet",
    "Map",
    "ReadonlyMap",
    "Iterable",
    "AsyncIterable",
    "Generator",
    "Record",
    "WeakMap",
}
_FUNCTIONS = {
    "function_declaration",
    "generator_function_declaration",
    "function_signature",
    "function_expression",
    "generator_function",
    "arrow_function",
    "method_definition",
}
_CLASSES = {"class_declaration", "abstract_class_declaration", "class"}
_WRAPPED = {"parenthesized_expression", "non_null_expression", "await_expression", "satisfies_expression"}


def flow_of(content: bytes, tree: "Tree") -> bytes:
    """The flow of a file, to be kept beside its facts."""
    flow = _Flow(content)
    flow.module(tree.root_node)
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


class _Flow:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._starts = [0, *accumulate(len(line) + 1 for line in content.split(b"\n"))]
        self.nodes: list[Item] = [[UNKNOWN, []]]
        self.functions: list[Item] = []
        self.classes: list[Item] = []
        self.imports: list[Item] = []
        """Name here, module, name there."""
        self.exports: list[Item] = []
        """Name for others, name here, module that it comes from."""
        self.stars: list[str] = []
        self.body: list[int] = []
        self._waiting: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._readers: dict[str, Callable[[Node, int], int]] = {
            "identifier": self._name,
            "shorthand_property_identifier": self._name,
            "undefined": lambda node, depth: 0,
            "this": lambda node, depth: self._put(THIS),
            "super": lambda node, depth: self._put(SUPER),
            "string": self._literal,
            "number": self._literal,
            "member_expression": self._member,
            "subscript_expression": self._entry,
            "call_expression": self._call,
            "new_expression": self._new,
            "object": self._object,
            "array": self._array,
            "assignment_expression": self._assignment,
            "augmented_assignment_expression": self._augmented,
            "ternary_expression": self._choice,
            "binary_expression": self._binary,
            "yield_expression": self._yield,
            "as_expression": self._cast,
            "type_assertion": self._assertion,
            "sequence_expression": self._sequence,
            "expression_statement": self._first,
            "lexical_declaration": self._declaration,
            "variable_declaration": self._declaration,
            "using_declaration": self._declaration,
            "statement_block": self._block,
            "if_statement": self._if,
            "else_clause": self._first,
            "for_statement": self._loop,
            "while_statement": self._loop,
            "do_statement": self._loop,
            "for_in_statement": self._for_in,
            "switch_statement": self._switch,
            "try_statement": self._try,
            "return_statement": self._return,
            "labeled_statement": self._labeled,
            "export_statement": self._export,
            "import_statement": self._import,
            "interface_declaration": self._interface,
            "type_alias_declaration": self._alias,
            "internal_module": self._namespace,
            "module": self._namespace,
            "enum_declaration": self._enum,
            "ambient_declaration": self._first,
            "jsx_self_closing_element": self._element,
            "jsx_opening_element": self._element,
            "comment": lambda node, depth: 0,
        }
        for kind in _FUNCTIONS:
            self._readers[kind] = self._function_value
        for kind in _CLASSES:
            self._readers[kind] = self._class_value
        for kind in _WRAPPED:
            self._readers[kind] = self._first

    def module(self, root: "Node") -> None:
        self.body = self._statements(root.named_children, 0)
        while self._waiting:
            work, arguments = self._waiting.popleft()
            work(*arguments)

    # What all need

    def _put(self, *item: Any) -> int:
        self.nodes.append(list(item))
        return len(self.nodes) - 1

    def _text(self, node: "Node") -> str:
        return self._content[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _line(self, node: "Node") -> int:
        return bisect_right(self._starts, node.start_byte)

    def _read(self, node: "Node | None", depth: int) -> int:
        if node is None or depth > DEEPEST:
            return 0
        reader = self._readers.get(node.type)
        return reader(node, depth + 1) if reader is not None else self._unknown(node.named_children, depth)

    def _unknown(self, children: "Iterable[Node]", depth: int) -> int:
        """What has no value that could be followed, but may have parts that do something."""
        parts = [part for child in children if child.child_count and (part := self._read(child, depth + 1))]
        return self._put(UNKNOWN, parts) if parts else 0

    def _statements(self, nodes: "Iterable[Node]", depth: int) -> list[int]:
        """Functions first: they may be used above their definition."""
        hoisted: list[int] = []
        rest: list[int] = []
        for node in nodes:
            place = self._read(node, depth)
            if place:
                is_function = self.nodes[place][KIND] == FUNCTION_DECLARATION
                (hoisted if is_function else rest).append(place)
        return hoisted + rest

    def _first(self, node: "Node", depth: int) -> int:
        for child in node.named_children:
            if child.type != "comment":
                return self._read(child, depth)
        return 0

    # Expressions

    def _name(self, node: "Node", depth: int) -> int:
        return self._put(NAME, self._text(node), node.start_byte)

    def _literal(self, node: "Node", depth: int) -> int:
        text = self._text(node)
        return self._put(LITERAL, _unquoted(text)) if len(text) <= LONGEST_LITERAL else 0

    def _member(self, node: "Node", depth: int) -> int:
        name = node.child_by_field_name("property")
        thing = self._read(node.child_by_field_name("object"), depth)
        return self._put(MEMBER, thing, self._text(name), name.start_byte) if name is not None else thing

    def _entry(self, node: "Node", depth: int) -> int:
        thing = self._read(node.child_by_field_name("object"), depth)
        return self._put(ENTRY, thing, self._read(node.child_by_field_name("index"), depth))

    def _arguments(self, node: "Node | None", depth: int) -> list[Any]:
        """Places of the arguments; a list of one place where an argument is spread."""
        if node is None:
            return []
        if node.type == "template_string":
            return [self._unknown(node.named_children, depth)]
        return [
            [self._first(child, depth)] if child.type == "spread_element" else self._read(child, depth)
            for child in node.named_children
            if child.type != "comment"
        ]

    def _call(self, node: "Node", depth: int) -> int:
        callee = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if callee is None:
            return self._unknown(node.named_children, depth)
        if callee.type in ("import", "identifier") and arguments is not None and arguments.named_child_count == 1:
            first = arguments.named_children[0]
            if first.type == "string" and self._text(callee) in ("require", "import"):
                return self._put(REQUIRE, _unquoted(self._text(first)), callee.type == "import")
        return self._put(
            CALL,
            self._read(callee, depth),
            self._arguments(arguments, depth),
            _last_name(callee).start_byte,
            self._line(_last_name(callee)),
        )

    def _new(self, node: "Node", depth: int) -> int:
        callee = node.child_by_field_name("constructor")
        if callee is None:
            return self._unknown(node.named_children, depth)
        name = _last_name(callee)
        arguments = self._arguments(node.child_by_field_name("arguments"), depth)
        return self._put(NEW, self._read(callee, depth), arguments, name.start_byte, self._line(name))

    def _element(self, node: "Node", depth: int) -> int:
        name = node.child_by_field_name("name")
        parts = self._unknown((child for child in node.named_children if child != name), depth)
        if name is None or (name.type == "identifier" and not self._text(name)[:1].isupper()):
            return parts
        last = _last_name(name)
        return self._put(CALL, self._read(name, depth), [parts], last.start_byte, self._line(last))

    def _object(self, node: "Node", depth: int) -> int:
        entries: list[Item] = []
        for child in node.named_children:
            if child.type == "pair":
                value = child.child_by_field_name("value")
                key = self._key(child.child_by_field_name("key"), depth)
                entries.append([key, self._read_named(value, key if isinstance(key, str) else "", depth)])
            elif child.type == "shorthand_property_identifier":
                entries.append([self._text(child), self._name(child, depth)])
            elif child.type == "method_definition":
                key = self._key(child.child_by_field_name("name"), depth)
                kind = "get" if any(part.type == "get" for part in child.children) else ""
                entries.append(
                    [key, self._put(FUNCTION, self._function(child, key if isinstance(key, str) else "")), kind]
                )
            elif child.type == "spread_element":
                entries.append([None, self._first(child, depth)])
        return self._put(OBJECT, entries)

    def _key(self, node: "Node | None", depth: int) -> str | int:
        """A name where it is one, else the place of what makes it."""
        if node is None:
            return ""
        if node.type == "computed_property_name":
            inner = node.named_children[0] if node.named_children else None
            if inner is not None and inner.type == "member_expression":
                return f"[{self._text(inner)}]"
            return self._read(inner, depth)
        return _unquoted(self._text(node))

    def _array(self, node: "Node", depth: int) -> int:
        return self._put(ARRAY, self._arguments(node, depth))

    def _assignment(self, node: "Node", depth: int) -> int:
        left = node.child_by_field_name("left")
        name = self._text(_last_name(left)) if left is not None else ""
        value = self._read_named(node.child_by_field_name("right"), name, depth)
        return self._put(ASSIGNMENT, self._pattern(left, depth), value)

    def _augmented(self, node: "Node", depth: int) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.type in ("||=", "&&=", "??="):
            value = self._put(EITHER, [], [self._read(left, depth), self._read(right, depth)])
            return self._put(ASSIGNMENT, self._pattern(left, depth), value)
        return self._unknown([child for child in (left, right) if child is not None], depth)

    def _choice(self, node: "Node", depth: int) -> int:
        test = self._read(node.child_by_field_name("condition"), depth)
        ways = [self._read(node.child_by_field_name(way), depth) for way in ("consequence", "alternative")]
        return self._put(EITHER, [test] if test else [], ways)

    def _binary(self, node: "Node", depth: int) -> int:
        chooses = False
        parts: list[int] = []
        now: Node | None = node
        while now is not None and now.type == "binary_expression":  # a long sum nests as deep as it is long
            operator = now.child_by_field_name("operator")
            chooses = chooses or (operator is not None and operator.type in ("||", "&&", "??"))
            parts.append(self._read(now.child_by_field_name("right"), depth))
            now = now.child_by_field_name("left")
        parts.append(self._read(now, depth))
        parts = [part for part in reversed(parts) if part]
        return self._put(EITHER, [], parts) if chooses else self._put(UNKNOWN, parts)

    def _yield(self, node: "Node", depth: int) -> int:
        return self._put(YIELD, self._first(node, depth), any(child.type == "*" for child in node.children))

    def _cast(self, node: "Node", depth: int) -> int:
        inner = self._first(node, depth)
        types = self._type(node.named_children[-1]) if node.named_child_count > 1 else []
        return self._put(CAST, inner, types) if types else inner

    def _assertion(self, node: "Node", depth: int) -> int:
        return self._read(node.named_children[-1], depth) if node.named_children else 0

    def _sequence(self, node: "Node", depth: int) -> int:
        return self._put(SEQUENCE, [self._read(child, depth) for child in node.named_children])

    def _function_value(self, node: "Node", depth: int) -> int:
        name = node.child_by_field_name("name")
        place = self._function(node, self._text(name) if name is not None else "")
        declared = node.type.endswith("_declaration") or node.type == "function_signature"
        return self._put(FUNCTION_DECLARATION if declared else "f", place)

    def _class_value(self, node: "Node", depth: int) -> int:
        name = node.child_by_field_name("name")
        place = self._class(node, self._text(name) if name is not None else "", depth)
        return self._put(CLASS if node.type == "class" else "dk", place)

    def _read_named(self, node: "Node | None", name: str, depth: int) -> int:
        """A value that is known by a name of what it is given to, when it has none of its own."""
        inner = node
        while inner is not None and inner.type == "parenthesized_expression" and inner.named_child_count:
            inner = inner.named_children[0]
        if inner is not None and inner.child_by_field_name("name") is None:
            if inner.type in _FUNCTIONS:
                return self._put(FUNCTION, self._function(inner, name))
            if inner.type == "class":
                return self._put(CLASS, self._class(inner, name, depth))
        return self._read(node, depth)

    # Patterns

    def _pattern(self, node: "Node | None", depth: int) -> int:
        if node is None or depth > DEEPEST:
            return 0
        match node.type:
            case "identifier" | "shorthand_property_identifier_pattern" | "shorthand_property_identifier":
                return self._put(NAME, self._text(node), node.start_byte)
            case "array_pattern" | "array":
                return self._put(ARRAY_PATTERN, self._elements(node, depth))
            case "object_pattern" | "object":
                return self._put(OBJECT_PATTERN, self._properties(node, depth))
            case "assignment_pattern" | "object_assignment_pattern" | "assignment_expression":
                left = node.child_by_field_name("left")
                name = self._text(left) if left is not None and left.type.endswith("identifier") else ""
                default = self._read_named(node.child_by_field_name("right"), name, depth + 1)
                return self._put(DEFAULT_PATTERN, self._pattern(left, depth + 1), default)
            case "rest_pattern" | "spread_element":
                return self._put(
                    REST_PATTERN, self._pattern(node.named_children[0] if node.named_children else None, depth + 1)
                )
            case "non_null_expression" | "parenthesized_expression" | "as_expression":
                return self._pattern(node.named_children[0] if node.named_children else None, depth + 1)
            case _:
                return self._read(node, depth + 1)

    def _elements(self, node: "Node", depth: int) -> list[int]:
        elements: list[int] = []
        filled = False
        for child in node.children:
            if child.type == ",":
                if not filled:
                    elements.append(0)
                filled = False
            elif child.is_named and child.type != "comment":
                elements.append(self._pattern(child, depth + 1))
                filled = True
        return elements

    def _properties(self, node: "Node", depth: int) -> list[Item]:
        entries: list[Item] = []
        for child in node.named_children:
            match child.type:
                case "pair_pattern" | "pair":
                    key = self._key(child.child_by_field_name("key"), depth)
                    entries.append([key, self._pattern(child.child_by_field_name("value"), depth + 1)])
                case "rest_pattern" | "spread_element":
                    entries.append(
                        [None, self._pattern(child.named_children[0] if child.named_children else None, depth + 1)]
                    )
                case "object_assignment_pattern" | "assignment_pattern":
                    left = child.child_by_field_name("left")
                    entries.append([self._text(left) if left is not None else "", self._pattern(child, depth + 1)])
                case "comment":
                    pass
                case _:
                    entries.append([self._text(child), self._pattern(child, depth + 1)])
        return entries

    # Functions and classes

    def _function(self, node: "Node", name: str) -> int:
        """Note a function; its body is read later, so that nesting costs no recursion."""
        named = node.child_by_field_name("name") or node
        arrow = node.type == "arrow_function"
        generator = node.type.startswith("generator") or any(child.type == "*" for child in node.children[:6])
        returns = node.child_by_field_name("return_type")
        record: Item = [
            name,
            node.start_byte,
            self._line(named),
            arrow,
            generator,
            [],
            [],
            self._type(returns) if returns is not None else [],
            [],
        ]
        self.functions.append(record)
        self._waiting.append((self._function_body, (node, record)))
        return len(self.functions) - 1

    def _function_body(self, node: "Node", record: Item) -> None:
        single = node.child_by_field_name("parameter")
        parameters = node.child_by_field_name("parameters")
        if single is not None:
            record[5] = [[self._pattern(single, 0), []]]
        elif parameters is not None:
            record[5], record[8] = self._parameters(parameters)
        body = node.child_by_field_name("body")
        if body is None:
            return
        if body.type == "statement_block":
            record[6] = self._statements(body.named_children, 0)
        else:
            record[6] = [self._put(RETURN, self._read(body, 0))]

    def _parameters(self, node: "Node") -> tuple[list[Item], list[Item]]:
        """Patterns with their types, and those that are fields of the class at once."""
        parameters: list[Item] = []
        fields: list[Item] = []
        for child in node.named_children:
            if child.type == "comment":
                continue
            if child.type not in ("required_parameter", "optional_parameter"):
                parameters.append([self._pattern(child, 0), []])
                continue
            pattern, value = child.child_by_field_name("pattern"), child.child_by_field_name("value")
            if pattern is None or pattern.type == "this":
                continue
            written = child.child_by_field_name("type")
            types = self._type(written) if written is not None else []
            place = self._pattern(pattern, 0)
            if value is not None:
                place = self._put(DEFAULT_PATTERN, place, self._read_named(value, self._text(pattern), 0))
            parameters.append([place, types])
            if any(part.type in ("accessibility_modifier", "readonly", "override_modifier") for part in child.children):
                fields.append([self._text(pattern), place])
        return parameters, fields

    def _class(self, node: "Node", name: str, depth: int) -> int:
        base, interfaces = 0, list[str]()
        for child in node.named_children:
            if child.type == "class_heritage":
                for part in child.named_children:
                    if part.type == "extends_clause":
                        base = self._read(part.child_by_field_name("value"), depth)
                    elif part.type == "implements_clause":
                        interfaces += [text for kind in part.named_children for text in self._type(kind)]
                    elif not base:
                        base = self._read(part, depth)
        named = node.child_by_field_name("name") or node
        record: Item = [name, node.start_byte, self._line(named), base, [], "class", interfaces]
        self.classes.append(record)
        self._waiting.append((self._class_body, (node.child_by_field_name("body"), record)))
        return len(self.classes) - 1

    def _class_body(self, body: "Node | None", record: Item) -> None:
        """Members: key, whether static, what it is (method, get, field, block), its place, its types."""
        members: list[Item] = record[4]
        for child in body.named_children if body is not None else ():
            static = any(part.type == "static" for part in child.children[:4])
            match child.type:
                case "method_definition":
                    key = self._key(child.child_by_field_name("name"), 0)
                    kind = next((part.type for part in child.children[:5] if part.type in ("get", "set")), "method")
                    members.append([key, static, kind, self._function(child, key if isinstance(key, str) else ""), []])
                case "field_definition" | "public_field_definition":
                    name = child.child_by_field_name("property") or child.child_by_field_name("name")
                    key = self._key(name, 0)
                    value = self._read_named(child.child_by_field_name("value"), key if isinstance(key, str) else "", 0)
                    written = child.child_by_field_name("type")
                    types = self._type(written) if written is not None else []
                    members.append([key, static, "field", value, types])
                case "class_static_block":
                    block = child.child_by_field_name("body")
                    statements = self._statements(block.named_children, 0) if block is not None else []
                    members.append(["", True, "block", self._put(BLOCK, statements), []])
                case "abstract_method_signature" | "method_signature" | "property_signature":
                    members.append(self._signature(child, static))
                case _:
                    pass

    def _signature(self, node: "Node", static: bool) -> Item:
        name = node.child_by_field_name("name")
        key = self._key(name, 0)
        if node.type == "property_signature":
            written = node.child_by_field_name("type")
            return [key, static, "field", 0, self._type(written) if written is not None else []]
        return [key, static, "method", self._function(node, key if isinstance(key, str) else ""), []]

    def _interface(self, node: "Node", depth: int) -> int:
        name = node.child_by_field_name("name")
        bases = [
            text
            for child in node.named_children
            if child.type in ("extends_type_clause", "extends_clause")
            for part in child.named_children
            for text in self._type(part)
        ]
        text = self._text(name) if name is not None else ""
        record: Item = [text, node.start_byte, self._line(name or node), 0, [], "interface", bases]
        self.classes.append(record)
        self._waiting.append((self._class_body, (node.child_by_field_name("body"), record)))
        return self._put(CLASS_DECLARATION, len(self.classes) - 1)

    def _alias(self, node: "Node", depth: int) -> int:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            return 0
        if value.type == "object_type":
            record: Item = [self._text(name), node.start_byte, self._line(name), 0, [], "interface", []]
            self.classes.append(record)
            self._waiting.append((self._class_body, (value, record)))
            return self._put(CLASS_DECLARATION, len(self.classes) - 1)
        return self._put(ALIAS, self._text(name), self._type(value))

    def _namespace(self, node: "Node", depth: int) -> int:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None or name.type == "string":
            return self._first(body, depth) if body is not None else 0
        return self._put(NAMESPACE, self._text(name), self._statements(body.named_children, depth))

    def _enum(self, node: "Node", depth: int) -> int:
        name = node.child_by_field_name("name")
        return (
            self._put(DECLARATION, "const", [[self._pattern(name, depth), self._put(OBJECT, []), []]])
            if name is not None
            else 0
        )

    def _type(self, node: "Node") -> list[str]:
        """The names of the types that a value may have; `[]` after a name for what a container holds."""
        found: list[str] = []
        waiting: list[tuple[Node, str]] = [(node, "")]
        while waiting and len(found) < 6:
            now, mark = waiting.pop()
            match now.type:
                case "type_identifier" | "identifier" | "nested_type_identifier":
                    found.append(self._text(now) + mark)
                case "generic_type":
                    name = now.child_by_field_name("name")
                    given = now.child_by_field_name("type_arguments")
                    text = self._text(name) if name is not None else ""
                    if text in _TRANSPARENT_TYPES and given is not None and given.named_children:
                        waiting.append((given.named_children[0], mark))
                    elif text in _CONTAINER_TYPES and given is not None and given.named_children:
                        last = given.named_children[0 if text == "Generator" else -1]
                        waiting.append((last, mark + "[]"))
                    elif text:
                        found.append(text + mark)
                case "array_type":
                    if now.named_children:
                        waiting.append((now.named_children[0], mark + "[]"))
                case (
                    "type_annotation"
                    | "union_type"
                    | "intersection_type"
                    | "parenthesized_type"
                    | "readonly_type"
                    | "asserts"
                ):
                    waiting.extend((child, mark) for child in reversed(now.named_children))
                case _:
                    pass
        return found

    # Statements

    def _declaration(self, node: "Node", depth: int) -> int:
        kind = node.children[0].type if node.children else "let"
        entries: list[Item] = []
        for child in node.named_children:
            if child.type != "variable_declarator":
                continue
            name = child.child_by_field_name("name")
            text = self._text(name) if name is not None and name.type == "identifier" else ""
            value = self._read_named(child.child_by_field_name("value"), text, depth)
            written = child.child_by_field_name("type")
            types = self._type(written) if written is not None else []
            entries.append([self._pattern(name, depth), value, types])
        return self._put(DECLARATION, kind, entries)

    def _block(self, node: "Node", depth: int) -> int:
        return self._put(BLOCK, self._statements(node.named_children, depth))

    def _if(self, node: "Node", depth: int) -> int:
        tests: list[int] = []
        ways: list[int] = []
        now: Node | None = node
        while now is not None and now.type == "if_statement":  # `else if` nests as deep as it is long
            tests.append(self._read(now.child_by_field_name("condition"), depth))
            ways.append(self._read(now.child_by_field_name("consequence"), depth))
            other = now.child_by_field_name("alternative")
            now = next((child for child in other.named_children if child.type != "comment"), None) if other else None
        if now is not None:
            ways.append(self._read(now, depth))
        return self._put(BRANCHES, [place for place in tests if place], [place for place in ways if place])

    def _loop(self, node: "Node", depth: int) -> int:
        heads = [
            self._read(node.child_by_field_name(part), depth) for part in ("initializer", "condition", "increment")
        ]
        body = self._read(node.child_by_field_name("body"), depth)
        return self._put(BRANCHES, [place for place in heads if place], [body] if body else [])

    def _for_in(self, node: "Node", depth: int) -> int:
        operator = node.child_by_field_name("operator")
        kind = node.child_by_field_name("kind")
        right = node.child_by_field_name("right")
        return self._put(
            FOR,
            kind.type if kind is not None else "",
            self._pattern(node.child_by_field_name("left"), depth),
            self._read(right, depth),
            self._read(node.child_by_field_name("body"), depth),
            operator is not None and operator.type == "of",
            right.start_byte if right is not None else node.start_byte,
            self._line(node),
        )

    def _switch(self, node: "Node", depth: int) -> int:
        test = self._read(node.child_by_field_name("value"), depth)
        body = node.child_by_field_name("body")
        ways = [
            self._put(BLOCK, self._statements(case.named_children, depth + 1))
            for case in (body.named_children if body is not None else ())
            if case.type in ("switch_case", "switch_default")
        ]
        return self._put(BRANCHES, [test] if test else [], ways)

    def _try(self, node: "Node", depth: int) -> int:
        ways: list[int] = []
        handler = node.child_by_field_name("handler")
        if handler is not None:
            ways.append(self._read(handler.child_by_field_name("body"), depth))
        finalizer = node.child_by_field_name("finalizer")
        body = self._read(node.child_by_field_name("body"), depth)
        last = self._first(finalizer, depth) if finalizer is not None else 0
        return self._put(BLOCK, [place for place in (body, self._put(BRANCHES, [], ways), last) if place])

    def _return(self, node: "Node", depth: int) -> int:
        return self._put(RETURN, self._first(node, depth))

    def _labeled(self, node: "Node", depth: int) -> int:
        return self._read(node.child_by_field_name("body"), depth)

    # Modules

    def _import(self, node: "Node", depth: int) -> int:
        for child in node.named_children:
            if child.type == "import_require_clause":
                names = [part for part in child.named_children if part.type == "identifier"]
                source = child.child_by_field_name("source")
                if names and source is not None:
                    self.imports.append([self._text(names[0]), _unquoted(self._text(source)), "="])
        source = node.child_by_field_name("source")
        if source is None:
            return 0
        module = _unquoted(self._text(source))
        for clause in node.named_children:
            if clause.type != "import_clause":
                continue
            for part in clause.named_children:
                if part.type == "identifier":
                    self.imports.append([self._text(part), module, "default"])
                elif part.type == "namespace_import" and part.named_children:
                    self.imports.append([self._text(part.named_children[0]), module, "*"])
                elif part.type == "named_imports":
                    for item in part.named_children:
                        name, alias = item.child_by_field_name("name"), item.child_by_field_name("alias")
                        if name is not None:
                            self.imports.append([self._text(alias or name), module, _unquoted(self._text(name))])
        return 0

    def _export(self, node: "Node", depth: int) -> int:
        source = node.child_by_field_name("source")
        module = _unquoted(self._text(source)) if source is not None else ""
        for child in node.named_children:
            if child.type == "export_clause":
                for item in child.named_children:
                    name, alias = item.child_by_field_name("name"), item.child_by_field_name("alias")
                    if name is not None:
                        self.exports.append([_unquoted(self._text(alias or name)), _unquoted(self._text(name)), module])
                return 0
            if child.type == "namespace_export" and child.named_children:
                self.exports.append([self._text(child.named_children[0]), "*", module])
                return 0
        kinds = {child.type for child in node.children}
        if "*" in kinds and module:
            self.stars.append(module)
            return 0
        default = "default" in kinds
        declaration = node.child_by_field_name("declaration")
        if declaration is not None:
            place = self._read(declaration, depth)
            for name in self._declared(declaration):
                self.exports.append(["default" if default else name, name, ""])
            return self._put(EXPORT_DEFAULT, place) if default else place
        value = node.child_by_field_name("value")
        if default:
            return self._put(EXPORT_DEFAULT, self._read_named(value, "default", depth))
        if "=" in kinds:
            return self._put(EXPORT_ALL, self._first(node, depth))
        return self._first(node, depth)

    def _declared(self, node: "Node") -> list[str]:
        name = node.child_by_field_name("name")
        if name is not None:
            return [self._text(name)]
        names: list[str] = []
        waiting = list(node.named_children)
        while waiting:
            now = waiting.pop()
            if now.type == "variable_declarator":
                pattern = now.child_by_field_name("name")
                if pattern is not None:
                    waiting.append(pattern)
            elif now.type in ("identifier", "shorthand_property_identifier_pattern"):
                names.append(self._text(now))
            elif now.type in ("array_pattern", "object_pattern", "rest_pattern"):
                waiting.extend(now.named_children)
            elif now.type == "pair_pattern":
                waiting.append(now.named_children[-1])
            elif now.type.endswith("_declaration") or now.type in ("function_signature", "internal_module"):
                names.extend(self._declared(now))
        return names


def _last_name(node: "Node") -> "Node":
    """The last name of what is called, by which the use is known."""
    now = node
    while True:
        if now.type == "member_expression":
            now = now.child_by_field_name("property") or now
        elif now.type in ("non_null_expression", "parenthesized_expression", "await_expression") and now.named_children:
            now = now.named_children[0]
            continue
        return now


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] in "\"'`" and text[-1] == text[0] else text

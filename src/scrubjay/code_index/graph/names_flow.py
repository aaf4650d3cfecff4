"""Reads the declared types of variables, fields and results from files of statically typed languages."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from scrubjay.code_index.graph.callback_facts import STORED_LISTS, CallbackFacts
from scrubjay.code_index.graph.name_paths import WRAPPERS, parse_name_path, parse_type_name, split_arguments

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

MAX_DECLARATIONS_SEARCHED = 100
"""Declarations of a name before a position that are searched for the one in scope."""
_FIRST = itemgetter(0)
MAX_TEXT_BYTES = 240
"""Bytes of a type or value that are read."""

_BLOCKS = {
    "block", "compound_statement", "function_body", "body_statement", "declaration_list", "class_body", "do_block",
    "lambda_literal", "if_statement", "for_statement", "for_expression", "if_expression", "match_arm",
    "while_expression", "foreach_statement", "enhanced_for_statement", "for_range_loop",
    "try_with_resources_statement", "expression_case", "type_case", "closure_expression", "lambda_expression",
    "func_literal", "communication_case",
    "template_body", "if_let_expression", "switch_block_statement_group", "lambda", "method",
}  # fmt: skip
_FUNCTIONS = {
    "function_declaration", "method_declaration", "function_item", "function_signature_item", "method_elem",
    "constructor_declaration", "function_definition", "method", "singleton_method", "init_declaration",
    "local_function_statement", "protocol_function_declaration",
}  # fmt: skip
_TYPES = {
    "class_declaration", "interface_declaration", "struct_item", "enum_item", "trait_item", "union_item",
    "class_specifier", "struct_specifier", "class_definition", "object_definition", "trait_definition",
    "struct_declaration", "record_declaration", "enum_declaration", "class", "module", "object_declaration",
    "trait_declaration", "protocol_declaration", "type_spec", "companion_object",
}  # fmt: skip
_PARAMETERS = {
    "parameter_declaration", "variadic_parameter_declaration", "parameter", "formal_parameter", "simple_parameter",
    "class_parameter", "property_promotion_parameter", "optional_parameter_declaration", "catch_formal_parameter",
    "resource", "spread_parameter",
}  # fmt: skip
_VARIABLES = {
    "short_var_declaration", "var_spec", "const_spec", "range_clause", "let_declaration", "let_condition",
    "for_expression", "static_item", "const_item", "local_variable_declaration", "field_declaration",
    "enhanced_for_statement", "variable_declaration", "declaration", "property_declaration", "foreach_statement",
    "for_range_loop", "val_definition", "var_definition", "assignment_expression", "assignment", "for_statement",
    "match_expression", "guard_statement", "if_statement", "type_switch_statement", "closure_expression",
    "receive_statement",
}  # fmt: skip


_ITEM_METHODS = {
    "map", "for_each", "filter", "filter_map", "flat_map", "any", "all", "find", "find_map", "position", "inspect",
    "take_while", "skip_while", "map_while", "partition", "max_by_key", "min_by_key", "sort_by_key", "sort_by",
    "sort_unstable_by", "sort_unstable_by_key", "max_by", "min_by", "retain", "reduce", "and_then", "is_some_and",
    "map_or", "map_or_else", "is_ok_and", "group_by", "dedup_by_key", "rposition", "then", "try_for_each", "or_else",
}  # fmt: skip
"""Methods of Rust's containers, iterators and wrappers that pass their items to a closure."""


class Flow:
    """The stored flow of a file."""

    __slots__ = ("bases", "callbacks", "fields", "functions", "package", "variables")

    def __init__(self, flow: bytes) -> None:
        kept: dict[str, Any] = from_json(flow) if flow else {}
        self.functions: Mapping[tuple[str, int], tuple[str, str]] = {
            (name, line): (returns, owner) for name, line, returns, owner in kept.get("functions", ())
        }
        """Result type and owning type, by name and line."""
        self.variables: dict[str, list[tuple[int, int, str, str]]] = {}
        """First byte, end, type and path of the value of each variable, by name in text order."""
        for at, end, name, kind, value in kept.get("variables", ()):
            self.variables.setdefault(name, []).append((at, end, kind, value))
        self.fields: dict[tuple[str, str], tuple[str, str]] = {}
        """Type or path of the value of a field, by owning type and field name."""
        for owner, name, kind, value in kept.get("fields", ()):
            self.fields.setdefault((owner, name), (kind, value))
        self.bases: list[tuple[str, str]] = [(owner, base) for owner, base in kept.get("bases", ())]
        self.package: str = kept.get("package", "")
        self.callbacks: Mapping[str, list[list[Any]]] = kept.get("handed", {})
        """The lists of `CallbackFacts`. The key `handed` is part of the stored format."""

    def variable(self, name: str, at: int) -> tuple[int, str, str] | None:
        """Return first byte, type and value path of the variable visible at a byte; None if there is none."""
        declared = self.variables.get(name)
        if declared is None:
            return None
        last = bisect_right(declared, at, key=_FIRST)
        for start, end, kind, value in reversed(declared[max(0, last - MAX_DECLARATIONS_SEARCHED) : last]):
            if at < end:
                return (start, kind, value)
        return None


def build_flow(content: bytes, tree: "Tree") -> bytes:
    """Return the serialized declarations of a file, which are stored with its facts."""
    return to_json(_read(content, tree, None))


def build_flow_with_callbacks(content: bytes, tree: "Tree") -> bytes:
    """Like `build_flow`, for Go and Rust, with the values that are passed and stored."""
    callbacks = CallbackFacts(content)
    kept = _read(content, tree, callbacks)
    return to_json(kept | {"handed": {part: getattr(callbacks, part) for part in STORED_LISTS}})


def _read(content: bytes, tree: "Tree", callbacks: CallbackFacts | None) -> dict[str, Any]:
    reader = _DeclarationReader(content, callbacks)
    reader.walk(tree.root_node)
    return {
        "functions": reader.functions,
        "variables": reader.variables,
        "fields": reader.fields,
        "bases": reader.bases,
        "package": reader.package,
    }


class _DeclarationReader:
    """Reads the declarations of one file in a single walk over its tree."""

    def __init__(self, content: bytes, callbacks: CallbackFacts | None) -> None:
        self._content = content
        self._callbacks = callbacks
        self._wraps = True
        """True if `List<T>` and similar types are recognized by name; in Go such a type is defined by the program."""
        self._lines = [0, *accumulate(len(line) + 1 for line in content.split(b"\n"))]
        self.functions: list[list[Any]] = []
        self.variables: list[list[Any]] = []
        self.fields: list[list[Any]] = []
        self.bases: list[list[str]] = []
        self.package = ""

    def _text(self, node: "Node | None") -> str:
        if node is None:
            return ""
        return self._content[node.start_byte : min(node.end_byte, node.start_byte + MAX_TEXT_BYTES)].decode(
            "utf-8", "replace"
        )

    def _type_name(self, text: str) -> str:
        return parse_type_name(text, wraps=self._wraps)

    def walk(self, root: "Node") -> None:
        """Visit all nodes once, tracking for each the enclosing type and the end of the enclosing block."""
        self._wraps = root.type != "source_file" or all(child.type != "package_clause" for child in root.children)
        waiting: list[tuple[Node, str, int]] = [(root, "", root.end_byte)]
        while waiting:
            node, owner, end = waiting.pop()
            kind = node.type
            if kind in _FUNCTIONS:
                owner = self._read_function(node, owner)
                end = node.end_byte
            elif kind in _PARAMETERS:
                self._add_parameter(node, owner, end)
            elif kind in _TYPES:
                owner = self._read_type(node, owner)
            elif kind in _BLOCKS:
                end = node.end_byte
            elif kind == "impl_item":
                owner = self._read_impl(node)
            elif kind == "enum_variant":
                self._add_variant(node, owner)
            elif kind in ("package_declaration", "package_header", "package_clause", "namespace_definition"):
                self.package = self.package or _package_name(self._text(node))
            elif kind in ("namespace_declaration", "file_scoped_namespace_declaration"):
                self.package = self.package or self._text(node.child_by_field_name("name"))
            if kind in _VARIABLES:
                self._read_variable(node, owner, end)
            if self._callbacks is not None:
                self._callbacks.record(node)
            if node.child_count:
                waiting.extend((child, owner, end) for child in reversed(node.children) if child.child_count)
        self.variables.sort(key=lambda kept: kept[0])

    def _read_function(self, node: "Node", owner: str) -> str:
        name = node.child_by_field_name("name")
        returns = next(
            (
                found
                for field in ("return_type", "result", "returns", "type")
                if (found := node.child_by_field_name(field)) is not None
            ),
            None,
        )
        text = self._text(returns)
        declarator = node.child_by_field_name("declarator")
        if declarator is not None:
            name = _innermost(declarator)
            if name is not None and name.type == "qualified_identifier":
                owner = self._text(name.child_by_field_name("scope")).rpartition("::")[2] or owner
                inner = name.child_by_field_name("name")
                while inner is not None and inner.type == "qualified_identifier":
                    owner = self._text(inner.child_by_field_name("scope"))
                    inner = inner.child_by_field_name("name")
                name = inner
        receiver = node.child_by_field_name("receiver")
        if receiver is not None and receiver.named_children:
            owner = self._type_name(self._text(receiver.named_children[0].child_by_field_name("type")))
        if name is None:
            return owner
        if returns is None:
            # Kotlin and Swift have no field for the result; its type follows the parameters.
            after = False
            for child in node.children:
                if child.type in ("function_value_parameters", ")"):
                    after = True
                elif child.type in ("user_type", "nullable_type", "optional_type", "array_type", "generic_type"):
                    if after:
                        text = self._text(child)
                    elif child.end_byte < name.start_byte:
                        owner = self._type_name(self._text(child))
        if text.startswith("("):
            text = text[1:].partition(",")[0].rstrip(")").rpartition(" ")[2]
        line = bisect_right(self._lines, name.start_byte)
        self.functions.append([self._text(name), line, self._type_name(text.removeprefix("->").strip()), owner])
        return owner

    def _read_type(self, node: "Node", owner: str) -> str:
        name = node.child_by_field_name("name")
        inner = node.child_by_field_name("type")
        if node.type == "type_spec" and inner is not None and inner.type not in ("struct_type", "interface_type"):
            return owner
        own = self._type_name(self._text(name)) if name is not None else owner
        if inner is not None and node.type == "type_spec":
            for lists in inner.named_children:
                for child in lists.named_children if inner.type == "struct_type" else [lists]:
                    if child.type == "field_declaration" and child.child_by_field_name("name") is None:
                        base = self._type_name(self._text(child.child_by_field_name("type")))
                        self.bases.append([own, base])
                        self.fields.append([own, base.rpartition(".")[2], base, ""])
                    elif child.type == "type_elem" and child.named_child_count == 1:
                        self.bases.append([own, self._type_name(self._text(child))])
        for child in node.named_children:
            if child.type == "inheritance_specifier":  # also in extensions of Swift
                self.bases.append([own, self._type_name(self._text(child))])
        self._add_positional_fields(node, own)
        return own

    def _add_positional_fields(self, node: "Node", owner: str, before: str = "") -> None:
        """Record the fields of `struct Pair(Left, Right)` or of a variant, which are named by position."""
        body = node.child_by_field_name("body")
        if body is not None and body.type == "ordered_field_declaration_list":
            for place, kind in enumerate(body.children_by_field_name("type")):
                self.fields.append([owner, f"{before}{place}", self._type_name(self._text(kind)), ""])

    def _add_variant(self, node: "Node", owner: str) -> None:
        name = self._text(node.child_by_field_name("name"))
        self._add_positional_fields(node, owner, f"{name}#")
        body = node.child_by_field_name("body")
        for field in body.named_children if body is not None and body.type == "field_declaration_list" else ():
            kind = self._type_name(self._text(field.child_by_field_name("type")))
            self.fields.append([owner, f"{name}#{self._text(field.child_by_field_name('name'))}", kind, ""])

    def _read_impl(self, node: "Node") -> str:
        own = self._type_name(self._text(node.child_by_field_name("type")))
        trait = node.child_by_field_name("trait")
        if trait is not None:
            self.bases.append([own, self._type_name(self._text(trait))])
        body = node.child_by_field_name("body")
        if body is not None and self._text(trait).rpartition("::")[2] in ("Deref", "DerefMut"):
            # Methods of the target can be called as if they were its own.
            for child in body.named_children:
                if child.type == "type_item":
                    self.bases.append([own, self._type_name(self._text(child.child_by_field_name("type")))])
        return own

    def _add_parameter(self, node: "Node", owner: str, end: int) -> None:
        kind = node.child_by_field_name("type")
        names = [
            child
            for child in node.children_by_field_name("name")
            if "identifier" in child.type or "variable" in child.type
        ]
        if not names:
            found = node.child_by_field_name("pattern") or _innermost(node.child_by_field_name("declarator"))
            names = (
                [found]
                if found is not None
                else [child for child in node.named_children if child.type == "identifier"][:1]
            )
        text = self._text(kind)
        if kind is None:
            text = next(
                (
                    self._text(child)
                    for child in reversed(node.named_children)
                    if child.type.endswith("type") and child not in names
                ),
                "",
            )
        shown = self._type_name(text)
        if node.type.startswith(("variadic", "spread")) and shown:
            shown += "[]"
        for name in names:
            self._add(name.start_byte, end, self._text(name), shown, "", owner)
            if node.type in ("class_parameter", "property_promotion_parameter") and owner:
                self.fields.append([owner, _without_sigil(self._text(name)), shown, ""])

    def _add(self, at: int, end: int, name: str, kind: str, value: str, owner: str) -> None:
        name = _without_sigil(name)
        if name.isidentifier() and name != "_":
            self.variables.append([at, end, name, kind, value])

    def _add_pairs(self, left: "Node", right: "Node | None", end: int, owner: str, mark: str = "") -> None:
        """Record `a, b := f(), g()`: each name with its value; of a single call the first name gets the result."""
        names = left.named_children if left.type == "expression_list" else [left]
        values = right.named_children if right is not None and right.type == "expression_list" else [right]
        for index, name in enumerate(names):
            value = values[index] if index < len(values) else None
            if mark and len(names) > 1:
                value = values[0] if index == len(names) - 1 else None  # `for key, element := range …`
            self._add(name.start_byte, end, self._text(name), *self._type_or_path(value, mark), owner)

    def _type_or_path(self, value: "Node | None", mark: str = "") -> tuple[str, str]:
        """Return the type of a value if it is written, else its path."""
        if value is None:
            return "", ""
        if value.type == "type_assertion_expression" or value.type == "as_expression":
            kind = value.child_by_field_name("type") or value.named_children[-1]
            return self._type_name(self._text(kind)), ""
        if value.type == "composite_literal":
            kind = self._type_name(self._text(value.child_by_field_name("type")))
            if kind.endswith("[]"):
                return (kind[:-2] if mark else kind), ""
        if value.type == "unary_expression" and self._text(value).startswith("<-"):
            value, mark = value.child_by_field_name("operand") or value, "[]"
        value = self._unwrapped(value)
        if value.type == "macro_invocation" and self._text(value).startswith("vec!["):
            # The arguments of a macro are not parsed: the first item of a list gives the type of all.
            path = parse_name_path(split_arguments(self._text(value)[5:].rstrip("]"))[0])
            return (f"{path[:-2]}[]", "") if path.endswith("{}") else ("", path)
        path = parse_name_path(self._text(value))
        return "", path + mark if path else ""

    def _unwrapped(self, value: "Node") -> "Node":
        """Return the value within `Arc::new(…)`, `Some(…)` and similar, or the argument of `Arc::clone(…)`."""
        while value.type == "call_expression":
            function = self._text(value.child_by_field_name("function"))
            wrapper, _, method = function.rpartition("::")
            wraps = wrapper.rpartition("::")[2] in WRAPPERS and method in ("new", "clone", "from")
            arguments = value.child_by_field_name("arguments")
            inner = arguments.named_children if arguments is not None else []
            if not (wraps or function in ("Some", "Ok")) or len(inner) != 1:
                break
            value = inner[0]
        return value

    def _read_variable(self, node: "Node", owner: str, end: int) -> None:
        match node.type:
            case "type_switch_statement":
                self._add_type_switch(node, owner)
            case "short_var_declaration" | "range_clause" | "receive_statement":
                left = node.child_by_field_name("left")
                if left is not None:
                    mark = "[]" if node.type == "range_clause" else ""
                    self._add_pairs(left, node.child_by_field_name("right"), end, owner, mark)
            case "var_spec" | "const_spec":
                kind = self._type_name(self._text(node.child_by_field_name("type")))
                value = node.child_by_field_name("value")
                if value is not None and value.type == "expression_list" and value.named_children:
                    value = value.named_children[0]
                for name in node.children_by_field_name("name"):
                    declared, path = self._type_or_path(value)
                    self._add(name.start_byte, end, self._text(name), kind or declared, path, owner)
            case (
                "let_declaration" | "let_condition" | "static_item" | "const_item" | "val_definition" | "var_definition"
            ):
                pattern = node.child_by_field_name("pattern") or node.child_by_field_name("name")
                kind = self._type_name(self._text(node.child_by_field_name("type")))
                declared, path = self._type_or_path(node.child_by_field_name("value"))
                typed = (kind or declared, path)
                # A name is visible after its own declaration: `let x = x.next()` reads the previous one.
                at = -1 if node.type == "let_condition" else node.end_byte
                self._bind(pattern, typed, at, end, owner)
                inner = _only_name(pattern)
                if inner is not None and owner and node.type in ("val_definition", "var_definition"):
                    self.fields.append([owner, self._text(inner), *typed])
            case "match_expression":
                self._add_match(node, owner)
            case "for_expression":
                typed = self._type_or_path(node.child_by_field_name("value"), "[]")
                self._bind(node.child_by_field_name("pattern"), typed, -1, node.end_byte, owner)
            case "closure_expression":
                self._add_closure(node, owner)
            case "enhanced_for_statement" | "foreach_statement" | "for_range_loop":
                self._add_loop_variable(node, owner)
            case "local_variable_declaration" | "field_declaration" | "variable_declaration" | "declaration":
                self._add_declaration(node, owner, end)
            case "property_declaration":
                self._add_property(node, owner, end)
            case "assignment_expression" | "assignment":
                self._add_assignment(node, owner, end)
            case "for_statement" | "guard_statement" | "if_statement":
                self._add_loop_or_optional(node, owner, end)
            case _:
                pass

    def _add_type_switch(self, node: "Node", owner: str) -> None:
        """Record `switch shape := shape.(type)`: within the case of one type the name has that type."""
        alias = node.child_by_field_name("alias")
        for case in node.named_children if alias is not None else ():
            kinds = case.children_by_field_name("type") if case.type == "type_case" else []
            if alias is not None and len(kinds) == 1:
                kind = self._type_name(self._text(kinds[0]))
                self._add(kinds[0].end_byte, case.end_byte, self._text(alias), kind, "", owner)

    def _add_match(self, node: "Node", owner: str) -> None:
        value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
        for arm in body.named_children if body is not None else ():
            pattern = arm.child_by_field_name("pattern")
            if pattern is not None and pattern.named_children:
                self._bind(pattern.named_children[0], self._type_or_path(value), -1, arm.end_byte, owner)

    def _bind(self, pattern: "Node | None", typed: tuple[str, str], at: int, end: int, owner: str) -> None:
        """Record the names that a Rust pattern binds, visible from `at` or, if that is -1, from where they stand.

        The content of `Some` and `Ok` has the wrapped type. The last name of a tuple has the item type, since it is the
        value of a map's entry or the item that `enumerate` yields.
        """
        waiting = [(pattern, typed)]
        while waiting:
            node, typed = waiting.pop()
            if node is None:
                continue
            inner = [child for child in node.named_children if child.type != "mutable_specifier"]
            match node.type:
                case "identifier":
                    self._add(node.start_byte if at < 0 else at, end, self._text(node), *typed, owner)
                case "mut_pattern" | "ref_pattern" | "reference_pattern":
                    waiting.append((inner[-1] if inner else None, typed))
                case "captured_pattern":
                    waiting.append((inner[0] if inner else None, typed))
                case "tuple_pattern":
                    waiting += [(child, ("", "")) for child in inner[:-1]]
                    waiting.append((inner[-1] if inner else None, typed))
                case "tuple_struct_pattern":
                    kind = self._text(node.child_by_field_name("type"))
                    path = parse_name_path(kind)
                    for place, child in _positional_items(node):
                        held = typed if kind in ("Some", "Ok") else ("", f"{path}#{place}" if "." in path else "")
                        waiting.append((child, held))
                case "struct_pattern":
                    path = parse_name_path(self._text(node.child_by_field_name("type")))
                    link = "#" if "." in path else "{}."
                    for field in inner[1:]:
                        name = field.child_by_field_name("name")
                        held = ("", f"{path}{link}{self._text(name)}") if path else ("", "")
                        if name is not None and field.child_by_field_name("pattern") is None:
                            self._add(name.start_byte if at < 0 else at, end, self._text(name), *held, owner)
                        else:
                            waiting.append((field.child_by_field_name("pattern"), held))
                case _:
                    pass

    def _add_closure(self, node: "Node", owner: str) -> None:
        """Record the parameters of a closure passed to a method of a container: they have the item type."""
        parameters = node.child_by_field_name("parameters")
        call = node.parent.parent if node.parent is not None and node.parent.type == "arguments" else None
        function = call.child_by_field_name("function") if call is not None else None
        if parameters is None or function is None or function.type != "field_expression":
            return
        method = self._text(function.child_by_field_name("field"))
        typed = self._type_or_path(function.child_by_field_name("value"), "[]")
        taken = [child for child in parameters.named_children if child.type != "parameter"]
        if method in _ITEM_METHODS:
            for child in taken:
                self._bind(child, typed, -1, node.end_byte, owner)
        elif method in ("fold", "try_fold") and len(taken) == 2:
            self._bind(taken[1], typed, -1, node.end_byte, owner)

    def _add_loop_variable(self, node: "Node", owner: str) -> None:
        kind = self._type_name(self._text(node.child_by_field_name("type")))
        name = (
            node.child_by_field_name("name")
            or node.child_by_field_name("left")
            or _innermost(node.child_by_field_name("declarator"))
        )
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if name is None and len(node.named_children) > 2:  # PHP
            value, name = node.named_children[0], node.named_children[1]
        if name is not None:
            typed = (kind, "") if kind else self._type_or_path(value, "[]")
            self._add(name.start_byte, node.end_byte, self._text(name), *typed, owner)

    def _add_declaration(self, node: "Node", owner: str, end: int) -> None:
        """Record declarations of Java, C, C++, C#, Rust and Go: a type, then names with their values."""
        kind = self._type_name(self._text(node.child_by_field_name("type")))
        names = [(name, None) for name in node.children_by_field_name("name")]
        found: list[tuple[Node, Node | None]] = [*names]
        declarators = node.children_by_field_name("declarator") or [
            c for c in node.named_children if c.type == "variable_declarator"
        ]
        for declarator in declarators:
            name = declarator.child_by_field_name("name") or _innermost(declarator)
            value = declarator.child_by_field_name("value")
            if value is None and declarator.type == "variable_declarator" and declarator.named_child_count > 1:
                value = declarator.named_children[-1]
            if name is not None and not _is_function(declarator):
                found.append((name, value))
        is_field = node.type == "field_declaration" or (
            node.parent is not None and node.parent.type == "field_declaration"
        )
        for name, value in found:
            typed = (kind, "") if kind else self._type_or_path(value)
            if is_field and owner:
                self.fields.append([owner, self._text(name), *typed])
            elif not is_field:
                self._add(name.start_byte, end, self._text(name), *typed, owner)

    def _add_property(self, node: "Node", owner: str, end: int) -> None:
        """Record a property or variable of Kotlin, Swift, C# or PHP."""
        kind = self._text(node.child_by_field_name("type"))
        value = node.child_by_field_name("value")
        name = node.child_by_field_name("name")
        for child in node.named_children:
            if child.type == "variable_declaration" and child.named_children:
                name = child.named_children[0]
                kind = self._text(child.named_children[1]) if child.named_child_count > 1 else kind
            elif child.type == "type_annotation":
                kind = self._text(child).lstrip(": ")
            elif child.type == "property_element":
                name = child.child_by_field_name("name") or child
            elif (
                value is None
                and child.type in ("call_expression", "navigation_expression", "identifier")
                and child != name
            ):
                value = child
        if name is None:
            return
        shown = self._type_name(kind)
        typed = (shown, "") if shown else self._type_or_path(value)
        within = node.parent.type if node.parent is not None else ""
        text = _without_sigil(self._text(name))
        if owner and within in ("class_body", "declaration_list", "enum_class_body", "protocol_body", "body_statement"):
            self.fields.append([owner, text, *typed])
        else:
            self._add(node.end_byte, end, text, *typed, owner)

    def _add_assignment(self, node: "Node", owner: str, end: int) -> None:
        """Record assignments of PHP and Ruby, where the first declares; `this.x = …` and `@x = …` declare fields."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        text = self._text(left)
        typed = self._type_or_path(right)
        if left.type in ("variable_name", "identifier") and (text.startswith("$") or node.type == "assignment"):
            self._add(node.end_byte, end, text, *typed, owner)
        elif owner and text.startswith(("@", "$this->", "this.")):
            self.fields.append([owner, text.removeprefix("$this->").removeprefix("this.").lstrip("@"), *typed])

    def _add_loop_or_optional(self, node: "Node", owner: str, end: int) -> None:
        """Record the names bound by Kotlin's `for (x in …)` and Swift's `if let x = …`."""
        children = node.named_children
        for index, child in enumerate(children[:-1]):
            if child.type == "variable_declaration" and node.type == "for_statement" and child.named_children:
                name = child.named_children[0]
                self._add(
                    name.start_byte,
                    node.end_byte,
                    self._text(name),
                    *self._type_or_path(children[index + 1], "[]"),
                    owner,
                )
            elif (
                child.type == "value_binding_pattern"
                and index + 2 < len(children)
                and children[index + 1].type == "simple_identifier"
            ):
                name = children[index + 1]
                until = end if node.type == "guard_statement" else node.end_byte
                self._add(name.end_byte, until, self._text(name), *self._type_or_path(children[index + 2]), owner)


def _positional_items(pattern: "Node") -> "Iterator[tuple[int, Node]]":
    """Yield position and node of the items in the parentheses of a pattern; `_` takes a position too."""
    place = -1
    for child in pattern.children:
        if child.type in ("(", ","):
            place += 1
        elif place >= 0 and child.is_named:
            yield place, child


def _innermost(node: "Node | None") -> "Node | None":
    """Return the name in a declarator of C, within pointers, brackets and parameters."""
    for _ in range(12):
        if node is None or node.type in (
            "identifier",
            "field_identifier",
            "qualified_identifier",
            "destructor_name",
            "operator_name",
        ):
            return node
        inner = node.child_by_field_name("declarator") or node.child_by_field_name("name")
        if inner is None and node.type in ("reference_declarator", "parenthesized_declarator", "pointer_declarator"):
            inner = next(
                (child for child in node.named_children if "identifier" in child.type or "declarator" in child.type),
                None,
            )
        node = inner
    return None


def _is_function(declarator: "Node") -> bool:
    now: Node | None = declarator
    for _ in range(8):
        if now is None:
            return False
        if now.type == "function_declarator":
            return True
        now = now.child_by_field_name("declarator")
    return False


def _only_name(pattern: "Node | None") -> "Node | None":
    """Return the one name that a pattern binds: `x`, `mut x`, `Some(x)`, `&x`."""
    for _ in range(6):
        if pattern is None or pattern.type == "identifier":
            return pattern
        if pattern.type not in (
            "tuple_struct_pattern",
            "mut_pattern",
            "ref_pattern",
            "reference_pattern",
            "captured_pattern",
        ):
            return None
        named = [child for child in pattern.named_children if child.type != "mutable_specifier"]
        pattern = named[-1] if named and len(named) <= 2 else None
    return None


def _package_name(text: str) -> str:
    words = text.split("{")[0].replace(";", " ").split()
    return words[1].replace("\\", ".") if len(words) > 1 else ""


def _without_sigil(name: str) -> str:
    return name.strip().lstrip("$@&").strip()

"""The trees of Python files as nested tuples, from the native library and, in the same form, from `ast`."""

import ast
import ctypes
import json
import re
import sys
from collections.abc import Sequence
from typing import Any

from native.build import SOURCE_FOLDER
from scrubjay.native.library import library

Form = tuple[Any, ...]

_ENUM = re.search(r"typedef enum \{(.*?)\} Kind;", (SOURCE_FOLDER / "python_tree.h").read_text(), re.DOTALL)
assert _ENUM
KINDS = re.findall(r"\w+", re.sub(r"/\*.*?\*/", "", _ENUM[1], flags=re.DOTALL))
_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
_WITHOUT_SPANS = {_NUMBERS[kind] for kind in ("FOR_EACH", "ARGUMENTS", "BASES", "WITH_ITEM", "BLOCK", "CASE")}
"""Kinds of nodes for which `ast` has no position."""
_JOINED, _TEXT, _MATCH_CLASS = (_NUMBERS[kind] for kind in ("JOINED", "TEXT", "MATCH_CLASS"))
_NO_SPAN = (0, 0, 0, 0)
HAS_POSITIONS_IN_STRINGS = sys.version_info >= (3, 12)


def _load_json(pointer: int | None, size: ctypes.c_int64, is_wanted: bool = True) -> Any:
    native = library()
    assert native is not None
    if not pointer:
        return None
    try:
        return json.loads(ctypes.string_at(pointer, size.value)) if is_wanted else ()
    finally:
        free = native.scrubjay_python_json_free
        free.argtypes = [ctypes.c_void_p]
        free(pointer)


def is_read_natively(content: bytes) -> bool:
    return read_json_natively(content, is_wanted=False) is not None


def read_json_natively(content: bytes, is_wanted: bool = True) -> Any:
    """Return the statements and the line starts of a file; None if the native parser declines it."""
    native = library()
    assert native is not None
    read = native.scrubjay_python_tree_json
    read.restype = ctypes.c_void_p
    read.argtypes = [ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p]
    size = ctypes.c_int64()
    return _load_json(read(content, len(content), ctypes.byref(size)), size, is_wanted)


def read_natively(content: bytes) -> tuple[list[Form], list[int]] | None:
    """Return the tree in normalized form, and the line starts."""
    found = read_json_natively(content)
    return found and (_normalize_all(found[0], is_inside=False), found[1])


def read_annotation_natively(text: str) -> tuple[Form | None, bool]:
    """Return the tree of an annotation, and whether the text is certainly not one."""
    native = library()
    assert native is not None
    read = native.scrubjay_python_annotation_json
    read.restype = ctypes.c_void_p
    read.argtypes = [ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p]
    size, wrong, content = ctypes.c_int64(), ctypes.c_int(), text.encode()
    given = _load_json(read(content, len(content), ctypes.byref(size), ctypes.byref(wrong)), size)
    return given and _normalize(given, is_inside=False), bool(wrong.value)


def _normalize(node: list[Any] | str | None, is_inside: bool, has_span: bool = True) -> Any:
    """Normalize a tree: remove the positions that `ast` lacks or reports wrongly."""
    if node is None or isinstance(node, str):
        return node
    kind, form, start, end, line, end_line, number, name, other, text, letters, a, b, c, items, more = node
    assert letters == len(text or "")
    span = _NO_SPAN if is_inside or kind in _WITHOUT_SPANS or not has_span else (start, end, line, end_line)
    if kind == _JOINED and not HAS_POSITIONS_IN_STRINGS:
        is_inside = True
    parts = (_normalize(part, is_inside) for part in (a, b, c))
    listed = tuple(_normalize(item, is_inside, kind != _JOINED or item[0] != _TEXT) for item in items)
    rest = tuple(_normalize(item, is_inside, kind != _MATCH_CLASS) for item in more)
    return (kind, form, span, number, name, other, text, *parts, listed, rest)


def _normalize_all(nodes: Sequence[Any], is_inside: bool) -> list[Form]:
    return [_normalize(node, is_inside) for node in nodes]


_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.MatMult: "@", ast.Pow: "p",
    ast.FloorDiv: "f", ast.LShift: "l", ast.RShift: "r", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.UAdd: "+", ast.USub: "-", ast.Invert: "~", ast.Not: "!", ast.And: "&", ast.Or: "|",
}  # fmt: skip


class AstConverter:
    """Converts the tree of `ast` to the form of the native library."""

    def __init__(self, content: bytes) -> None:
        self._starts: list[int] = [0, 0]
        for line in content.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._is_inside = False

    def convert_all(self, nodes: Sequence[ast.AST | None]) -> tuple[Any, ...]:
        return tuple(self.convert(node) for node in nodes)

    def convert(self, node: ast.AST | None) -> Any:
        if node is None:
            return None
        return getattr(self, f"_{type(node).__name__.lower()}")(node)

    def _form(
        self,
        node: Any,
        kind: str,
        *,
        a: Any = None,
        b: Any = None,
        c: Any = None,
        items: Sequence[Any] = (),
        more: Sequence[Any] = (),
        form: int | str = 0,
        number: int = 0,
        name: str | None = None,
        other: str | None = None,
        text: str | None = None,
    ) -> Form:
        span: tuple[int, ...] = _NO_SPAN
        if hasattr(node, "lineno") and not self._is_inside:
            line, end_line = int(node.lineno), int(node.end_lineno)
            start, end = self._starts[line] + int(node.col_offset), self._starts[end_line] + int(node.end_col_offset)
            span = (start, end, line, end_line)
        form_code = ord(form) if isinstance(form, str) else form
        return (_NUMBERS[kind], form_code, span, number, name, other, text, a, b, c, tuple(items), tuple(more))

    # Expressions

    def _name(self, node: ast.Name):
        return self._form(node, "NAME", name=node.id)

    def _constant(self, node: ast.Constant):
        value = node.value
        if isinstance(value, str):
            return self._form(node, "TEXT", text=value)
        if isinstance(value, bytes):
            return self._form(node, "BYTES")
        if type(value) is int:
            return self._form(node, "WHOLE", number=value if value < 10**9 else -1)
        return self._form(node, "OTHER")

    def _joinedstr(self, node: ast.JoinedStr):
        was_inside, self._is_inside = self._is_inside, self._is_inside or not HAS_POSITIONS_IN_STRINGS
        items = [
            self._part(value) for value in node.values if not (isinstance(value, ast.Constant) and not value.value)
        ]
        self._is_inside = was_inside
        return self._form(node, "JOINED", items=items)

    def _part(self, node: ast.expr):
        """Convert the text between braces, which some versions report with its quotes, or where there is none."""
        return self._form(None, "TEXT", text=str(node.value)) if isinstance(node, ast.Constant) else self.convert(node)

    def _formattedvalue(self, node: ast.FormattedValue):
        return self._form(node, "FORMATTED", a=self.convert(node.value), b=self.convert(node.format_spec))

    def _attribute(self, node: ast.Attribute):
        return self._form(node, "ATTRIBUTE", a=self.convert(node.value), name=node.attr)

    def _call(self, node: ast.Call):
        return self._form(
            node,
            "CALL",
            a=self.convert(node.func),
            items=self.convert_all(node.args),
            more=self.convert_all(node.keywords),
        )

    def _keyword(self, node: ast.keyword):
        return self._form(node, "KEYWORD", a=self.convert(node.value), name=node.arg)

    def _lambda(self, node: ast.Lambda):
        return self._form(node, "LAMBDA", a=self.convert(node.args), b=self.convert(node.body))

    def _list(self, node: ast.List):
        return self._form(node, "LIST", items=self.convert_all(node.elts))

    def _tuple(self, node: ast.Tuple):
        return self._form(node, "TUPLE", items=self.convert_all(node.elts))

    def _set(self, node: ast.Set):
        return self._form(node, "SET", items=self.convert_all(node.elts))

    def _dict(self, node: ast.Dict):
        return self._form(node, "DICT", items=self.convert_all(node.keys), more=self.convert_all(node.values))

    def _starred(self, node: ast.Starred):
        return self._form(node, "STARRED", a=self.convert(node.value))

    def _subscript(self, node: ast.Subscript):
        return self._form(node, "SUBSCRIPT", a=self.convert(node.value), b=self.convert(node.slice))

    def _slice(self, node: ast.Slice):
        return self._form(
            node, "SLICE", a=self.convert(node.lower), b=self.convert(node.upper), c=self.convert(node.step)
        )

    def _binop(self, node: ast.BinOp):
        return self._form(
            node, "BINARY", a=self.convert(node.left), b=self.convert(node.right), form=_OPERATORS[type(node.op)]
        )

    def _unaryop(self, node: ast.UnaryOp):
        return self._form(node, "UNARY", a=self.convert(node.operand), form=_OPERATORS[type(node.op)])

    def _compare(self, node: ast.Compare):
        return self._form(node, "COMPARE", a=self.convert(node.left), items=self.convert_all(node.comparators))

    def _boolop(self, node: ast.BoolOp):
        return self._form(node, "BOOLEAN", items=self.convert_all(node.values), form=_OPERATORS[type(node.op)])

    def _ifexp(self, node: ast.IfExp):
        return self._form(
            node, "IF_ELSE", a=self.convert(node.test), b=self.convert(node.body), c=self.convert(node.orelse)
        )

    def _await(self, node: ast.Await):
        return self._form(node, "AWAIT", a=self.convert(node.value))

    def _yield(self, node: ast.Yield):
        return self._form(node, "YIELD", a=self.convert(node.value))

    def _yieldfrom(self, node: ast.YieldFrom):
        return self._form(node, "YIELD_FROM", a=self.convert(node.value))

    def _namedexpr(self, node: ast.NamedExpr):
        return self._form(node, "NAMED", a=self.convert(node.target), b=self.convert(node.value))

    def _listcomp(self, node: ast.ListComp):
        return self._form(node, "LIST_OF", a=self.convert(node.elt), items=self.convert_all(node.generators))

    def _setcomp(self, node: ast.SetComp):
        return self._form(node, "SET_OF", a=self.convert(node.elt), items=self.convert_all(node.generators))

    def _generatorexp(self, node: ast.GeneratorExp):
        return self._form(node, "GENERATOR", a=self.convert(node.elt), items=self.convert_all(node.generators))

    def _dictcomp(self, node: ast.DictComp):
        return self._form(
            node,
            "DICT_OF",
            a=self.convert(node.key),
            b=self.convert(node.value),
            items=self.convert_all(node.generators),
        )

    def _comprehension(self, node: ast.comprehension):
        target, iterated = self.convert(node.target), self.convert(node.iter)
        return self._form(node, "FOR_EACH", a=target, b=iterated, items=self.convert_all(node.ifs), form=node.is_async)

    def _arguments(self, node: ast.arguments):
        positional = [*node.posonlyargs, *node.args]
        defaults = [*[None] * (len(positional) - len(node.defaults)), *node.defaults]
        return self._form(
            node,
            "ARGUMENTS",
            items=[self._argument(*both) for both in zip(positional, defaults, strict=True)],
            more=[self._argument(*both) for both in zip(node.kwonlyargs, node.kw_defaults, strict=True)],
            a=node.vararg and self._argument(node.vararg, None),
            b=node.kwarg and self._argument(node.kwarg, None),
            form=len(node.posonlyargs),
        )

    def _argument(self, node: ast.arg, default: ast.expr | None):
        return self._form(node, "ARGUMENT", name=node.arg, a=self.convert(node.annotation), b=self.convert(default))

    # Statements

    def _functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef):
        return self._form(
            node,
            "FUNCTION",
            name=node.name,
            form=isinstance(node, ast.AsyncFunctionDef),
            a=self.convert(node.args),
            b=self.convert(node.returns),
            items=self.convert_all(node.body),
            more=self.convert_all(node.decorator_list),
        )

    _asyncfunctiondef = _functiondef

    def _classdef(self, node: ast.ClassDef):
        bases = None
        if node.bases or node.keywords:
            bases = self._form(None, "BASES", items=self.convert_all(node.bases), more=self.convert_all(node.keywords))
        body, decorators = self.convert_all(node.body), self.convert_all(node.decorator_list)
        return self._form(node, "CLASS", name=node.name, a=bases, items=body, more=decorators)

    def _return(self, node: ast.Return):
        return self._form(node, "RETURN", a=self.convert(node.value))

    def _delete(self, node: ast.Delete):
        return self._form(node, "DELETE", items=self.convert_all(node.targets))

    def _assign(self, node: ast.Assign):
        return self._form(node, "ASSIGN", items=self.convert_all(node.targets), a=self.convert(node.value))

    def _annassign(self, node: ast.AnnAssign):
        return self._form(
            node, "ANNOTATED", a=self.convert(node.target), b=self.convert(node.annotation), c=self.convert(node.value)
        )

    def _augassign(self, node: ast.AugAssign):
        return self._form(
            node, "AUGMENTED", a=self.convert(node.target), b=self.convert(node.value), form=_OPERATORS[type(node.op)]
        )

    def _for(self, node: ast.For | ast.AsyncFor):
        target, iterated, is_async = self.convert(node.target), self.convert(node.iter), isinstance(node, ast.AsyncFor)
        return self._form(
            node,
            "FOR",
            a=target,
            b=iterated,
            items=self.convert_all(node.body),
            more=self.convert_all(node.orelse),
            form=is_async,
        )

    _asyncfor = _for

    def _while(self, node: ast.While):
        return self._form(
            node,
            "WHILE",
            a=self.convert(node.test),
            items=self.convert_all(node.body),
            more=self.convert_all(node.orelse),
        )

    def _if(self, node: ast.If):
        return self._form(
            node, "IF", a=self.convert(node.test), items=self.convert_all(node.body), more=self.convert_all(node.orelse)
        )

    def _with(self, node: ast.With | ast.AsyncWith):
        is_async = isinstance(node, ast.AsyncWith)
        return self._form(
            node, "WITH", items=self.convert_all(node.items), more=self.convert_all(node.body), form=is_async
        )

    _asyncwith = _with

    def _withitem(self, node: ast.withitem):
        return self._form(node, "WITH_ITEM", a=self.convert(node.context_expr), b=self.convert(node.optional_vars))

    def _raise(self, node: ast.Raise):
        return self._form(node, "RAISE", a=self.convert(node.exc), b=self.convert(node.cause))

    def _try(self, node: Any):
        return self._form(
            node,
            "TRY",
            items=self.convert_all(node.body),
            more=self.convert_all(node.handlers),
            a=self._block(node.orelse),
            b=self._block(node.finalbody),
            form=type(node).__name__ == "TryStar",
        )

    _trystar = _try

    def _block(self, body: Sequence[ast.stmt]):
        return self._form(None, "BLOCK", items=self.convert_all(body)) if body else None

    def _excepthandler(self, node: ast.ExceptHandler):
        return self._form(node, "HANDLER", a=self.convert(node.type), name=node.name, items=self.convert_all(node.body))

    def _assert(self, node: ast.Assert):
        return self._form(node, "ASSERT", a=self.convert(node.test), b=self.convert(node.msg))

    def _import(self, node: ast.Import):
        return self._form(node, "IMPORT", items=self.convert_all(node.names))

    def _importfrom(self, node: ast.ImportFrom):
        return self._form(node, "IMPORT_FROM", name=node.module, number=node.level, items=self.convert_all(node.names))

    def _alias(self, node: ast.alias):
        return self._form(node, "ALIAS", name=node.name, other=node.asname)

    def _global(self, node: ast.Global):
        return self._form(node, "GLOBAL", items=node.names)

    def _nonlocal(self, node: ast.Nonlocal):
        return self._form(node, "NONLOCAL", items=node.names)

    def _expr(self, node: ast.Expr):
        return self._form(node, "EXPRESSION", a=self.convert(node.value))

    def _pass(self, node: ast.Pass):
        return self._form(node, "PASS")

    def _break(self, node: ast.Break):
        return self._form(node, "BREAK")

    def _continue(self, node: ast.Continue):
        return self._form(node, "CONTINUE")

    # Patterns

    def _match(self, node: ast.Match):
        return self._form(node, "MATCH", a=self.convert(node.subject), items=self.convert_all(node.cases))

    def _match_case(self, node: ast.match_case):
        return self._form(
            node, "CASE", a=self.convert(node.pattern), b=self.convert(node.guard), items=self.convert_all(node.body)
        )

    def _matchvalue(self, node: ast.MatchValue):
        return self._form(node, "MATCH_VALUE", a=self.convert(node.value))

    def _matchsingleton(self, node: ast.MatchSingleton):
        return self._form(node, "MATCH_SINGLETON")

    def _matchsequence(self, node: ast.MatchSequence):
        return self._form(node, "MATCH_SEQUENCE", items=self.convert_all(node.patterns))

    def _matchmapping(self, node: ast.MatchMapping):
        return self._form(
            node,
            "MATCH_MAPPING",
            items=self.convert_all(node.keys),
            more=self.convert_all(node.patterns),
            name=node.rest,
        )

    def _matchclass(self, node: ast.MatchClass):
        named = [
            self._form(None, "KEYWORD", name=name, a=self.convert(pattern))
            for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True)
        ]
        return self._form(
            node, "MATCH_CLASS", a=self.convert(node.cls), items=self.convert_all(node.patterns), more=named
        )

    def _matchstar(self, node: ast.MatchStar):
        return self._form(node, "MATCH_STAR", name=node.name)

    def _matchas(self, node: ast.MatchAs):
        return self._form(node, "MATCH_AS", a=self.convert(node.pattern), name=node.name)

    def _matchor(self, node: ast.MatchOr):
        return self._form(node, "MATCH_OR", items=self.convert_all(node.patterns))


def read_by_ast(content: bytes) -> list[Form] | None:
    """Return the tree that `ast` makes, in normalized form; None if it refuses the file."""
    try:
        module = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    converter = AstConverter(content)
    return [converter.convert(statement) for statement in module.body]


def read_annotation_by_ast(text: str) -> Form | None:
    try:
        expression = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return AstConverter(text.encode()).convert(expression)

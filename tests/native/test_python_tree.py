"""The native parser of Python gives the tree and the positions that `ast` gives, or declines the file."""

import random
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrubjay.code_index.facts.line_starts import python_line_starts
from tests.native.python_trees import (
    KINDS,
    is_read_natively,
    read_annotation_by_ast,
    read_annotation_natively,
    read_by_ast,
    read_json_natively,
    read_natively,
)

pytestmark = pytest.mark.filterwarnings("ignore")

EXPRESSIONS = r"""
a
(a)
((a)).b
a.b.c(d)[e]
(a) + (b)
(a + b) * c - d ** -e ** f // g
-1
+~-x
not not a
not a in b
a < b <= c != d == e >= f > g is h is not i in j not in k
a and b or c and not d
a or (b or c)
a if b else c if d else e
(a if b else c).d
lambda: 0
lambda x, /, y, *z, k, l=1, **m: (x, y)
lambda *, k: k
lambda *a, b: 1
lambda x=1, *y,: x
lambda a, b=lambda: 1: a
()
(a,)
(a, b)
( a , b , )
[]
[a]
[a, *b, c := 1,]
{}
{a}
{a, *b, (c := 2)}
{a: b, **c, "d": e,}
{**a}
[x for x in y]
[x async for x, in y if z if not w for (a, b), *c in d]
{x for x in y}
{x: y for x, y in z}
(x for x in y if z or w)
[x := 1 for _ in y]
f(x for x in y)
f((x for x in y))
f((x for x in y), 1)
f()
f(a, *b, c=d, *e, **g, h=i)
f(a := 1, b)
f(**a, b=c)
f(*a or b)
f(a)(b)[c].d
f( a , )
print(*a, b, sep="")
a[b]
a[b, c]
a[b,]
a[:]
a[b:c:d]
a[::]
a[::b, c:]
a[(b, c)]
a[*b]
a[*b, c]
a[b := 1]
a[b:=1, c]
a[lambda: 1]
a[b:lambda x: x]
await a
await a.b ** c
-await a
(yield)
(yield a, b)
(yield from a)
(a := b)
...
....__class__
None, True, False
0, 00, 0_0, 1_000, 0x_fF, 0o17, 0B1_0, 999999999, 1000000000, 10_000_000_000_000_000_000_000
0xffffffffffffffffffff, 0b111, 0O7
1., .5, 1.5, 1e5, 1E-5, 1_0.0_1e+1_0, 1j, 1.5J, 09.5, 09e1, 09j, 1_0j
1..real
1 .real
"a"
'a' "b" r'c\d' u'e'
b'a' B"\x00\d" rb'\x' bR"\q"
"\n\t\\\'\"\a\b\f\r\v\0\07\377\x41\u00e9\U0001F600\d\q"
"é" + "日本"
"" ""
f""
f"a"
f"{a}"
f"a{b}c{d}e"
f"{a!r}{b!s:>10}{c:{d}.{e}}"
f"{{a}}{{{b}}}"
f"{a=}" f"b{c = !r:x}" "d"
f"{a:{{}}}"
f"{a!=b}{c==d}{e<=f}{g>=h}{i<j}{k>l}"
f"{(lambda x: x)(1)}"
f"{a['b']}{c[1:2]}{ {'a': 1}['a'] }"
f"{a, b}{*c, d}"
f"{yield}"
f"{a:%Y-%m-%d}"
"a" f"{b}" "c" f"d{e}"
rf"\d{a}\{b}"
Rf'{a}'
fR'{a!a}'
f"\x41{a}\n"
f"{f'{a}' + b}"
f"{'''a'''}"
f"{x:{'>'}{10}}"
f"{a:x{b}y{c}z}"
f" { a } "
f"{'a' 'b'}"
f"é{a}"
match, case, _, type
match(case)[_].type
print
""".strip("\n")

STATEMENTS = r"""
"a\
b"
----
'''a
b'''
----
("a"
 "b")
----
f'''{
    a
}
{b:
>10} c'''
----
(a
 .b
 (c))
----
a \
 + b
----
pass; pass
----
a; b;
----
if a: b; c;
else: d;
----
x = 1
x = y = z
x, y = 1, 2
x, = 1,
(x) = 1
(x, y), [z, *w] = a
*x, y = z
*x = z
[] = () = a
x.y = x[1] = f().z = 2
x = yield
x = y = yield a, *b
x = yield from y
x = *a, b
x = await y
----
x: int
x: int = 1
(x): int = 1
x.y: int = yield
x[0]: "str" = *a, b
x: a if b else c
----
x += 1; x -= 1; x *= 1; x /= 1; x //= 1; x %= 1; x @= 1; x &= 1; x |= 1; x ^= 1; x >>= 1; x <<= 1; x **= 1
(x) += 1
x.y += yield
x[0] += 1, 2
----
del a
del a, b.c, d[0],
del (a), (b, c), [d, (e)], ()
----
import a
import a.b.c as d, e
from a import b
from a.b import (c as d, e,)
from . import a
from .a import *
from ... import a
from .... a import b
from ...a import (
    b,  # c
    d
)
----
global a, b
nonlocal c
assert a
assert a, b
raise
raise a
raise a from b
return_ = 1
----
def f(): pass
----
def f(a, b: int = 1, /, c=2, *d: e, f, g: h = 3, **i: j) -> k:
    return
    return a
    return *a, b
    yield
    yield a
    yield from b
----
def f(a, /): ...
def f(a, /, *, b): ...
def f(*, a, b=1, c): ...
def f(*a: *b): ...
def f(**k,): ...
def f(*a,): ...
def f(a=1, *, b): ...
def f(a, *b, **c): ...
def f(*, a, **b): ...
def f(
    a,  # b
    b=(c),
): ...
----
async def f():
    async for x in y: pass
    else: pass
    async with a as b: pass
    await c
    return [x async for x in y]
----
@a
@b.c(d)
@(e := f)
@g[0]
def f(): pass

@a
# comment

class A: pass

@a
async def f(): pass
----
class A: pass
class A(): pass
class A(b, *c, d=e, **f):
    '''doc'''
    x: int = 1

    def g(self): return self
----
if a:
    b
elif c:
    d
elif e: f
else:
    g
----
if (a := b): pass
while a: break
else: continue
while x := y:
    pass
----
for x in y: pass
for x, in y: pass
for x, *y in z, w: pass
for (x) in *a, b: pass
for x.y in z: pass
for x[0], (y, [z]) in w:
    pass
else:
    pass
----
try:
    a
except:
    b
----
try: a
except b: c
except (d, e) as f: g
else: h
finally: i
----
try: a
finally: b
----
try:
    a
except* b:
    c
except *d as e:
    f
----
with a: pass
with a as b: pass
with a as b, c as d.e, f: pass
with a as (b, c): pass
with (a): pass
with (a, b): pass
with (a as b): pass
with (a as b, c,): pass
with (a, b) as c: pass
with (a), (b): pass
with (a).b as c: pass
with (a) as b, (c) as d: pass
with (yield a): pass
with (a for b in c): pass
with (a := b): pass
with (*a, b): pass
with (): pass
with (a, b := c): pass
with (a if b else c): pass
with (a) + b: pass
with ((a, b)): pass
with ((a, b) as c): pass
with (open(a) as b,
      open(c)):
    pass
----
match a:
    case 1: pass
    case -1 | 1.5 | -2 + 3j | 1 - 2j: pass
    case "a" "b" | b"c": pass
    case None | True | False: pass
    case x: pass
----
match a, *b:
    case _: pass
    case a.b: pass
    case a.b.c | d.e: pass
    case (x): pass
    case (x, y): pass
    case (x,): pass
    case (): pass
    case []: pass
    case [x, *y, _]: pass
    case x, *_: pass
    case x,: pass
    case *x, y if z: pass
----
match (a):
    case {}: pass
    case {"a": 1, b.c: x, None: _, -1: y, **rest}: pass
    case {**rest,}: pass
    case {1: _,}: pass
    case A(): pass
    case a.B(x, 1, y=2, z=C(),): pass
    case A(x=1): pass
    case [1, 2] as x: pass
    case (1 | 2) as x: pass
    case A() | B() as c if d := e: pass
    case ((x)): pass
    case (x as y), z: pass
    case match: pass
    case case: pass
----
match(a)
match[a]
match.a
match = 1
match: int = 2
match * a
match -a
match, case = 1, 2
match (a), b
match [a]: b
case = 1
type = 2
_ = 3
print(match)
match x:
    case y:
        pass
----
match -a:
    case 1: pass
match *a, b:
    case 1: pass
match(a):
    case 1: pass
match [a]:
    case 1: pass
match {}:
    case 1: pass
match not a:
    case 1: pass
match lambda: a:
    case 1: pass
match a := b:
    case 1: pass
match a,:
    case 1: pass
----
if a:
	b
	if c:
		d
----
if a:
    # comment
  # other

    b
        # deep
c
# end
----
x = (1,
2,
   # comment
3
)
if x:
    y = [
a
    ]; z
----
x = 1 \

y = 2
----
# -*- coding: utf-8 -*-
e = "é"
----
#!x
# vim: set fileencoding=utf8 :
x
----
def f():
    '''a
    b'''; x = 1
    if a: return '''
'''
class B: x = {
    1: 2}
----
if a:
  if b:
    c
  d
else:
  e
f
----
x = lambda: (yield)
a = b if c else lambda d: e
x = {**a, 'b': [*c, *d]}
x = not a == b
x = a if not b else -c
print(a if b else c, *d, e=lambda: f)
""".strip("\n")

SNIPPETS = [*(f"x = {line}" for line in EXPRESSIONS.splitlines()), *STATEMENTS.split("\n----\n")]

DECLINED = r"""
a b
a +
1if a else b
1_
0777
0x
1__0
1abc
"a
'''a
"\N{DIGIT ONE}"
"\ud800"
"\x4"
"\400"
"\U00110000"
b"é"
"a" b"b"
f"{"
f"}"
f"{}"
f"{a!x}"
f"{a b}"
f"{a\n}"
f"{'\n'}"
f"{a:{b:{c}}}"
f"{*a}"
f"{a#}"
f"\N{DIGIT ONE}"
f"\{a}"
(a
a)
(a]
(*a)
(*a for a in b)
[*a for a in b]
{**a for a in b}
{a: b, c}
{a, b: c}
{*a: b}
{a := 1: 2}
f(a for a in b, c)
f(c, a for a in b)
f(a for a in b,)
f(a=1, b)
f(**a, *b)
f(**a, b)
f(a.b=1)
f((a)=1)
f(True=1)
f(a, , b)
f(,)
[,]
(,)
a[]
a[b:=1:2]
a =
= a
a + b = c
f() = 1
"a" = 1
None = 1
(a, b) += 1
[a] += 1
a, b: int
(a, b): int
[a]: int
a: int: str
a += b = c
a = b += c
(yield) = 1
yield = 1
x = yield = 1
a if b
a if b else
lambda x y: 1
lambda (x): 1
a := 1
(a.b := 1)
x = a := b
await
await await a
await -a
not
a not b
a is in b
a <> b
a ! b
a ? b
$a
`a`
é
aé
1é
del
del f()
del *a
del a + b
del (a, *b)
del None
import
import a.
import a as b.c
from a import
from a import ()
from a import b,
from a import (b
from import a
from . a import *, b
from a import *, b
from a import (*)
import a . b
global
global a,
global a.b
assert
raise a, b
raise from a
return = 1
def f(a, a=1, b): pass
def f(a=1, b): pass
def f(*): pass
def f(*,): pass
def f(*, **k): pass
def f(*a, *b): pass
def f(*a **k): pass
def f(**k, a): pass
def f(/): pass
def f(a, /, b, /): pass
def f(*, /, a): pass
def f(*a=1): pass
def f(**k=1): pass
def f(a:=1): pass
def f((a)): pass
def f(a: *b): pass
def f[T](): pass
def f: pass
def f()
def if(): pass
class A[T]: pass
class A(b for b in c): pass
class A
type X = int
@a\nx = 1
if a pass
if a:
if a: if b: c
if a:\nb
else: a
elif a: b
try: a
try: a\nelse: b
try: a\nexcept b, c: d
try: a\nexcept: b\nexcept* c: d
try: a\nexcept* b: c\nexcept d: e
try: a\nexcept*: b
for x: pass
for f() in a: pass
for x + y in a: pass
for a in b in: pass
[x for x in lambda: y]
[x for x in a if b else c]
[x for f() in a]
while: pass
with: pass
with a as f(): pass
with a as b + c: pass
with (a as b) as c: pass
with (a as b), c: pass
with a as b.c(): pass
async a
async lambda: a
match a: pass
match a:\n    pass
match a:\n    case a.b(): pass\n    pass
match a:\n    case f"a": pass
match a:\n    case {x: 1}: pass
match a:\n    case {**_}: pass
match a:\n    case {**x, 1: 2}: pass
match a:\n    case (*x): pass
match a:\n    case *x: pass
match a:\n    case A(x=1, y): pass
match a:\n    case 1 + 2: pass
match a:\n    case 1j + 2j: pass
match a:\n    case +1: pass
match a:\n    case x as _: pass
match a:\n    case x as y.z: pass
match a:\n    case a.b as c.d: pass
match a:\n    case -x: pass
match *a:\n    case 1: pass
match:\n    case 1: pass
  a
a\n  b
if a:\n    b\n  c
if a:\n\tb\n        c
if a:\n        b\n\tc
a \\ b
a \\
\\\na
a\r\nb
a\fb
# coding: latin-1\n'é'
x = 1 # é\n\ufeff
\ufeffa
a;;b
;a
a = *b, +
print "a"
exec "a"
a = (b for b in c, d)
x = f(*)
x = f(**)
x = *
x = **a
x = a.1
x = a..b
x = a.if
""".strip("\n")


def _agrees(content: bytes) -> bool:
    """Return False if the parser declines the content; otherwise check that the tree equals that of `ast`."""
    read = read_natively(content)
    if read is None:
        return False
    assert read[0] == read_by_ast(content), content
    assert read[1] == list(python_line_starts(content)), content
    return True


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_trees_equal_those_of_ast(snippet: str):
    for text in (snippet, snippet + "\n", f"{snippet}\n# end", f"\n\n{snippet}\n\n  "):
        assert _agrees(text.encode())
    inside = "if a:\n" + re.sub(r"^", "    ", snippet, flags=re.MULTILINE)
    assert _agrees(inside.encode()) or read_by_ast(inside.encode()) is None


@pytest.mark.parametrize("line", DECLINED.splitlines())
def test_invalid_or_doubtful_python_is_declined(line: str):
    text = line.replace(r"\ufeff", "\ufeff")
    for before, after in ((r"\n", "\n"), (r"\t", "\t"), (r"\r", "\r"), (r"\f", "\f"), (r"\\", "\\")):
        if not text.lstrip("bf").startswith(('"', "'")):
            text = text.replace(before, after)
    assert read_natively(text.encode()) is None


@pytest.mark.parametrize(
    "content", [b"\x00", b"a\x00", b"'\xff'", b"'\xed\xa0\x80'", b"'\xc0\x80'", b"# \xf8", b"'\xe2\x82"]
)
def test_invalid_text_is_declined(content: bytes):
    assert read_natively(content) is None


@pytest.mark.parametrize("content", [b"", b"\n", b"# only this", b"   ", b"\\", b"x", b"\t\n \n"])
def test_nearly_empty_files_are_parsed(content: bytes):
    assert _agrees(content) or content == b"\\"


@pytest.mark.parametrize(
    "nested",
    ["(" * 60 + ")" * 60, "-" * 100 + "1", "not " * 100 + "a", "lambda: " * 100 + "1", "[" * 50 + "]" * 50,
     "a" + ".b" * 300, "a" + "(b)" * 300, "a" + " + b" * 300, "a ** " * 100 + "b", "a if b else " * 100 + "c",
     "f(" * 40 + ")" * 40],
)  # fmt: skip
def test_moderate_nesting_is_parsed(nested: str):
    assert _agrees(nested.encode())


@pytest.mark.parametrize(
    "nested",
    ["(" * 100_000, "(" * 150 + ")" * 150, "-" * 100_000 + "1", "not " * 100_000 + "a", "lambda: " * 100_000 + "1",
     "[" * 100_000, "a" + ".b" * 100_000, "a" + "(b)" * 100_000, "a" + " + b" * 100_000, "a ** " * 100_000 + "b",
     "a if b else " * 100_000 + "c", "if a: b\n" + "elif a: b\n" * 100_000,
     "".join(" " * i + "if a:\n" for i in range(200)), "(*" * 150 + "a" + ",)" * 150,
     "match a:\n case " + "[" * 100_000, "f'{" * 100_000, "x = " + "{a: " * 100_000, "for " + "(" * 100_000,
     "@" * 100_000],
)  # fmt: skip
def test_deep_nesting_is_declined(nested: str):
    assert read_natively(nested.encode()) is None


def test_a_long_list_does_not_count_as_nesting():
    assert _agrees(
        b"x = [" + b"1, " * 10_000 + b"]\n" + b"y = a < b" + b" < c" * 5_000 + b"\nz = 'a'" + b" 'b'" * 5_000
    )


def test_expressions_in_formatted_strings_have_correct_positions():
    content = 'pass\nx = f"é{a}{b + c:{d}}" \'\' rf\'{e!r}\' f"""{\n  g.h\n}"""\n'.encode()
    segments: list[str] = []

    def walk(node: list[Any] | str | int | None) -> None:
        if isinstance(node, list):
            if len(node) == 16 and KINDS[node[0]] in {"NAME", "BINARY", "ATTRIBUTE", "FORMATTED"}:
                segments.append(content[node[2] : node[3]].decode())
                assert node[4] == content[: node[2]].count(b"\n") + 1
                assert node[5] == content[: node[3]].count(b"\n") + 1
            for part in node:
                walk(part)

    walk(read_json_natively(content))
    formatted = ["{a}", "a", "{b + c:{d}}", "b + c", "b", "c", "{d}", "d", "{e!r}", "e", "{\n  g.h\n}", "g.h", "g"]
    assert segments == [*formatted, "x"]


# Whole files


def _sources() -> Iterator[bytes]:
    for path in sorted(Path(__file__).parents[2].joinpath("src").rglob("*.py")):
        yield path.read_bytes()


def _library() -> list[bytes]:
    """Return the standard library without its tests, which are full of rare syntax."""
    root = Path(sysconfig.get_path("stdlib"))
    paths = (path for path in root.rglob("*.py") if not {"site-packages", "test", "tests"} & set(path.parts))
    return [path.read_bytes() for path in sorted(paths) if path.is_file()]


def test_our_sources_are_parsed_as_by_ast():
    read = [_agrees(content) for content in list(_sources())[::4]]
    assert read.count(True) >= 0.97 * len(read)


def test_the_standard_library_is_parsed_as_by_ast():
    for content in _library()[::40]:
        _agrees(content)


def test_nearly_all_of_the_standard_library_is_parsed():
    contents = _library()
    declined = [content for content in contents if not is_read_natively(content)]
    valid = [content for content in declined if read_by_ast(content) is not None]
    assert len(valid) <= 0.01 * len(contents)


# Broken files

PIECES = [
    *"()[]{}:,=*;.@|~-+<_\"'#\\\n\t 01x/!é", "**", ":=", "->", "==", "!=", "...", "\n    ", '"""', "f'", 'f"{', "}",
    "{{", "=}", "!r", "not ", "in ", "is ", "if ", "else ", "for ", "async ", "await ", "yield ", "lambda ", "from ",
    "import ", "as ", "del ", "with ", "match ", "case ", "1j", "1e5", "0x", "None", "def f():", "class A:", "*a",
    "**k", "/,", "*,", "global ", "except ", "except* ", "finally:", "try:", "return ", "raise ", "b''", "\\x4",
    "\\N{", "and ", "or ", "\\\n",
]  # fmt: skip


def _broken(text: str, rng: random.Random) -> str:
    parts = re.findall(r"\w+|\s+|[^\w\s]", text)
    for _ in range(rng.randint(1, 3)):
        at, other = rng.randrange(len(parts)), rng.randrange(len(parts))
        match rng.randrange(4):
            case 0:
                parts[at] = ""
            case 1:
                parts[at] += rng.choice(PIECES)
            case 2:
                parts[at] = rng.choice(PIECES)
            case _:
                parts[at], parts[other] = parts[other], parts[at]
    return "".join(parts)


@pytest.mark.parametrize("seed", range(4))
def test_broken_files_are_parsed_as_by_ast_or_declined(seed: int):
    rng = random.Random(seed)
    read = sum(_agrees(_broken(rng.choice(SNIPPETS), rng).encode()) for _ in range(2_000))
    assert 200 < read < 1_800


def test_truncated_files_are_parsed_as_by_ast_or_declined():
    content = "\n".join(SNIPPETS[::5]).encode()
    for end in range(0, len(content), 7):
        _agrees(content[:end])


# Annotations


@pytest.mark.parametrize(
    "text",
    ["int", "list[int]", "a.b | None", "dict[str, 'A']", "int, str", "int,", "Literal['a b']", "Callable[[int], str]",
     "(a\n)", "a # comment", "a\n\n", "tuple[*A, int]", "a if b else c", "lambda: 1", "f'{a}'"],
)  # fmt: skip
def test_annotations_are_parsed_as_by_ast(text: str):
    expected = read_annotation_by_ast(text)
    assert expected is not None
    assert read_annotation_natively(text) == (expected, False)


@pytest.mark.parametrize(
    "text",
    ["", "some words here", "a b", "a b → c", "5min", "2024-01-01", "0x", "1_",
     "list[int", "list]", "a 1", "1 a", "'a' b", "a: b", "a = b", "a?", "%Y-%m-%d",
     "/path", "not", "class", "*a", "a :=1", "yield", "a\nb", "a\n  b", "'a", "# comment", "=", "<", "$x",
     "(a for b)"],
)  # fmt: skip
def test_an_invalid_annotation_is_reported_as_invalid(text: str):
    assert read_annotation_by_ast(text) is None
    assert read_annotation_natively(text) == (None, True)


@pytest.mark.parametrize("text", ["é", "'\\N{DIGIT ONE}'", "a\rb", "f'{a b}'", "(" * 150 + ")" * 150, "1if a else b"])
def test_a_doubtful_annotation_is_not_reported_as_invalid(text: str):
    assert read_annotation_natively(text) == (None, False)


def test_broken_annotations_are_parsed_or_rejected_as_by_ast():
    rng = random.Random(5)
    lines = EXPRESSIONS.splitlines()
    sure = 0
    for _ in range(4_000):
        text = _broken(rng.choice(lines), rng).strip()
        read, is_wrong = read_annotation_natively(text)
        if read is not None or is_wrong:
            assert read == read_annotation_by_ast(text), text
            sure += 1
    assert sure > 3_000

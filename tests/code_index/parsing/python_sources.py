"""Small Python files, each with something that a reader of symbols and uses must handle."""

LONG = "very_long_name_" * 30

SOURCES: dict[str, str] = {
    "nothing": "",
    "a line end": "\n",
    "no line end": "x = 1",
    "only a comment": "# nothing else\n",
    "blank lines": "\n\n\nx = 1\n\n   \ndef f(): ...\n\n\n",
    "form feeds": "x = 1\n\x0c\ndef f(): ...\n",
    "a mark at the beginning": "\ufeff# Said.\nx = 1\n# Also.\ny = x\n",
    "a mark before a definition": "\ufeffx = f()\n",
    "a mark before a docstring": '\ufeff"""Said."""\ny = x\n',
    "the docstring of a file": '"""It is.\n\n    And it does.\n"""\n\nimport os\n',
    "docstrings": '''
def one():
    """In one line."""
def two():
    r"""Raw \\d.

        Deeper.
      Less.

    """
def three():
    "single" "twice"
def four():
    """a""" 'b'
def five():
    b"""bytes"""
def six():
    u\'\'\'unicode\'\'\'
def seven(): ""
def eight(): """"""
def nine():
    f"""no docstring"""
def ten():
    """

      Begins late.
    Ends here.\t

    """
def eleven():
    ("in brackets")
def twelve():
    "\\
continued"
class Thirteen:
    """Of a class."""
    def method(self):
        # Not said.
        """Said."""
async def fourteen():
    \'\'\'Asynchronous.\'\'\'
''',
    "tabs in docstrings": (
        'def f():\n\t"""First\tand.\n\tsecond\tline\n\t\tdeeper \tline\n  \tmixed\n    four\n\n\t \t\n\t"""\n'
        "\n# Comments\tkeep\n#\tthem.\t\nx = 1\n"
    ),
    "long docstrings": 'def f():\n    """' + "word " * 700 + '"""\n\n'
    + 'def g():\n    """' + "é" * 1999 + "  \n b c" + '"""\n' + "def h():\n    '''" + "x" * 1998 + "\n\n\n\n   y'''\n",
    "other letters in docstrings": (
        'def f():\n    """\u00a0Grüße \u2003 \U0001f389.\n\u3000\u3000breit\n\u00a0\u00a0schmal\u2028\n    """\n'
        "# größer\u00a0\n#\u00a0als\nx = 'ß'\n"
    ),
    "comments above": '''
# Of nothing.

# Of x.
# More of x.
x = 1  # behind
y = 2
#: Documented.
#! Loudly.
## Twice.
#no blank
#\tA tab.
z = 3
# noqa: E501
# type: ignore
# type:ignore
# pylint: disable
# pyright: basic
# mypy: ignore
# eslint x
# Kept.
# noqa
w = 4
    # indented otherwise
v = 5; u = 6
# Of t and s.
t, s = 1, 2
# Ends oddly. */
r = 1
# **/
q = 1
#
#   Indented.
#
#     More.
#
p = 1
if q:
    # Of o.
    o = 1
# Above else.
else:
    # Of n.
    n = 1
if q: m = 1
class K:
    # Of field.
    field = 1
    # Of decorated.
    @one
    # Between.
    @two(
        # Inside.
    )
    # Right above.
    def decorated(self):
        # Of set.
        self.set = 1
        # Of none.
        self.set = 2

    # At the end.
# Of k.
k = K()
# Of both.
a = b = 1
# Of a call.
c.d = 1
# Of a function.
def f():
    # Of no symbol.
    local = 1
    # Inner.
    def g(): ...
@decorated
# Between only.
def h(): ...
''',
    "comments above long lines": "if x:\n" + "# a\n" * 3 + " " * 320 + "y = 1\n",
    "many comments above": "# " + "words " * 50 + "\n" + "# more and more\n" * 400 + "x = 1\n"
    + "#é" * 2500 + "\ny = 1\n",
    "many blank comments": "x = 0\n" + "#\n" * 1990 + "# seen\n# not seen\ny = 1\n",
    "texts below": '''
x = 1
"""Of x."""
y: int
\'\'\'Of y.

    Longer.\'\'\'

z = 2

"""Too far."""
a, b = 1, 2
"""Of b."""
def f():
    c = 1
    """Of no symbol."""
"""Of nothing."""
class C:
    """Of C."""
    d = 1; """Beside."""
    e: str = "x"  # comment
    """Behind a comment."""
    g = 1
    b"""bytes"""
    h = 1
    ("in brackets")
    def m(self):
        self.i = 1
        """In a method."""
    """After a method."""
    j = lambda: 0
    """Below a lambda."""
L = 1
f"""formatted"""
M = 1
"""one""" "two"
"""And again."""
''',
    "bindings": '''
import a
x = 1
x = 2
X = 1
_X = 2
__y__ = 3
__Z = 4
x1, (y1, *z1), [w1] = a
for i in a: pass
with a as b, a.c as (d, e): pass
i += 1
new += 1
a.b = 1
a.b.c = x
a[0] = 1
a[x].y = z
a().y = z
[p, q.r, s[t]] = a
(lone) = 1
(lone2): int = 2
f.x: int = 3
f[0]: str
only: int
Alias: TypeAlias = int
Other: typing.TypeAlias = "str"
Third: "TypeAlias" = 1
UPPER_1: int = 1
''',
    "wide names": "x = 1\nK9 = 1\n_9 = 1\n__ = 1\n_ = 1\nA_b = 1\nÄ = 1\n",
    "receivers": '''
class A:
    total: int
    count = 0
    def __init__(self, other):
        self.x = 1
        self.x = 2
        self.total = 3
        self.y: int = 4
        self.a, self.b = 1, 2
        self.c.d = 1
        other.z = 1
        self[0] = 1
        self.m().n = 1
        (await self).w = 1
        (a or b).v = 1
        self.x += 1
        self.aug += 1
        for self.loop in x: pass
        with x as self.held: pass
        def inner(self):
            self.deep = 1
        class B:
            self.strange = 1
        if (n := self.q): self.walrus = n
        del self.x
    @staticmethod
    def s(self):
        self.static = 1
        (a or b).odd = 1
    @classmethod
    def c(cls): cls.made = cls
    @a.staticmethod
    def t(self): self.t1 = 1
    def typed(self: "A"): self.t2 = 1
    def defaulted(self=None): self.t3 = 1
    def keyword(*, self): self.t4 = 1
    def star(*self): self.t5 = 1
    def positional(self, /, a=1): self.t6 = a
    def lamb(self): self.t7 = lambda self: self.t8
    lam = lambda self: self.t9
    class Inner:
        (a or b).odder = 1
        def m(this): this.t10 = this.t10, self.x
    def reads(self):
        return self, self.x, self.x.y, self(), self[0].z, self().w, [self.k for self in x], lambda: self.j
''',
    "scopes": '''
g = 1
def f(a, /, b, *c, d=g, e: T = h, **k) -> R:
    l = a + b + c + d + e + k + l + m
    global g, w
    g = 2
    w, v = 1, 2
    def inner(x=l):
        nonlocal l
        l = 1
        for w in y: a(w)
        return x, l, z
    class C:
        n = l
        def m(self): return n, l, C, self.o
    import i
    from j import k as kk
    try: pass
    except E as e2: raise e2
    except (E1, m.E2, make(), E3[0]) as g: raise
    with p as q, r: q, r
    async def t():
        async with s as u: await u.v()
        async for x in u: yield x
    return f, inner, C, i, kk, e2, q, (u := v), u
try: pass
except* Group as group: group()
except* m.Other: pass
class D:
    global g
    g = 3
    nonlocal_ = g
    [u for u in nonlocal_ if u.v]
def h():
    global a, b
    try: pass
    except E as a: pass
    match x:
        case {"k": 1, **b}: pass
        case [*a]: pass
        case b: pass
''',
    "comprehensions": '''
a = [x.y for x in z if x if w(x) for v in x]
b = {k: v for k, v in z.items() if k}
c = {f(x) for x in y}
d = sum(x async for x in y)
e = [[i for i in j] for j in k]
def f(p): return [p for q in p if q(p, r)], {**p, "k": q}, {*p}
''',
    "lambdas": '''
f = lambda a, b=c, *d, e=g, **h: a(b, d, e, h, i)
# Said.
class K:
    # Of m.
    m = lambda self: self.x
    n: Callable[[A], B] = lambda a: a
    o = p = lambda: 0
    p, q = lambda: 1, lambda: 2
def g():
    x = lambda y: x(y)
    return x
typed: "Fn" = lambda: typed
h = (lambda: lambda z: z(w))
call(key=lambda k: k.v)
a.b = lambda: c
''',
    "functions": '''
@one
@two.three
@four(five, six=seven)
@a[0].b
@(lambda f: f)
@x.y().z
@w if v else u
def f(a: A, b: "B.C" = d, *c: E, g: F[G, "H"] = i, **k: J | None) -> K[L]: ...
@overload
def g(): ...
@typing.overload
def g(a): ...
class C:
    @property
    def p(self) -> int: ...
    @p.setter
    def p(self, v): ...
    def __init__(self): ...
    def __init_subclass__(cls): ...
    @overload
    def __init__(self, a): ...
    def _private(self): ...
    def __dunder__(self): ...
    def __mangled(self): ...
def __init__(): ...
async def h(): await j(); return await k.l
def same_line(a): return a
def spread(
    a,  # a comment: with a colon
    b=1,
): pass
def \\
    continued(): pass
def outer():
    def inner(): ...
    class Local: ...
@ (
  # an @ in a comment
  spaced
)
def m(): pass
''',
    "classes": '''
class A: ...
class B(A): pass
class C(a.B, Generic[T, "U"], metaclass=Meta, key=f(x)): pass
class D(make(1), *bases, **kw): pass
class E(Enum):
    ONE = 1
    _two = 2
    three: int = 3
    def four(self): ...
class F(enum.IntFlag): X = 1
class G(str, Choices): X = 1
class H(x.TextChoices): X = 1
class I(Enumerable): X = 1
class J(Enum[int]): X = 1
class K(A if x else B): pass
class L(x().y, z[0].w, await_): pass
class M(): pass
class N(MyEnum,): X, Y = 1, 2
@dec
class O(Flag):
    """Doc."""
    X = 1
    "Of X."
    class P: Q = 1
class Q(a. b . Enum): X = 1
class R(Protocol[T], Sized): ...
''',
    "exports": '''
__all__ = ["a", 'b', """c""", r"d", "e" "f", name, f"g", b"h", 1]
__all__ += ["i"] + j + ("k",)
__all__.append("l")
__all__.extend(["m", "n"])
__all__.remove("o")
__all__: list[str] = ["p"]
other.__all__ += ["q"]
def f():
    __all__ = ["r"]
    __all__.append("s")
class a:
    __all__ = ["t"]
    _b = 1
def b(): ...
def _l(): ...
z = 1
from x import m, n as nn, q
import i, os.path as p
import os.path
''',
    "empty exports": "__all__ = []\ndef _f(): ...\ndef g(): ...\n",
    "exports with other letters": '__all__ = ["größe", "a\\n", "b\\"c"]\ndef f(): ...\n',
    "imports": '''
import a
import a.b.c, d as e, f.g as h
from . import i
from .. import j as k
from .l.m import n, o as o, p as q
from ...... import r
from s import *
from t import (u, v as w,
    x,
)
def f():
    import y
    from z import aa
    class C:
        from bb import cc
if TYPE_CHECKING: from dd import ee
try: import ff
except ImportError: ff = None
importlib.import_module("gg.hh")
import_module(".ii", package="x")
__import__('jj')
import_module(name)
import_module("a" + "b")
import_module()
import_module(f"x")
import_module(b"kk")
importlib.import_module("é\\"")
x.import_module("no")
''',
    "paths": '''
a; a.b; a.b.c; a().b; a(x).b(y).c(z); a[0]; a[i].b[j]; a.b[i](c).d
"".join(x); (a + b).c; (await d).e; await f.g(); (yield).h
[a, b][0].c(d); {}.get(k); (lambda: x)().y; f"{a}".strip(); 1 .real; a.b().c
not a.b; -a.c; a and b.c or d; a if b.c else d.e; a < b.c < d; a[b.c:d.e:f.g]
f(*a.b, **c.d, e=g.h); (a := b.c); {a.b: c.d, **e.f}; {a.b, *c.d}; print(a . b, (c).d, c. d)
a\\
.b
(a
 .b  # comment
 .c())
''',
    "long chains": "a" + ".b" * 40 + "\n" + "a" + ".b()" * 40 + "\na" + "[0]" * 20 + ".c\n" + "f" + "()" * 16 + "\n"
    + "g" + "()" * 17 + ".h = 1\n" + "a" + ".b" * 15 + "\na" + ".b" * 16 + "\nraise a" + ".b" * 17 + "()\n",
    "raises": '''
raise
raise A
raise a.B
raise C(d)
raise e.F(g) from h
raise i[0]
raise make()()
raise (A if b else C)
raise "text"
async def f():
    raise await g
    raise await g()
    raise x from None
''',
    "catches": '''
try: a()
except B: c
except (d.E, F, g()): h
except [I, J]: pass
except k().L: pass
except: m
else: n
finally: o
''',
    "matches": '''
match a.b, c:
    case 1 | -2 | 3+4j | "x" | None | True: d
    case e.F | g.h.I: pass
    case J(k, l.M(), n=O(p)): q
    case [r, *s, _] if t: u
    case (v, w): pass
    case {"x": x, y.z: aa, **bb}: cc
    case [*_]: pass
    case dd as ee: pass
    case (1 | 2) as ff: pass
    case _: gg
def f(x):
    match x:
        case K(y, z=[w, *v]): return x, y, z, w, v, u
        case str() | int(): pass
match = case = _ = 1
match[case] = match(_)
''',
    "types in texts": '''
a: "A"
b: "A.B | None" = 1
c: Optional["C[D, 'E']"]
d: list[u"F", r"G", b"H"]
e: Literal["one two", 1, None]
f: "x" * 300
g: """Long
text"""
h: a.b.c
i: a . b
j: f().g
k: f(x, "T")
l: x[0].y
m: (lambda p: q)
n: [r for r in s]
o: {t: u, **v}
p: w if x else y
q: not z
t: Annotated[int, Field(gt=0), "doc"]
u: Callable[[A, B], C]
def f(a: "", b: 1, c: x[1:2, ...]) -> "Z": ...
''',
    "a long type": f"a: {LONG}.b\nb: x.{LONG}\nc: '{LONG} d'\nd: " + "a" * 100 + "." + "b" * 99
    + "\ne: " + "a" * 100 + "." + "b" * 100 + "\nf: '" + "a " * 99 + "bcd'\n",
    "long signatures": "x = [" + "1234567890, " * 40 + "]\ny = '" + "é" * 400 + "'\nz = '" + "é" * 149 + "'\n"
    + "def f(" + ", ".join(f"argument{i}" for i in range(60)) + "):\n    pass\nclass C(" + "Base, " * 60 + "): pass\n"
    + "w = [" + " " * 1185 + "'é€\U0001f389', 2]\n"
    + "".join(f"v{i} = (" + " " * (1180 + i) + "'é€\U0001f389')\n" for i in range(20))
    + "u = '" + "x" * 293 + "'\nt = '" + "x" * 294 + "'\ns = '" + "x" * 295 + "'\n",
    "endings of signatures": "a = {}; b = '{'; c = ':'\nd = x[1:]\ne = lambda: {\n}\nf = '=>'\n"
    "class G : pass\ndef h() -> {} : pass\n"
    "def i(\n): pass\nj = b';'\ndef k(): # = > :\n    pass\ndef m(): # =>\n    pass\ndef n(): # a ; = {\n    pass\n",
    "formatted texts": '''
f"{a}{b.c!r:>{d}}" f'{e()}'
x = f"{f(g)} {h[i].j} {k=} {{l}} {lambda_(m)}"
def f(n): return f"{n} {o} {[p for p in n]} {n.q:{r}.{s}}"
f"""
{t}
  {u.v}
"""
''',
    "one after the other": "a = 1; b = a; def_ = b; c.d = e; f()\nif x: a2 = 1; b2 = 2\n",
    "symbols out of order": 'a, b = 1, 2\n"""Of b, which is longer now."""\nc = a\n'
    'class K:\n    x, y = 1, 2\n    """Of y."""\n'
    "    def f(self):\n        self.p, self.q = x\n        import z\n        return self.p(y)\n",
    "everything else": '''
if a: b
elif c: d
elif e: f
else: g
while h: i
else: j
for k in l: m
else: n
del o, p.q, r[s]
assert t, u
assert v
pass
while 1:
    break
    continue
with (w as x, y): z
with (aa, bb) as cc: dd
x = yield_
def gen():
    a = yield
    b = yield c
    d = yield from e
    return
print(*f, sep=g)
async def h():
    return [i async for i in j], await k
a @= b; c //= d; e **= f; g >>= h; i[j] -= k; l.m |= n
x = *a, b
return_ = a if b else (c, d)
''',
    "deep": "x = " + "(" * 40 + "a" + ")" * 40 + "\ny = " + "[" * 30 + "b" + "]" * 30 + "\n" + "".join(
        "    " * i + f"if c{i}:\n" for i in range(20)
    ) + "    " * 20 + "d = e\n",
    "many alternatives": "if a: b\n" + "".join(f"elif a{i}: b{i}\n" for i in range(60)) + "else: c\n",
    "long sums": "x = " + " + ".join(f"a{i}" for i in range(100))
    + "\n__all__ = " + " + ".join(f"['b{i}']" for i in range(50)) + "\n",
    "control signs": "x = '\x01\x1f\x7f'  # \x02\n# \x03 said\ny = 1\ndef f():\n    '''\x1c a \x1f\n    b\x0b\x0c'''\n",
    "a backslash at the end of a line": "# Said.\nx = \\\n    1\n",
    "a backslash before a statement": "# Said.\n\\\ny = 2\n",
    "texts that are no types": "r: '1abc a.1b .c d. e..f'\ns: 'ä.b öc'\n",
}  # fmt: skip

"""Small Python files, each with something that a reader of their flow must handle."""

SOURCES = {
    "nothing": "",
    "names": """
import os
x = os
y = x
def f(a):
    return a, x, unknown
class C:
    y = y
    def m(self):
        return y
""",
    "class variables are not visible in methods": """
x = f()
class C:
    x = g()
    def m(self):
        return x
    y = [x for _ in x]
    class D:
        z = x
""",
    "constants": "a = 'é' * 2\nb = '"
    + "x" * 40
    + "'\nc = '"
    + "x" * 41
    + "'\nd = '"
    + "é" * 40
    + "'\ne = '"
    + "é" * 41
    + """'
n = [0, 999999999, 1000000000, 10**9, -1, -1000, 1.5, 2j, True, None, ..., b'bytes', 0x10, 1_000]
t = ["a\\n\\t\\x00\\x1f\\x7f\\\\ \\"", 'ab' 'cd', r'\\d', "\\u20ac\\U0001f389", "/"]
""",
    "lambdas": """
f = lambda x, *a, y=1, **k: x(y)
a.b = lambda: f()
g, h = lambda: 1, lambda self: self.x
i = j = lambda z=(lambda q=w(): q): z
class C:
    m = lambda self, o: self.go(o)
    def n(self):
        k = lambda: self
        self.x = lambda *, r: r
        return k
    p = property(lambda me: me.p)
f(lambda: (yield))
""",
    "parameters": """
def f(a, b: int, /, c=1, d: 'str' = x(), *args: int, e, g: C = y(), **more: D) -> list[E]: pass
def g(*, a=1, b): pass
def h(*args, **more): return args, more
async def i(a=lambda b=c(): b, d=lambda e: e): await d(a)
def j(a, a2, /): pass
class C:
    def m(*args): args.x = args
    def n(): x.y = 1
    @staticmethod
    def o(self): self.x = f()
    @abc.staticmethod
    def p(self): self.y = f()
    @classmethod
    def q(cls): cls.z = f()
    @d.staticmethod()
    def r(self): self.w = f()
""",
    "decorators": """
@one
@two.three(four)
@five[6]
def f(): pass
@one.two
class C(Base, Generic[T], metaclass=Meta, **more()):
    @property
    def p(self): return self._p
    @p.setter
    def p(self, value): self._p = value
@(lambda f: f)
def g(): pass
@a(
    b).c
def h(): pass
""",
    "classes": """
class A: pass
class B(A, x.Y[Z], *more, key=f()):
    a = A()
    b: A
    def __init__(self, c):
        self.c, self.d = c, c()
        self.e = self.f = c
        self.c.g = c
        (self.h) = c
        self.none = unknown[0] = 0
    class Inner(B):
        def m(this):
            this.x = B()
            def n():
                this.y = A()
                class Deep:
                    this.z = 1
                return super().m()
    return 1
    yield 2
""",
    "super": """
super().x()
class C(B):
    y = super()
    def m(self):
        super().m(f(1))
        super(C, self).m
        def n():
            return super().n()
        [super().k for _ in x]
        k = lambda: super().k
    z = lambda self: super()
def f():
    super().f()
""",
    "if": """
x = a()
if x:
    x = b()
    y = c()
elif d():
    x = e()
else:
    z = f()
if x: x = g()
def f(p):
    if p:
        q = 1
        return q
    else:
        q = 'q'
    if not p:
        r = 2
        raise E
    while p:
        if q:
            q = p
            break
        elif r:
            q = [p]
            continue
        p = q
    else:
        p = 3
    return p, q, r
""",
    "narrowing": """
def f(a, b):
    if isinstance(a, C):
        a.c()
    elif isinstance(a, (D, e.E, D)):
        a.d()
        a = b
    else:
        b = a
    if isinstance(g, F):
        g.f()
    g
    if isinstance(h, F):
        h = 1
    if isinstance(a, ()): a.a
    if isinstance(a, *b): a.b
    if isinstance(a, C, D): a.c
    if isinstance(a, C, key=D): a.d
    if isinstance(a.b, C): a.b.e
    if x.isinstance(a, C): a.f
    if isinstance(a): a.g
    if isinstance(*a): a.h
    if (a, C): a.i
    if issubclass(a, C): a.j
    if isinstance(b, make()):
        return b
    assert isinstance(b, (C, D)), show(b)
    assert b and isinstance(b, E)
    b.c
isinstance(x, C)
assert isinstance(x, C)
x
if isinstance(x, C):
    x = (x := y)
    if isinstance(x, D): z = x
""",
    "a narrowed name that was not bound comes last": """
class K:
    if isinstance(a, C):
        b = 1
    else:
        a = 2
    a = 3
if isinstance(m, C):
    n = 1
    m = n
    if isinstance(m, D):
        pass
else:
    o = m
m = 4
""",
    "loops": """
for x in xs: x()
for a, (b, *c) in xs.items():
    if a: break
    d = b
else:
    d = 1
for i in [1, 2]: i
for i in {'a': 1}: i
for i in 'text': i
for i in None: i
for x.y in z: pass
for x[0] in z: pass
while f(): g = f()
else: g = h
async def k():
    async for l in m(): yield l
    for n in (yield): return n
    for o in p:
        o = q
        return o
""",
    "try": """
x = a()
try:
    x = b()
    y = c()
except E:
    x = d()
    raise
except (F, g.G, F) as e:
    x = e
    z = e
except () as none: none
except:
    w = x
else:
    x = y
    v = x
finally:
    u = x, y, z, w, v
def f():
    try: return g()
    finally: h(x)
    try:
        a = 1
    except E as b:
        return a
    except (F, G):
        return b
    return a
try:
    a = b
except* E as group:
    c = group
else: d = a
""",
    "with": """
with open(a) as f, b.c as (d, *e), g: f.read(d)
with (open(a) as f, b as self.x): pass
with (
    lock.held(
    )
): pass
async def h():
    async with i() as j: return j
""",
    "match": """
def f(x):
    match x.y, z():
        case C(a, B(b), key=c, other=D() as d) as e if a(b): return e
        case [g, *h, (i | i)]: j = g
        case [*_]: pass
        case {'k': l, m.n: [o], **rest}: p = rest
        case {}: raise E
        case None | 1 | 'text' | -1 | q.r: s = x
        case (t): t
        case str() | int() as u: u
        case _: v = 1
    return a, b, c, d, e, g, h, l, o, rest, s, t, u, v
match x:
    case 1: pass
match = case = 1
match[case]
w = f()
match w:
    case 1: w = g()
    case 2: w = h()
w.x
match w:
    case 1:
        w = g()
        raise E
    case _:
        w = h()
        raise E
w.y
""",
    "unpacking": """
a, b = c = f()
[d, (e, *g), h.i, j[0]] = f()
*k, l = 1, 2
m, *n, o, p = q
(r), = s
*t, *u, v = w
x, (y, z) = 0
x, *y = unknown and 0
a.b, c[d] = e
() = f()
""",
    "stores": """
import m
m.x = f()
m.x.y = g()
f().z = h
unknown.a = 1
m.none = 0.5
def k(o):
    o.p = f()
    o.p.q, o.r = f()
""",
    "items": """
table = {}
table['a'] = f
table['b']['c'] = g
table[x][y][z] = h
table[1:2] = i
table[1:2][3] = i
table[j()][k()] = l
unknown[0] = 1
cls.table[0] = f
f()[0] = 1
class C:
    shared = {}
    shared['x'] = f
    def m(self):
        self.t = {}
        self.t = []
        self.t['a'] = f
        self.t['a']['b'] = g
        self.o.t['a'] = f
        table['d'] = self
        table['d']['e'] = self
        self.t[0][1:2] = f
    def n(self):
        def o():
            self.t['z'] = 1
            table['q'] = 1
            local['r'] = 2
        local = {}
        local = []
def late():
    global table
    table['g'] = f
    table = {}
    table['h'] = f
""",
    "growth": """
names = []
names.append(f)
names.append(0.5)
names.append(f, g)
names.append(x=f)
names.append(*f)
names.extend([g])
unknown.extend([g])
names.update(h)
names.add(i).add(j)
names[0].append(k)
names[0].extend(k)
a.b.append(l)
q = deque()
q.appendleft(m)
append(n)
def f():
    names.append(f)
    names.extend(f)
    own = set()
    own.add(names)
    def g(): own.add(f)
class C:
    def __init__(self):
        self.handlers = []
        for _ in range(5): self.handlers = list()
        self.handlers = self.handlers = {}
        self.handlers = 5
    def on(self, handler):
        self.handlers.append(handler)
        self.handlers.extend(handler)
        self.handlers[handler].append(handler)
""",
    "global and nonlocal": """
x = a()
def f():
    global x, new
    x = b()
    new = c()
    x += d()
    x.append(e)
    x['k'] = e
    def g():
        nonlocal y
        y = f()
        x
        y.append(1)
    y = 1
    global late
    late: int = 3
    for x in late: pass
    import x
    del x
class C:
    global z
    z = f()
    def m(self):
        global z
        z = z
        nonlocal w
        w = z
global x
x = q()
if x: x = r()
[x := s() for _ in x]
""",
    "imports": """
import a
import a.b.c
import a.b as d, e.f, g as h
from . import i
from .. import j as k
from ...l.m import n, o as p
from q.r import (s, t as u,)
from v import *
from . import *
from __future__ import annotations
def f():
    import a.x
    from b import *
    return a, i
""",
    "exports": """
__all__ = ['a', "b" 'c', d, 1, f'e', b'g', 'é', *more]
__all__ += ('h', 'i')
__all__ -= ['j']
__all__ = x = ['k']
__all__ += more
__all__.extend(['l'])
if x:
    __all__ = ['m']
x.__all__ = ['n']
""",
    "no exports": "__all__ = []\n",
    "exports of a tuple": "__all__ = 'a',\n(__all__) += ['b']\n",
    "comprehensions": """
xs = [f(x) for x in ys if x if g(x)]
xs = {x for y in ys for x in y}
xs = {k: v for k, v in z.items() if k}
xs = (x async for x in ys)
xs = [x for x in [1, 2]]
xs = [x for x in 0]
xs = [[y for y in x] for x in ys]
xs = [last := x for x in ys]
last
x
sum(x for x in xs)
sum((x for x in xs), 1)
def f():
    a = [a for a in a if (b := a)]
    return a, b
""",
    "walrus": """
if (a := f()): a
while b := a(): print(b)
x = (y := 1, z := y)
f(a := 1, b=(c := a))
def g(d=(e := f())): return (h := d)
""",
    "annotations": """
a: int
b: int = f()
c: x.Y = 0.5
self.d: int
self.e: int = f()
g[0]: int = 1
h: Optional[A] = None
i: Union[A, B, A, None]
j: A | B | None
k: list[A]; k2: typing.List[A]; k3: Iterable[A, B]; k4: list[()]
l: dict[A, B]; l2: Mapping[A]; l3: dict[()]
m: tuple[A, B]; m2: Tuple[A, ...]; m3: tuple[()]
n: type[A]; n2: Type[A, B]; n3: type[f(1)]
o: Callable[[A], B]; o2: x.y.Z[A]; o3: f(1)[A]; o4: a[b][c]
p: Self; p2: Self[A]; p3: x.Self; p4: Annotated[A, 'some doc', f(1)]
q: ClassVar[Final[A]]; q2: Required[A]; q3: NotRequired[A]; q4: Awaitable[A]
r: Literal['x']; r2: f(1); r3: [A]; r4: (A); r5: 1; r6: None; r7: A if B else C; r9: A - B
s: Generator[A, B, C]; s2: AsyncIterator[A]; s3: frozenset[A]; s4: deque[A]; s5: AbstractSet[A]; s6: DefaultDict[A, B]
(t): int = 3
x: lambda: y = 4
v: list[lambda: f()]; v2: type[lambda q: f(q)]
*w, = b
def f(a: A, b: B[C] = d, *c: list[E], **d: dict[F, G]) -> Optional["H"]: pass
""",
    "string annotations": """
a: 'A'
b: "list['A']" = f()
c: ' A.B '
d: 'A |'
e: ''
g: '''
  Optional[
    A.b
  ]
'''
h: 'type[f(x)]'
i: 'Type[lambda a=g(): f(a)]'
j: "Union['A', \\"Type['B.c(1)']\\"]"
k: Optional['a b c']
l: 'A' 'B'
m: 'A' | None
n: '\\tA\\x1f'
o: b'A'
p: "1 + 2"
"""
    + r'q: "type[('
    + r"\n" * 42
    + r' f(1))]"'
    + """
r: 'A; B'
s: 'x = 1'
t: 'yield'
u: '*A'
v: 'A, B'
w: 'type[f(x, y=1).append(z)]'
class C:
    def m(self, a: 'C', *b: 'D') -> 'Iterator[C]': yield a
""",
    "lines of string annotations": r"x: 'type[(\n f())]'; y: 'type[(\n\n f())]'; z: 'type[(\n\n\n f())]'",
    "slices": """
x = f()
x[1:2], x[:], x[1:], x[:2], x[1:2:3], x[::], x[a:b()], x['a':1], x[-1:], x[1.5:None], x[g():h():i()]
x[1:2, 3], x[...], x[*a], x[a, b], x[0][1], x[f(x)]
unknown[1:2], 0[1:2]
(1 + 2)[a():b()], (1 + 2)[c()]
""",
    "sequences": """
a = [f, *g, h()]; b = (f,); c = {f, g}; d = (); e = []
i = ["""
    + ", ".join(f"f{n}()" for n in range(230))
    + """]
j = {**a, f: g, **h(), 'k': i()}
k = {"""
    + ", ".join(f"{n}: g{n}()" for n in range(230))
    + """}
""",
    "operations": """
a = [f] + b; a2 = b + [f]; a3 = {} | c; a4 = c | {}; a5 = a + b; a6 = [f] - b; a7 = () + ()
d = 'x' % y; d2 = 'x' % (y, z()); d3 = e % y; d4 = 1 % 2; d5 = 'x' + y
g = not f(); g2 = -f(); g3 = a < b() < c(); g4 = a in b; g5 = a ** b() // c() @ d() << e() >> f() ^ g() & h()
i = a or b() or a or c; i2 = a and b; i3 = 0.5 or 0.5; i4 = 0.5 or a
j = a if b() else c(); j2 = a if b else a
a += b(); a -= 0.5; a.b += c(); a[0] |= c(); unknown += f; a += 0.5
""",
    "f-strings": """
a = f"x{y}z{f(1)!r:>{w()}}{{}}" 'tail'
b = 'head' f'{a}' f"" f'{b.c(d)}'
c = f''
d = rf'\\d{e}'
g = f'{h=}' + 'x'
i = f'''{
    j(1)
}'''
""",
    "yields and awaits": """
def f():
    x = yield
    y = yield x, g()
    z = yield from h()
    yield 0.5
    return (yield z)
async def k():
    a = await l()
    return await a.b
""",
    "calls": """
f(a, *b, c=d, **e)
f()()()
a.b(c).d(e)
(a.b)(c)
(a
 .b
 .c)(d)
[f][0](g)
(lambda: x)()
raise E
raise E() from F
raise E.x
raise (a or b)
raise
x = print(y := f, end='')
f(x for x in y)
del f(1).x
assert f(1), g(2)
f(None=1) if 0 else 1
""".replace("f(None=1)", "f(none=1)"),
    "return values": """
def f():
    return
    return 0.5
    return x
    return x, y
    return f()
return z
""",
    "one line": "x = 1; y = x; f(x); import a; pass\nif x: f(); g()\nclass C: a = f(); b = a\n",
    "letters beyond ASCII": "x = 'é'; f(x)\n# 東京\ny = '東京' + g('ö'); h()\n",
    "no final newline": "f(x)",
    "tabs": "if x:\n\tf(x)\nclass C:\n\tdef m(self):\n\t\tself.x = f()\n",
    "continuation lines": "x = f(a) + \\\n    g(b).h(\n  c)\ny = (\n    # comment\n    k\n    .l(m)\n)\n",
    "a long chain of branches": "x = 0\n"
    + "if x: x = f()\n"
    + "".join(f"elif x == {n}: x = f{n}()\n" for n in range(60)),
    "a long sum": "x = " + " + ".join(f"f({n})" for n in range(100)) + "\n",
    "deep nesting of everything": """
a[0] = f
a[1][2].append(g(lambda q=(lambda r=1: r): q))
b: 'A | list[B]' = [c := d for d in [(a, b), *e]]
(c, [d, *e]) = x
if isinstance(a, C): pass
match a:
    case [C(b, c=[d])] if e: pass
"""
    * 320,
    "many names and branches": "".join(f"x{n} = f({n})\n" for n in range(60))
    + "".join(f"if x{n}: x{n} = g(); y{n} = h\n" for n in range(60)),
}

# A reader may decline these.
RARE_SOURCES = {
    "a byte order mark": "\ufefff(x)\ng(y)\n",
    "form feeds": "if x:\n\tf(x)\n\x0c\nclass C:\n\tdef m(self):\n\t\tself.x = f()\n",
    "letters by name": "x = '\\N{BULLET}'\n",
    "lines with carriage returns": "f(x)\r\ng(y)\r\n",
    "a lone surrogate": "x = '\\ud800'\n__all__ = ['a', '\\udfff']\ny: '\\ud800'\n",
    "names beyond ASCII": "größe = f(größe).höhe()\n",
    "types beyond ASCII": "x: 'é'\ny: Annotated[A, 'für alle']\n",
    "an f-string as a type": "x: f'{y()}' = z\n",
    "letters by name in types": "x: \"type[f('\\\\N{BULLET}')]\"\n",
    "large ends": "x = f()[1000000000:]\n",
    "an encoding": "# coding: latin-1\nf(x)\n",
}

"""Python files as an editor, a merge or another Python version leaves them: none can be parsed by Python 3.11."""

_METHODS = "".join(
    f'    def method_{number}(self, value):\n        """Return {number}."""\n        total = compute_{number}(value)\n'
    f"        self.field_{number} = total\n        return total\n\n"
    for number in range(40)
)
LONG = f"""\
import os
from .base import Base

LIMIT = 10


class Service(Base):
{_METHODS}
def main():
    Service().run()
"""

BROKEN = {
    "a half-typed function header": """\
import os

def first(a):
    return os.path.join(a)

def second(a, b

def third():
    first(1)
""",
    "a function name alone": """\
def first():
    call()

def sec

class Third:
    def run(self):
        self.x = 1
""",
    "a half-typed method with a body": """\
class Store:
    def load(self, key:
        return self.read(key)

    def save(self):
        write(self)
""",
    "a call that is not closed": """\
def first():
    a = 1
    value = compute(a,
    other(value)
    return value

def second():
    first()
""",
    "an attribute being typed": """\
class Store:
    def load(self):
        self.cache.
        return self.read()

    def read(self):
        pass
""",
    "a condition without a colon": """\
def first(a):
    if a > limit
        call(a)
    return other

def second():
    pass
""",
    "a header without a body": """\
def first():

def second():
    call()

class Third:
""",
    "try without except": """\
def first():
    try:
        call()
    return other()

def second():
    pass
""",
    "merge conflict": """\
import os

def first():
<<<<<<< HEAD
    return ours()
=======
    return theirs()
>>>>>>> topic

def second():
    first()
""",
    "merge conflict around definitions": """\
class Store:
    def load(self):
        pass

<<<<<<< HEAD
    def ours(self, a):
        one(a)
||||||| base
=======
    def theirs(self, b):
        two(b)
>>>>>>> topic

    def save(self):
        three()
""",
    "a missing bracket in the middle": LONG.replace("compute_20(value)", "compute_20(value"),
    "an extra bracket in the middle": LONG.replace("compute_20(value)", "compute_20(value))"),
    "a missing quote in the middle": LONG.replace('"""Return 20."""', '"Return 20.'),
    "a docstring that is not closed": LONG.replace('"""Return 20."""', '"""Return 20.'),
    "a wrong indentation in the middle": LONG.replace(
        "        total = compute_20(value)", "      total = compute_20(value)"
    ),
    "a deleted header": LONG.replace("    def method_20(self, value):\n", ""),
    "an unfinished import": """\
import os
from .base import (One,

import sys

def first():
    sys.exit(os)
""",
    "an unfinished mapping": """\
TABLE = {
    'one': first,
    'two':

def second():
    return TABLE
""",
    "an unfinished decorator": """\
@app.route(
def first():
    call()

@app.
class Second:
    pass
""",
    "python 2": """\
import os

class Error(Exception):
    pass

def first(a, (b, c)):
    print 'value', a
    print >>log, b
    try:
        run(a)
    except (IOError, OSError), error:
        raise Error, 'failed'
    except ValueError, error:
        print error
    exec 'code' in {}
    return `a` <> 0777 and 10L and ur'x'

def second():
    return sorted(table, key=lambda (k, v): k)
""",
    "tabs and spaces": """\
class Store:
    def load(self):
\tprint 'tab'
\treturn read(self)

    def save(self):
        pass
""",
    "type aliases and parameters": """\
type Pair[T] = tuple[T, T]
type Name = str | Other

def first[T: Base](value: T) -> T:
    return call(value)

class Box[
    T,
    *Ts,
](Base):
    def get[K](self, key: K) -> T: ...
""",
    "exceptions without brackets": """\
def first():
    try:
        call()
    except KeyError, errors.Missing:
        other()
    except OSError:
        pass
""",
    "quotes within a formatted string": """\
def first(a):
    text = f"{a["key"]} {", ".join(names(a))} {'\\n'.join(a)}"
    return t"{value}" + text
""",
}

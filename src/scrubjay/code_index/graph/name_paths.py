"""Converts written types and expressions to paths of names."""

from collections.abc import Iterable

WRAPPERS = {
    "Box", "Rc", "Arc", "Option", "Result", "RefCell", "Cell", "Mutex", "RwLock", "Pin", "Cow", "Weak", "OnceLock",
    "OnceCell", "Optional", "CompletableFuture", "Future", "Promise", "Task", "ValueTask", "Lazy", "Try",
    "shared_ptr", "unique_ptr", "weak_ptr", "optional", "Atomic", "AtomicReference", "Supplier", "Provider",
    "MutexGuard", "Ref", "RefMut", "Some", "Deferred", "StateFlow",
}  # fmt: skip
_CONTAINERS = {
    "Vec", "VecDeque", "HashMap", "BTreeMap", "HashSet", "BTreeSet", "List", "ArrayList", "LinkedList", "Set",
    "Map", "Collection", "Iterable", "Iterator", "Stream", "Queue", "Deque", "Array", "Seq", "IEnumerable", "IList",
    "ICollection", "Dictionary", "IReadOnlyList", "vector", "map", "unordered_map", "set", "unordered_set", "list",
    "deque", "array", "MutableList", "MutableMap", "Sequence", "Flow", "ConcurrentHashMap", "TreeMap", "Slice",
    "IDictionary", "Channel",
}  # fmt: skip
_NO_TYPES = {"fn", "func", "Fn", "FnMut", "FnOnce", "var", "auto", "val", "let", "void", "dyn", "impl", "", "_"}


def parse_type_name(text: str, *, wraps: bool = True) -> str:
    """Return the name of a type without references, brackets and wrappers, and `[]` for the items of a container."""
    mark = ""
    for _ in range(8):
        text = text.strip().lstrip("&*?:").rstrip("*&?! ").strip()
        if text.startswith("'"):
            text = text.partition(" ")[2]
            continue
        first, _, rest = text.partition(" ")
        if first in (
            "mut",
            "const",
            "dyn",
            "impl",
            "final",
            "readonly",
            "struct",
            "ref",
            "out",
            "in",
            "async",
            "some",
            "any",
            "volatile",
        ):
            text = rest
            continue
        if text.startswith("[]"):
            text, mark = text[2:], "[]"
            continue
        if text.startswith(("chan ", "<-chan ", "chan<- ")):
            text, mark = text.partition(" ")[2], "[]"
            continue
        if text.startswith("map[") and "]" in text:
            text, mark = text[text.index("]") + 1 :], "[]"
            continue
        if text.startswith("[") and text.endswith("]"):
            text, mark = text[1:-1].partition(";")[0].rpartition(":")[2], "[]"
            continue
        if text.endswith("[]"):
            text, mark = text[:-2], "[]"
            continue
        opening = min((place for place in (text.find("<"), text.find("[")) if place > 0), default=-1)
        if opening < 0:
            break
        base = text[:opening].replace("::", ".").rstrip(".")
        last = base.rpartition(".")[2]
        inner = text[opening + 1 :].rstrip(">] ")
        if wraps and last in WRAPPERS:
            text = split_arguments(inner)[0]
        elif wraps and last in _CONTAINERS:
            text, mark = split_arguments(inner)[-1], "[]"
        else:
            text = base
            break
    name = (
        text.replace("::", ".")
        .replace("\\", ".")
        .replace("->", ".")
        .split("(")[0]
        .split("{")[0]
        .split("+")[0]
        .split("|")[0]
    )
    name = name.strip(" .;,*&?")
    return name + mark if name not in _NO_TYPES and all(part.isidentifier() for part in name.split(".")) else ""


def split_arguments(inner: str) -> list[str]:
    """Split at commas that are not within brackets."""
    parts, depth, begin = list[str](), 0, 0
    for place, letter in enumerate(inner):
        if letter in "<[(":
            depth += 1
        elif letter in ">])":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(inner[begin:place])
            begin = place + 1
    return [*parts, inner[begin:]]


_STARTS = ("&", "*", "mut ", "await ", "try ", "ref ", "try! ", "try? ", "async ", "(")


def parse_name_path(text: str) -> str:
    """Return an expression as a path of names: `&Foo{A: 1}` is `Foo{}`, `new Foo(1).bar[0]` is `new Foo().bar[]`."""
    text = text.strip()
    while text.startswith(_STARTS):
        text = text[next(len(start) for start in _STARTS if text.startswith(start)) :].lstrip()
    made = text.startswith("new ")
    if made:
        text = text[4:].lstrip()
    parts = list(_path_pieces(text))
    if not parts or parts[-1] is None:
        return ""
    path = "".join(part for part in parts if part is not None)
    if made:
        head, opened, rest = path.partition("()")
        path = f"{head}{{}}{rest}" if opened else f"{path}{{}}"
    return path


def _path_pieces(text: str) -> Iterable[str | None]:
    """Yield the names and suffixes of a path; None at the end if the expression is not a path."""
    place, size = 0, len(text)
    while place < size:
        letter = text[place]
        if letter.isalnum() or letter in "_$@":
            begin = place
            while place < size and (text[place].isalnum() or text[place] in "_$@"):
                place += 1
            yield text[begin:place].lstrip("$@")
            continue
        if letter in "([{":
            closing = _closing(text, place)
            yield {"(": "()", "[": "[]", "{": "{}"}[letter]
            place = closing
            continue
        if text.startswith("::<", place):
            place = _closing(text, place + 2)
            continue
        if text.startswith(("::", "->", "?.", "?->"), place):
            yield "."
            place += 3 if text.startswith("?->", place) else 2
            continue
        if letter == "<" and (closing := _closing(text, place)) < size and text[closing] in "(:.{":
            place = closing
            continue
        if letter == ".":
            yield "."
            place += 1
            continue
        if letter in "?!;":
            place += 1
            continue
        if letter in " \n\t\r":
            rest = text[place:].lstrip()
            if not rest or rest[0] in ".?{(" or rest.startswith("->"):
                place = size - len(rest)
                continue
        yield None
        return


def _closing(text: str, opening: int) -> int:
    """Return the position after the bracket that closes the one at `opening`; the end of the text if there is none."""
    pair = {"(": ")", "[": "]", "{": "}", "<": ">"}[text[opening]]
    depth = 0
    for place in range(opening, len(text)):
        if text[place] == text[opening]:
            depth += 1
        elif text[place] == pair:
            depth -= 1
            if depth == 0:
                return place + 1
    return len(text)

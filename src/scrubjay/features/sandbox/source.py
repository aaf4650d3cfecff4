"""A program's source made one that the engine can run: types out, imports found, lines where they were."""

import re
from dataclasses import dataclass
from typing import Final

from scrubjay.features.sandbox.time_limits import Allowance
from scrubjay.features.sandbox.wasm_module import Instance, Template, Trapped, store_within

_IS_TYPESCRIPT: Final = 1 << 0
_STRIP: Final = 1 << 8
# It changes nothing here, and so only writes the program anew, with its types.
_REWRITE: Final = 1 << 9
_DONE, _UNCHANGED = 0, 1
_MEMORY_BYTES: Final = 128 * 1024 * 1024
_OPENING, _CLOSING = "(async function () {", "\n})"
_IMPORT: Final = re.compile(
    r"""^[ \t]*import\b(?:[ \t]+type\b)?[^'"();=]{0,500}?(['"])(?P<module>[^'"\n]{1,200})\1[ \t]*;?""", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Source:
    """What the engine is given."""

    text: str
    has_lines_of_its_own: bool
    """Whether its lines are others than those of the program, as types were taken out."""


def as_function(program: str) -> str:
    """The program as the body of a function, each line where it is: so it can return and await."""
    return f"{_OPENING}{program}{_CLOSING}"


def without_types(stripping: Template, program: str, allowance: Allowance) -> Source:
    """What is to be run for a program; one that cannot be read is left as it is, and the engine will say why."""
    whole = as_function(program)
    store = store_within(stripping.engine, _MEMORY_BYTES)
    allowance.watch(store)
    try:
        stripper = Instance(stripping, store, {})
        stripped = _transformed(stripper, whole, _IS_TYPESCRIPT | _STRIP)
        if stripped is None or stripped == _transformed(stripper, whole, _IS_TYPESCRIPT | _REWRITE):
            return Source(whole, has_lines_of_its_own=False)
        return Source(stripped, has_lines_of_its_own=True)
    except Trapped:
        if allowance.left <= 0:
            raise
        return Source(whole, has_lines_of_its_own=False)
    finally:
        store.close()


def without_imports(program: str) -> tuple[str, list[str]]:
    """The program without what looks like imports at the beginning of lines, and the modules that these name."""
    modules = [found["module"] for found in _IMPORT.finditer(program)]
    return _IMPORT.sub("", program), modules


def _transformed(stripper: Instance, source: str, how: int) -> str | None:
    name, content = b"program.ts", source.encode("utf-8", "replace")
    named, placed = _placed(stripper, name), _placed(stripper, content)
    status = stripper.call("qjst_transform", named, len(name), placed, len(content), how)
    if status == _UNCHANGED:
        return source
    if status != _DONE:
        return None
    length = stripper.call("qjst_result_len")
    told = stripper.read(stripper.call("qjst_result_ptr"), length).decode("utf-8", "replace") if length else ""
    stripper.call("qjst_result_free")
    return told.rstrip().removesuffix(";")


def _placed(stripper: Instance, content: bytes) -> int:
    place = stripper.call("qjst_alloc", len(content))
    if place == 0:
        raise Trapped("no memory")
    stripper.write(place, content)
    return place

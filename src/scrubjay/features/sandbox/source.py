"""Preparation of a program's source for the engine: strip types and find imports, keeping line numbers if possible."""

import re
from dataclasses import dataclass
from typing import Final

from scrubjay.features.sandbox.time_limits import TimeBudget
from scrubjay.features.sandbox.wasm_module import WasmInstance, WasmTemplate, WasmTrap, create_store

_IS_TYPESCRIPT: Final = 1 << 0
_STRIP: Final = 1 << 8
# Prints the program again with its types, so that the result can be compared with the stripped program.
_REWRITE: Final = 1 << 9
_DONE, _UNCHANGED = 0, 1
_MEMORY_BYTES: Final = 128 * 1024 * 1024
_OPENING, _CLOSING = "(async function () {", "\n})"
_IMPORT: Final = re.compile(
    r"""^[ \t]*import\b(?:[ \t]+type\b)?[^'"();=]{0,500}?(['"])(?P<module>[^'"\n]{1,200})\1[ \t]*;?""", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class RunnableSource:
    """Source that the engine can run."""

    text: str
    lines_differ: bool
    """True if its line numbers differ from those of the program, because types were stripped."""


def wrap_in_function(program: str) -> str:
    """Wrap the program in an async function so that it can return and await; line numbers stay the same."""
    return f"{_OPENING}{program}{_CLOSING}"


def strip_types(template: WasmTemplate, program: str, budget: TimeBudget) -> RunnableSource:
    """Return the program without types. Invalid source is returned unchanged; the engine then reports the error."""
    whole = wrap_in_function(program)
    store = create_store(template.engine, _MEMORY_BYTES)
    budget.watch(store)
    try:
        stripper = WasmInstance(template, store, {})
        stripped = _transform(stripper, whole, _IS_TYPESCRIPT | _STRIP)
        if stripped is None or stripped == _transform(stripper, whole, _IS_TYPESCRIPT | _REWRITE):
            return RunnableSource(whole, lines_differ=False)
        return RunnableSource(stripped, lines_differ=True)
    except WasmTrap:
        if budget.remaining <= 0:
            raise
        return RunnableSource(whole, lines_differ=False)
    finally:
        store.close()


def remove_imports(program: str) -> tuple[str, list[str]]:
    """Return the program without import statements at line starts, and the names of the imported modules."""
    modules = [found["module"] for found in _IMPORT.finditer(program)]
    return _IMPORT.sub("", program), modules


def _transform(stripper: WasmInstance, source: str, options: int) -> str | None:
    name, content = b"program.ts", source.encode("utf-8", "replace")
    name_address, address = _copy_in(stripper, name), _copy_in(stripper, content)
    status = stripper.call("qjst_transform", name_address, len(name), address, len(content), options)
    if status == _UNCHANGED:
        return source
    if status != _DONE:
        return None
    length = stripper.call("qjst_result_len")
    output = stripper.read(stripper.call("qjst_result_ptr"), length).decode("utf-8", "replace") if length else ""
    stripper.call("qjst_result_free")
    return output.rstrip().removesuffix(";")


def _copy_in(stripper: WasmInstance, content: bytes) -> int:
    address = stripper.call("qjst_alloc", len(content))
    if address == 0:
        raise WasmTrap("no memory")
    stripper.write(address, content)
    return address

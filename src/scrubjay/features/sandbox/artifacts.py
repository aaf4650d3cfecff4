"""The engine and the stripper of types: found, known by their digests, compiled once, and kept compiled in a folder.

Loaded by workers as well, so with nothing but Python's standard library and wasmtime.
"""

import hashlib
import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import wasmtime

VENDOR: Final = Path(__file__).with_name("vendor")
# What a guest may use of the machine's stack. With more, a deep recursion would abort the process; the thread's own
# stack must be larger than this.
WASM_STACK_BYTES: Final = 2 * 1024 * 1024
THREAD_STACK_BYTES: Final = 8 * 1024 * 1024

_WASI = "wasi_snapshot_preview1"


class Unusable(Exception):
    """What the sandbox is made of is missing, or is not what it was."""


@dataclass(frozen=True, slots=True)
class Artefact:
    """One WebAssembly file as we know it."""

    name: str
    digest: str
    imports: frozenset[tuple[str, str]]
    """All that it asks of its host; not one more is answered."""
    exports: frozenset[str]
    """Those that we call."""


ENGINE: Final = Artefact(
    "quickjs.wasm",
    "647ab11ae29cc6d39a6d17d3aa1e7a6a0b5fb9c44b4864475a18bc644f926050",
    frozenset(
        {
            *(("env", own) for own in ("host_interrupt", "host_module_normalize", "host_call", "host_module_load")),
            *((_WASI, own) for own in ("random_get", "environ_get", "environ_sizes_get", "clock_time_get")),
            *((_WASI, own) for own in ("fd_close", "fd_fdstat_get", "fd_seek", "fd_write", "proc_exit")),
        }
    ),
    frozenset(
        {
            *("memory", "free_value", "call_function", "eval_code", "execute_pending_jobs"),
            *("get_string", "last_exception", "get_prop", "new_function", "new_string"),
            *("new_undefined", "qjs_alloc", "qjs_free", "qjs_last_len", "qjs_last_ptr", "qjs_result_free"),
            "set_memory_limit",
        }
    ),
)
STRIPPER: Final = Artefact(
    "strip_types.wasm",
    "c4710d5258585122a70f0b3ee3bc19d085742e6f94f48aa0b8057630ebaca745",
    frozenset((_WASI, own) for own in ("random_get", "environ_get", "environ_sizes_get", "fd_write", "proc_exit")),
    frozenset(
        {
            *("memory", "qjst_alloc", "qjst_free", "qjst_transform", "qjst_result_free"),
            *("qjst_result_len", "qjst_result_ptr", "qjst_error_len", "qjst_error_ptr"),
        }
    ),
)
ALL: Final = (ENGINE, STRIPPER)


def engine() -> "wasmtime.Engine":
    """What every module is compiled for and runs in."""
    import wasmtime

    config = wasmtime.Config()
    config.epoch_interruption = True
    config.max_wasm_stack = WASM_STACK_BYTES
    # Of what no guest here uses, nothing is there to be got wrong.
    config.wasm_threads = False
    config.wasm_memory64 = False
    config.wasm_multi_memory = False
    return wasmtime.Engine(config)


def verified(artefact: Artefact) -> bytes:
    """The file's bytes, if it is the one that we know."""
    try:
        content = (VENDOR / artefact.name).read_bytes()
    except OSError as error:
        raise Unusable(f"{artefact.name} cannot be read ({error.strerror})") from error
    if (digest := hashlib.sha256(content).hexdigest()) != artefact.digest:
        raise Unusable(f"{artefact.name} is not the one that is known: its SHA-256 is {digest}")
    return content


def check(artefact: Artefact, module: "wasmtime.Module") -> None:
    """Refuse a module that asks for other things than we answer, or lacks what we call."""
    imports = {(own.module, own.name or "") for own in module.imports}
    if imports ^ artefact.imports:
        raise Unusable(f"{artefact.name} asks for {sorted(imports ^ artefact.imports)} otherwise than is known")
    if missing := artefact.exports - {own.name for own in module.exports}:
        raise Unusable(f"{artefact.name} has no {', '.join(sorted(missing))}")


def loaded(artefact: Artefact, folder: Path, using: "wasmtime.Engine") -> "wasmtime.Module":
    """The module, from the folder if it is kept there whole; else compiled, and kept there if it can be."""
    import wasmtime

    content = verified(artefact)
    for place in sorted(folder.glob(f"{_kept_name(artefact)}-*.cwasm")):
        with suppress(OSError, wasmtime.WasmtimeError):
            compiled = place.read_bytes()
            # Compiled code is run as it is: of a torn or altered file not one byte may be.
            if place.stem.rpartition("-")[2] == hashlib.sha256(compiled).hexdigest():
                module = wasmtime.Module.deserialize(using, compiled)
                check(artefact, module)
                return module
    module = wasmtime.Module(using, content)
    check(artefact, module)
    with suppress(OSError):
        _keep(artefact, folder, bytes(module.serialize()))
    return module


def _kept_name(artefact: Artefact) -> str:
    """Of wasmtime's version, and of the processor's abilities, the compiled file knows by itself."""
    return f"{artefact.digest[:16]}-{platform.machine()}"


def _keep(artefact: Artefact, folder: Path, compiled: bytes) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = folder / f"{_kept_name(artefact)}-{hashlib.sha256(compiled).hexdigest()}.cwasm"
    unfinished = folder / f".{place.stem[:16]}-{os.getpid()}.tmp"
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(compiled)
        for useless in folder.glob(f"{_kept_name(artefact)}-*.cwasm"):  # else one of them would have been taken
            useless.unlink(missing_ok=True)
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)

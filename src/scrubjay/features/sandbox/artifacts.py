"""The WebAssembly files of the sandbox: verified by digest, compiled once, and cached in a folder.

Workers import this module, so it uses only the standard library and wasmtime.
"""

import hashlib
import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.core.lazy import lazy_module
from scrubjay.core.temporary_files import temporary_beside

# The server imports this module through the tools, and never needs the engine itself.
if TYPE_CHECKING:
    import wasmtime
else:
    wasmtime = lazy_module("wasmtime")

VENDOR: Final = Path(__file__).with_name("vendor")
# Stack of a program. It must be smaller than the stack of its thread, otherwise deep recursion aborts the process.
WASM_STACK_BYTES: Final = 2 * 1024 * 1024
THREAD_STACK_BYTES: Final = 8 * 1024 * 1024

_WASI = "wasi_snapshot_preview1"


class ArtifactError(Exception):
    """A WebAssembly file is missing or is not the expected one."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """The expected digest and interface of a WebAssembly file."""

    name: str
    digest: str
    imports: frozenset[tuple[str, str]]
    """The complete set of host functions that it imports."""
    exports: frozenset[str]
    """The exported functions that the host calls."""


ENGINE: Final = Artifact(
    "quickjs.wasm",
    "647ab11ae29cc6d39a6d17d3aa1e7a6a0b5fb9c44b4864475a18bc644f926050",
    frozenset(
        {
            *(("env", name) for name in ("host_interrupt", "host_module_normalize", "host_call", "host_module_load")),
            *((_WASI, name) for name in ("random_get", "environ_get", "environ_sizes_get", "clock_time_get")),
            *((_WASI, name) for name in ("fd_close", "fd_fdstat_get", "fd_seek", "fd_write", "proc_exit")),
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
STRIPPER: Final = Artifact(
    "strip_types.wasm",
    "c4710d5258585122a70f0b3ee3bc19d085742e6f94f48aa0b8057630ebaca745",
    frozenset((_WASI, name) for name in ("random_get", "environ_get", "environ_sizes_get", "fd_write", "proc_exit")),
    frozenset(
        {
            *("memory", "qjst_alloc", "qjst_free", "qjst_transform", "qjst_result_free"),
            *("qjst_result_len", "qjst_result_ptr", "qjst_error_len", "qjst_error_ptr"),
        }
    ),
)
ARTIFACTS: Final = (ENGINE, STRIPPER)


def create_engine() -> "wasmtime.Engine":
    """Return a new engine; modules are compiled for it and run in it."""
    config = wasmtime.Config()
    config.epoch_interruption = True
    config.max_wasm_stack = WASM_STACK_BYTES
    # Unused features are off to reduce the attack surface.
    config.wasm_threads = False
    config.wasm_memory64 = False
    config.wasm_multi_memory = False
    return wasmtime.Engine(config)


def read_verified(artifact: Artifact) -> bytes:
    """Return the content of a file; raise `ArtifactError` unless its digest is the expected one."""
    try:
        content = (VENDOR / artifact.name).read_bytes()
    except OSError as error:
        raise ArtifactError(f"{artifact.name} cannot be read ({error.strerror})") from error
    if (digest := hashlib.sha256(content).hexdigest()) != artifact.digest:
        raise ArtifactError(f"{artifact.name} is not the expected file: its SHA-256 is {digest}")
    return content


def check_interface(artifact: Artifact, module: "wasmtime.Module") -> None:
    """Raise `ArtifactError` if the imports or exports of a module differ from the expected ones."""
    imports = {(entry.module, entry.name or "") for entry in module.imports}
    if imports ^ artifact.imports:
        raise ArtifactError(f"{artifact.name} has unexpected imports: {sorted(imports ^ artifact.imports)}")
    if missing := artifact.exports - {entry.name for entry in module.exports}:
        raise ArtifactError(f"{artifact.name} does not export {', '.join(sorted(missing))}")


def load_module(artifact: Artifact, folder: Path, engine: "wasmtime.Engine") -> "wasmtime.Module":
    """Return the compiled module from the cache folder; compile and cache it if it is missing or damaged."""
    content = read_verified(artifact)
    for path in sorted(folder.glob(f"{_cache_prefix(artifact)}-*.cwasm")):
        with suppress(OSError, wasmtime.WasmtimeError):
            compiled = path.read_bytes()
            # Compiled code is executed unchecked, so a damaged or altered file must not be loaded.
            if path.stem.rpartition("-")[2] == hashlib.sha256(compiled).hexdigest():
                module = wasmtime.Module.deserialize(engine, compiled)
                check_interface(artifact, module)
                return module
    module = wasmtime.Module(engine, content)
    check_interface(artifact, module)
    with suppress(OSError):
        _write_cache(artifact, folder, bytes(module.serialize()))
    return module


def _cache_prefix(artifact: Artifact) -> str:
    # The compiled file itself records wasmtime's version and the CPU features.
    return f"{artifact.digest[:16]}-{platform.machine()}"


def _write_cache(artifact: Artifact, folder: Path, compiled: bytes) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{_cache_prefix(artifact)}-{hashlib.sha256(compiled).hexdigest()}.cwasm"
    temporary = temporary_beside(path)
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(compiled)
        for outdated in folder.glob(f"{_cache_prefix(artifact)}-*.cwasm"):  # none of them could be loaded
            outdated.unlink(missing_ok=True)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)

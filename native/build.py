"""Compile the C sources of this folder into a shared library.

Run `python -m native.build` in a checkout to compile in place. An editable installation does the same by itself.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scrubjay.native.library import FINGERPRINT_NAME, LIBRARY_FOLDER, LIBRARY_NAME, c_sources, fingerprint

SOURCE_FOLDER = Path(__file__).parent
_OPTIONS = ("-std=c11", "-fPIC", "-fvisibility=hidden")
_OPTIMIZED = ("-O3",)
# Each of these is used if the compiler accepts it without a warning; of the alternatives in one row, the first.
_HARDENING = (
    (("-fstack-protector-strong",),),
    (("-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"), ("-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2")),
    (("-Wl,-z,relro", "-Wl,-z,now"),),  # full RELRO, which only ELF has
    (("-Wl,-z,noexecstack",),),
)
_PROBE = """#include <string.h>
void probe(char *to, const char *from);
void probe(char *to, const char *from) { char copy[16]; strncpy(copy, from, sizeof copy - 1); memcpy(to, copy, 15); }
"""
SANITIZED = ("-O0", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_TIMEOUT_SECONDS = 120


def compile_library(
    sources: Path = SOURCE_FOLDER, target: Path = LIBRARY_FOLDER, options: Sequence[str] = _OPTIMIZED
) -> str | None:
    """Compile the sources into `target` and return None, or return the reason why that failed.

    An earlier library in `target` is replaced in one step (processes that use it keep their copy), and removed when the
    compilation fails. The compiler is `$CC`, by default `cc`. Without sanitizers, the library is hardened: it has stack
    protectors, checked copies and a read-only table of addresses, as far as the compiler supports them.
    """
    target.mkdir(parents=True, exist_ok=True)
    digest = fingerprint(sources)
    compiler = [*shlex.split(os.environ.get("CC") or "cc"), *options, *_OPTIONS]
    with tempfile.TemporaryDirectory(dir=target, prefix=".compiling-") as temporary:
        output = Path(temporary) / LIBRARY_NAME

        def compile_object(source: Path) -> str:
            compiled = str(Path(temporary) / f"{source.stem}.o")
            # Options of the linker are not used here, which clang would warn about.
            _run(
                [
                    *_without_link_options(compiler),
                    f'-DSOURCE_FINGERPRINT="{digest}"',
                    "-c",
                    str(source),
                    "-o",
                    compiled,
                ]
            )
            return compiled

        try:
            if options != SANITIZED:
                compiler += hardening(compiler, Path(temporary))
            with ThreadPoolExecutor(os.cpu_count()) as threads:
                objects = [*threads.map(compile_object, c_sources(sources))]
            _run([*compiler, "-shared", "-o", str(output), *objects, "-lm"])
        except (OSError, subprocess.SubprocessError) as error:
            (target / LIBRARY_NAME).unlink(missing_ok=True)
            (target / FINGERPRINT_NAME).unlink(missing_ok=True)
            output_text = error.stderr if isinstance(error, subprocess.CalledProcessError) else ""
            return output_text.strip() or str(error)
        output.replace(target / LIBRARY_NAME)
        (target / FINGERPRINT_NAME).write_text(f"{digest}\n")
    return None


def hardening(compiler: Sequence[str], folder: Path) -> list[str]:
    """Return the hardening options that the compiler supports together with its other options."""
    source = folder / "probe.c"
    source.write_text(_PROBE)
    chosen: list[str] = []
    for alternatives in _HARDENING:
        for added in alternatives:
            try:
                _run([*compiler, *added, "-Werror", "-shared", str(source), "-o", str(folder / "probe.so")])
            except subprocess.CalledProcessError:
                continue
            chosen += added
            break
    return chosen


def _without_link_options(compiler: Sequence[str]) -> list[str]:
    return [option for option in compiler if not option.startswith("-Wl,")]


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compile the native library of Scrubjay.")
    parser.add_argument("target", nargs="?", type=Path, default=LIBRARY_FOLDER, help="folder of the library")
    parser.add_argument("--sanitize", action="store_true", help="build with AddressSanitizer and UBSan, for tests only")
    arguments = parser.parse_args()
    problem = compile_library(target=arguments.target, options=SANITIZED if arguments.sanitize else _OPTIMIZED)
    sys.stderr.write(f"{problem}\n" if problem else f"compiled {arguments.target / LIBRARY_NAME}\n")
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())

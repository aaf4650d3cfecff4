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
from pathlib import Path

from scrubjay.native.library import FINGERPRINT_NAME, LIBRARY_FOLDER, LIBRARY_NAME, c_sources, fingerprint

SOURCE_FOLDER = Path(__file__).parent
_OPTIONS = ("-std=c11", "-shared", "-fPIC", "-fvisibility=hidden")
_OPTIMIZED = ("-O3",)
SANITIZED = ("-O0", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_TIMEOUT_SECONDS = 120


def compile_library(
    sources: Path = SOURCE_FOLDER, target: Path = LIBRARY_FOLDER, options: Sequence[str] = _OPTIMIZED
) -> str | None:
    """Compile the sources into `target` and return None, or return the reason why that failed.

    An earlier library in `target` is replaced in one step (processes that use it keep their copy), and removed when the
    compilation fails. The compiler is `$CC`, by default `cc`.
    """
    target.mkdir(parents=True, exist_ok=True)
    digest = fingerprint(sources)
    with tempfile.TemporaryDirectory(dir=target, prefix=".compiling-") as temporary:
        output = Path(temporary) / LIBRARY_NAME
        command = [
            *shlex.split(os.environ.get("CC") or "cc"),
            *options,
            *_OPTIONS,
            f'-DSOURCE_FINGERPRINT="{digest}"',
            *("-o", str(output)),
            *map(str, c_sources(sources)),
            "-lm",
        ]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            (target / LIBRARY_NAME).unlink(missing_ok=True)
            (target / FINGERPRINT_NAME).unlink(missing_ok=True)
            output_text = error.stderr if isinstance(error, subprocess.CalledProcessError) else ""
            return output_text.strip() or str(error)
        output.replace(target / LIBRARY_NAME)
        (target / FINGERPRINT_NAME).write_text(f"{digest}\n")
    return None


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

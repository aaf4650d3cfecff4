"""Makes the compiled part of its sources, when Scrubjay is installed. Everything works without it, more slowly."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from scrubjay.native.library import COMPILED, fingerprint, sources

_OPTIONS = ("-O3", "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden")
_SECONDS = 120


def compile_into(folder: Path) -> str | None:
    """Compile what is in a folder; why not, if that fails. What was compiled before is then gone."""
    compiled = folder / COMPILED
    with tempfile.TemporaryDirectory(dir=folder, prefix=".compiling-") as made:
        command = [
            *shlex.split(os.environ.get("CC") or "cc"),
            *_OPTIONS,
            f'-DSOURCES="{fingerprint(folder)}"',
            *("-o", str(Path(made) / COMPILED)),
            *map(str, sources(folder)),
            "-lm",
        ]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=_SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            compiled.unlink(missing_ok=True)
            said = error.stderr if isinstance(error, subprocess.CalledProcessError) else ""
            return said.strip() or str(error)
        # Whoever uses what was there before goes on with that.
        (Path(made) / COMPILED).replace(compiled)
    return None

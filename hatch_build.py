"""Build hook: compile the C library in an editable installation, and in a wheel when that is asked for.

By default a wheel is pure Python (`py3-none-any`). With `SCRUBJAY_BUILD_NATIVE=1` it contains the C library and has the
tag of this platform; `[tool.cibuildwheel]` in pyproject.toml sets that variable for release builds.
"""

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import sys_tags

# Neither the package nor `native` is installed in the environment of a build.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "src"))

from native.build import compile_library
from scrubjay.native.library import FINGERPRINT_NAME, LIBRARY_FOLDER, LIBRARY_NAME


class NativeLibraryHook(BuildHookInterface[Any]):
    """Compile into the source tree: an editable installation runs from there, a platform wheel includes the result."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        is_asked_for = os.environ.get("SCRUBJAY_BUILD_NATIVE", "") not in ("", "0")
        if version != "editable" and not is_asked_for:
            return
        problem = compile_library()
        if problem and is_asked_for:
            raise RuntimeError(f"SCRUBJAY_BUILD_NATIVE is set, but the C library does not compile: {problem}")
        if problem:
            self.app.display_warning(
                f"The C library was not compiled; indexing code takes longer without it: {problem}"
            )
        elif version != "editable":
            folder = LIBRARY_FOLDER.relative_to(self.root)
            build_data["artifacts"] += [str(folder / LIBRARY_NAME), str(folder / FINGERPRINT_NAME)]
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{_platform_tag()}"


def _platform_tag() -> str:
    """Return the most specific platform tag of this machine, for example `manylinux_2_28_x86_64`.

    The library needs only libc and libm, so on Linux the C library's version is all that it depends on. PyPI refuses
    plain `linux_*` tags. cibuildwheel's repair step checks the tag and may add older ones.
    """
    if sys.platform == "darwin":  # honours MACOSX_DEPLOYMENT_TARGET
        return sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return next(tag.platform for tag in sys_tags() if not tag.platform.startswith("linux_"))

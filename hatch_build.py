"""What is done when Scrubjay is built or installed: its C is compiled, where there is a compiler."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledPart(BuildHookInterface[Any]):
    """Compiles into the source tree, from where an installation that can be edited runs; a wheel takes it along."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, str(Path(self.root) / "src"))
        from scrubjay.native.build import compile_into
        from scrubjay.native.library import COMPILED, FOLDER

        if problem := compile_into(FOLDER):
            self.app.display_warning(f"Nothing was compiled; indexing code takes longer without it: {problem}")
            return
        build_data["artifacts"].append(str((FOLDER / COMPILED).relative_to(self.root)))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform()}"


def _platform() -> str:
    """This machine's name in the tag of a wheel, without the promise that it runs on others."""
    from packaging.tags import sys_tags

    names = (tag.platform for tag in sys_tags())
    return next(name for name in names if not name.startswith(("manylinux", "musllinux")))

"""Make the bundled embedding model from scratch, or continue where the last run ended."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    from benchmarks import locomo
    from models import stages
else:
    # Both import numpy, which reads the number of threads from the environment when it is loaded.
    locomo = lazy_module("benchmarks.locomo")
    stages = lazy_module("models.stages")


def main() -> None:
    # One thread: the recipe runs for a long time beside other work.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

    parser = argparse.ArgumentParser(prog="python -m models", description=__doc__)
    parser.add_argument("work", type=Path, help="folder for downloads and the output of every stage")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get(locomo.FOLDER_VARIABLE, locomo.DEFAULT_FOLDER)),
        help=f"folder with memory/locomo_open.json (or {locomo.FOLDER_VARIABLE}; default {locomo.DEFAULT_FOLDER}), "
        "used for evaluation and never for training; without it, conversations are not evaluated",
    )
    options = parser.parse_args()
    recipe = stages.Recipe(options.work, options.data / "memory" / "locomo_open.json")
    print(f"wrote {recipe.make()}")


if __name__ == "__main__":
    main()

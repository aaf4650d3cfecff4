"""`python -m models WORK`: make the bundled embedding model from scratch, or go on where the last run ended."""

import argparse
import os
from pathlib import Path


def main() -> None:
    # Read when numpy and the tokenizer are imported: this takes long, and other work keeps the other cores.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    from benchmarks.locomo import DEFAULT_FOLDER, FOLDER_VARIABLE
    from models.stages import Recipe

    parser = argparse.ArgumentParser(prog="python -m models", description=__doc__)
    parser.add_argument("work", type=Path, help="where downloads and every stage's output are kept")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get(FOLDER_VARIABLE, DEFAULT_FOLDER)),
        help=f"the folder that holds memory/locomo_open.json (or {FOLDER_VARIABLE}; by default {DEFAULT_FOLDER}), "
        "to be measured on and never trained on; without it conversations are not measured",
    )
    options = parser.parse_args()
    print(f"written to {Recipe(options.work, options.data / 'memory' / 'locomo_open.json').make()}")


if __name__ == "__main__":
    main()

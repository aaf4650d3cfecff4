"""`make bench`: every benchmark, side by side with the bare SDK."""

import sys

from benchmarks import calls, startup
from benchmarks.report import keep, show


def main() -> int:
    rows = [*startup.measure(), *calls.measure()]
    show(rows)
    print(f"\nkept in {keep(rows)}")
    return 0 if all(row.reached for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

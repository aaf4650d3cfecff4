"""Model card: how a trained table compares with the bundled one, and which packages and pairs it was made from."""

from collections import Counter
from collections.abc import Mapping, Sequence

from models.harvest import PackageRecord

# Largest NDCG@10 loss against the bundled table that a new table may have on any set. The noise between seeds is about
# as large (see README.md).
TOLERANCE = 0.015
# Measured when the bundled table was made: all LoCoMo conversations, package versions of that day.
PUBLISHED_NDCG = {
    "LoCoMo turns": 0.387,
    "Python": 0.599,
    "JavaScript": 0.545,
    "TypeScript": 0.668,
    "Go": 0.691,
    "Rust": 0.599,
}

_LICENCES = ("MIT", "Apache", "BSD", "ISC")


def format_card(
    made: Mapping[str, float], bundled: Mapping[str, float], record: Sequence[PackageRecord], pairs: Mapping[str, int]
) -> str:
    harvested = [package for package in record if package.outcome == "harvested"]
    refused = Counter(package.outcome.partition(":")[0] for package in record if package.outcome != "harvested")
    return "\n".join(
        [
            "# Model made by this recipe",
            "",
            "NDCG@10 of vectors alone. Both tables answer the same questions, built from current packages.",
            "The last column is the score of the bundled table when it was made.",
            "",
            "| set | this table | bundled static-v1 | difference | static-v1 then |",
            "|---|---|---|---|---|",
            *(
                f"| {name} | {made[name]:.3f} | {bundled[name]:.3f} | {made[name] - bundled[name]:+.3f} "
                f"| {PUBLISHED_NDCG[name]:.3f} |"
                for name in made
            ),
            "",
            compare(made, bundled),
            "",
            f"{len(harvested):,} packages were harvested, grouped by declared licence; left out: "
            + (", ".join(f"{count} ({reason})" for reason, count in sorted(refused.items())) or "none")
            + ". `harvest/record.jsonl` in the work directory lists each with version and licence.",
            "",
            "| declared licence | packages |",
            "|---|---|",
            *(f"| {licence} | {count:,} |" for licence, count in _by_licence(harvested)),
            "",
            "| kind of pair | training pairs |",
            "|---|---|",
            *(f"| {kind} | {count:,} |" for kind, count in pairs.items()),
            "",
        ]
    )


def compare(made: Mapping[str, float], bundled: Mapping[str, float]) -> str:
    behind = [name for name in made if made[name] < bundled[name] - TOLERANCE]
    if behind:
        return f"**Behind the bundled table by more than {TOLERANCE}: {', '.join(behind)}.**"
    return f"Within {TOLERANCE} of the bundled table, or better, on every set."


def _by_licence(harvested: Sequence[PackageRecord]) -> list[tuple[str, int]]:
    """Count packages by the first well-known licence in each declaration."""
    counted = Counter(
        next(
            (licence for licence in _LICENCES if licence.lower() in package.licence.lower().replace("expat", "mit")),
            "other",
        )
        for package in harvested
    )
    return counted.most_common()

"""The card of a made model: how it compares with the bundled one, and what it was made from."""

from collections import Counter
from collections.abc import Mapping, Sequence

from models.harvest import Harvest

# How far a table that is made anew may stay behind the bundled one on any set.
TOLERANCE = 0.015
# Measured when the bundled table was made: all of LoCoMo's conversations, the packages of that day.
PUBLISHED = {
    "LoCoMo turns": 0.387,
    "Python": 0.599,
    "JavaScript": 0.545,
    "TypeScript": 0.668,
    "Go": 0.691,
    "Rust": 0.599,
}

_LICENCES = ("MIT", "Apache", "BSD", "ISC")


def card(
    made: Mapping[str, float], bundled: Mapping[str, float], record: Sequence[Harvest], pairs: Mapping[str, int]
) -> str:
    harvested = [package for package in record if package.outcome == "harvested"]
    refused = Counter(package.outcome.partition(":")[0] for package in record if package.outcome != "harvested")
    return "\n".join(
        [
            "# A model made by this recipe",
            "",
            "NDCG@10, vectors alone. Every set is made anew from its packages; both tables answer the same questions.",
            "The last column is what the bundled table reached when it was made.",
            "",
            "| set | this table | bundled static-v1 | difference | static-v1 then |",
            "|---|---|---|---|---|",
            *(
                f"| {name} | {made[name]:.3f} | {bundled[name]:.3f} | {made[name] - bundled[name]:+.3f} "
                f"| {PUBLISHED[name]:.3f} |"
                for name in made
            ),
            "",
            verdict(made, bundled),
            "",
            f"{len(harvested):,} packages were harvested, by the licence that their metadata declares; left out: "
            + (", ".join(f"{count} ({reason})" for reason, count in sorted(refused.items())) or "none")
            + ". `harvest/record.jsonl` in the work directory names each with version and licence.",
            "",
            "| declared licence | packages |",
            "|---|---|",
            *(f"| {licence} | {count:,} |" for licence, count in _by_licence(harvested)),
            "",
            "| kind of pair | trained on |",
            "|---|---|",
            *(f"| {kind} | {count:,} |" for kind, count in pairs.items()),
            "",
        ]
    )


def verdict(made: Mapping[str, float], bundled: Mapping[str, float]) -> str:
    behind = [name for name in made if made[name] < bundled[name] - TOLERANCE]
    if behind:
        return f"**Behind the bundled table by more than {TOLERANCE}: {', '.join(behind)}.**"
    return f"Within {TOLERANCE} of the bundled table, or better, on every set."


def _by_licence(harvested: Sequence[Harvest]) -> list[tuple[str, int]]:
    """Packages by the first well-known licence that each declares."""
    counted = Counter(
        next(
            (licence for licence in _LICENCES if licence.lower() in package.licence.lower().replace("expat", "mit")),
            "other",
        )
        for package in harvested
    )
    return counted.most_common()

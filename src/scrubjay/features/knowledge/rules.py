"""What follows from what: the predicates that have a meaning of their own, and the rules of these."""

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal, NamedTuple

KNOWN: Final = (
    "reports_to",
    "manages",
    "belongs_to",
    "member_of",
    "located_in",
    "contains",
    "adjacent_to",
    "requires",
    "depends_on",
    "provides",
    "is_a",
    "instance_of",
    "subclass_of",
    "precedes",
    "follows",
    "overlaps",
    "owns",
    "owned_by",
    "created_by",
    "authored_by",
)
# Where one thing is so related to another, the other is related to it by this.
INVERSES: Final[Mapping[str, str]] = {
    "reports_to": "manages",
    "manages": "reports_to",
    "belongs_to": "contains",
    "contains": "belongs_to",
    "located_in": "contains",
    "requires": "provides",
    "provides": "requires",
    "depends_on": "provides",
    "precedes": "follows",
    "follows": "precedes",
    "owns": "owned_by",
    "owned_by": "owns",
}
TRANSITIVE: Final = frozenset({"reports_to", "belongs_to", "located_in", "contains", "depends_on", "subclass_of"})
SYMMETRIC: Final = frozenset({"adjacent_to", "overlaps"})
# What is inferred without being asked for.
IN_BACKGROUND: Final = (
    "depends_on",
    "reports_to",
    "contains",
    "belongs_to",
    "subclass_of",
    "manages",
    "owned_by",
    "adjacent_to",
    "overlaps",
)

Rule = Literal["stated", "inverse", "symmetric"]


class Reading(NamedTuple):
    """A predicate that says another one, from its subject to its object or, turned round, the other way."""

    predicate: str
    turned: bool
    rule: Rule


@cache
def readings_of(predicate: str) -> tuple[Reading, ...]:
    """All stored predicates that say this one: itself first, then those whose inverses lead to it."""
    found = {(predicate, False): Reading(predicate, False, "stated")}
    if predicate in SYMMETRIC:
        found[predicate, True] = Reading(predicate, True, "symmetric")
    waiting = [*found]
    for said, turned in waiting:
        for other, inverse in INVERSES.items():
            if inverse == said and (other, not turned) not in found:
                found[other, not turned] = Reading(other, not turned, "inverse")
                waiting.append((other, not turned))
    return tuple(found.values())

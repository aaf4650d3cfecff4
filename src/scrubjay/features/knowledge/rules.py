"""Inference rules: standard predicates, and which of them are inverse, transitive or symmetric."""

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal, NamedTuple

STANDARD_PREDICATES: Final = (
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
# If `a KEY b` holds, then `b VALUE a` holds.
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
# Predicates for which the background job infers triples.
BACKGROUND_PREDICATES: Final = (
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


class ImplyingPredicate(NamedTuple):
    """A stored predicate that implies another one; `is_reversed` swaps subject and object."""

    predicate: str
    is_reversed: bool
    rule: Rule


@cache
def implying_predicates(predicate: str) -> tuple[ImplyingPredicate, ...]:
    """Return the predicates that imply this one: itself first, then those connected by inverses."""
    found = {(predicate, False): ImplyingPredicate(predicate, False, "stated")}
    if predicate in SYMMETRIC:
        found[predicate, True] = ImplyingPredicate(predicate, True, "symmetric")
    waiting = [*found]
    for current, is_reversed in waiting:
        for other, inverse in INVERSES.items():
            if inverse == current and (other, not is_reversed) not in found:
                found[other, not is_reversed] = ImplyingPredicate(other, not is_reversed, "inverse")
                waiting.append((other, not is_reversed))
    return tuple(found.values())


class Chain(NamedTuple):
    """Predicates whose triples imply a predicate, and whether several of them in a row do."""

    sources: tuple[ImplyingPredicate, ...]
    is_transitive: bool


@cache
def implying_chains(predicate: str) -> tuple[Chain, ...]:
    """Return all chains of triples that imply this predicate, so that rules apply to what follows by other rules.

    `manages` is not transitive, but the inverse of `reports_to`, which is: a chain of `reports_to` implies it.
    """
    sources = implying_predicates(predicate)
    if predicate in TRANSITIVE:
        return (Chain(sources, is_transitive=True),)
    chains = [Chain(sources, is_transitive=False)]
    for source in sources:
        if source.predicate in TRANSITIVE:
            within = {
                (one.predicate, one.is_reversed != source.is_reversed) for one in implying_predicates(source.predicate)
            }
            same = tuple(one for one in sources if (one.predicate, one.is_reversed) in within)
            chains.append(Chain(same, is_transitive=True))
    longest = max(
        (chain for chain in chains if chain.is_transitive), key=lambda chain: len(chain.sources), default=None
    )
    # A chain that uses every source also has the single steps.
    return tuple(chains[1:]) if longest is not None and len(longest.sources) == len(sources) else tuple(chains)

"""Training pairs are selected without copies of evaluation data."""

from models.pairs import Pair
from models.training_set import NearCopies, choose, code_pairs, documentation_pairs

LINES = [f"    total = total + weight_of(item, {number})" for number in range(6)]


def code_of(lines: list[str], name: str = "weigh") -> str:
    return "\n".join([f"def {name}(items):", *lines])


def pair_of(package: str, summary: str, code: str, kind: str = "function", documentation: str = "") -> Pair:
    return Pair(package, "py", "type" if kind == "type" else "function", "weigh", summary, documentation, code)


def test_code_that_shares_half_of_its_lines_with_evaluation_code_is_a_near_copy():
    copies = NearCopies([pair_of("measured", "Weigh all items.", code_of(LINES))])
    others = [f"    other = other + {number} * something" for number in range(6)]

    assert copies.contains(code_of(LINES[:4] + others[:2], "heave"))
    assert not copies.contains(code_of(LINES[:2] + others[:1], "heave"))
    assert not copies.contains(code_of(LINES[:3] + others, "heave"))
    assert not copies.contains("return 1")


def test_copies_evaluation_questions_and_the_fourth_pair_of_a_summary_are_left_out():
    measured = [
        pair_of("measured", "Weigh all of the items.", code_of(LINES)),
        pair_of("measured", "Return the size.", "def size():\n    return 4"),
    ]
    fresh = [pair_of("p", "Return the number.", f"def number_{n}():\n    return {n}") for n in range(4)]
    pairs = [
        *fresh,
        fresh[0],
        pair_of("p", "Weigh all of the items.", "def different(): pass"),
        pair_of("p", "Spaces are no difference.", code_of(LINES).replace("    ", "\t")),
        pair_of("p", "Half of the lines are those.", code_of(["    begin = first_of(items)", *LINES[:4]], "heave")),
        pair_of("p", "A short copy, too short to share lines.", "def size():\n\treturn 4"),
    ]

    selected = choose(pairs, measured)

    assert len(selected) == 3
    assert {pair.summary for pair in selected} == {"Return the number."}
    assert len({pair.code for pair in selected}) == 3
    assert selected == choose(pairs, measured)


def test_a_summary_is_paired_with_its_code_and_with_the_rest_of_its_documentation():
    rest = "It adds the weight of each and returns the sum of them all."
    pair = pair_of("p", "Weigh all items.", "x" * 2_000, documentation=f"Weigh all\nitems.\n\n{rest}")
    short = pair_of("p", "Weigh all items.", "x", documentation="Weigh all items. Slowly.")

    assert code_pairs([pair]) == [("p", "Weigh all items.", "x" * 1_600)]
    assert documentation_pairs([pair, short]) == [("p", "Weigh all items.", rest)]

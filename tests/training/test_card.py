from models.card import card, verdict
from models.harvest import Harvest


def test_a_table_may_be_a_little_behind_but_not_more():
    assert verdict({"Go": 0.676}, {"Go": 0.69}) == "Within 0.015 of the bundled table, or better, on every set."
    assert verdict({"Go": 0.67, "Rust": 0.7}, {"Go": 0.69, "Rust": 0.6}) == (
        "**Behind the bundled table by more than 0.015: Go.**"
    )


def test_the_card_tells_figures_packages_and_pairs():
    record = [
        Harvest("a", "1", "Expat", "harvested", 3),
        Harvest("b", "1", "Apache-2.0", "harvested", 3),
        Harvest("c", "1", "GPL-3", "licence", 0),
    ]

    text = card({"Go": 0.7}, {"Go": 0.69}, record, {"code": 6_000})

    assert "| Go | 0.700 | 0.690 | +0.010 | 0.691 |" in text
    assert "2 packages were harvested" in text
    assert "1 (licence)" in text
    assert "| MIT | 1 |\n| Apache | 1 |" in text
    assert "| code | 6,000 |" in text

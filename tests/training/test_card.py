"""The model card, and the comparison of its scores with a new evaluation."""

from models.card import compare, format_card
from models.harvest import PackageRecord


def test_a_loss_beyond_the_tolerance_is_reported():
    assert compare({"Go": 0.676}, {"Go": 0.69}) == "Within 0.015 of the bundled table, or better, on every set."
    assert compare({"Go": 0.67, "Rust": 0.7}, {"Go": 0.69, "Rust": 0.6}) == (
        "**Behind the bundled table by more than 0.015: Go.**"
    )


def test_the_card_lists_scores_packages_and_pairs():
    record = [
        PackageRecord("a", "1", "Expat", "harvested", 3),
        PackageRecord("b", "1", "Apache-2.0", "harvested", 3),
        PackageRecord("c", "1", "GPL-3", "licence", 0),
    ]

    text = format_card({"Go": 0.7}, {"Go": 0.69}, record, {"code": 6_000})

    assert "| Go | 0.700 | 0.690 | +0.010 | 0.691 |" in text
    assert "2 packages were harvested" in text
    assert "1 (licence)" in text
    assert "| MIT | 1 |\n| Apache | 1 |" in text
    assert "| code | 6,000 |" in text

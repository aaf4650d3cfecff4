"""Tail probabilities; expected values are from SciPy 1.17.1 (scipy.special.betainc, scipy.stats.t and f)."""

import pytest

from scrubjay.features.analysis.distributions import f_upper_tail, holm, incomplete_beta, t_quantile, two_sided_t


@pytest.mark.parametrize(
    ("a", "b", "x", "share"),
    [
        (0.5, 0.5, 0.3, 0.36901011956554536),
        (2, 3, 0.4, 0.5248),
        (15, 0.5, 0.95, 0.2186089966962345),
        (500, 0.5, 0.999, 0.31731044730971725),
        (0.5, 30, 0.01, 0.560665631094749),
        (1, 1, 0.25, 0.25),
        (3, 2, 0, 0),
        (3, 2, 1, 1),
    ],
)
def test_080_the_incomplete_beta_function_equals_that_of_scipy(a: float, b: float, x: float, share: float) -> None:
    assert incomplete_beta(a, b, x) == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize(
    ("t", "degrees", "p"),
    [
        (2.0, 1, 0.2951672353008665),
        (-2.5, 3, 0.08770664700806556),
        (4.0, 10, 0.0025183326247366945),
        (1.96, 1000, 0.050273184955748736),
        (0.0, 5, 1.0),
    ],
)
def test_080_the_p_values_of_students_t_are_exact(t: float, degrees: int, p: float) -> None:
    assert two_sided_t(t, degrees) == pytest.approx(p, rel=1e-11)


@pytest.mark.parametrize(
    ("f", "first", "second", "p"),
    [(3.0, 1, 5, 0.1438108087116039), (4.5, 3, 20, 0.014373244610897428), (1.2, 5, 100, 0.31474014075118323)],
)
def test_083_the_p_values_of_the_f_distribution_are_exact(f: float, first: int, second: int, p: float) -> None:
    assert f_upper_tail(f, first, second) == pytest.approx(p, rel=1e-11)


@pytest.mark.parametrize(
    ("share", "degrees", "t"),
    [(0.975, 1, 12.706204736174694), (0.975, 6, 2.4469118511449786), (0.995, 30, 2.7499956535672254)],
)
def test_082_the_quantiles_of_students_t_are_exact(share: float, degrees: int, t: float) -> None:
    assert t_quantile(share, degrees) == pytest.approx(t, rel=1e-9)


def test_080_holms_correction_equals_that_of_statsmodels() -> None:
    # statsmodels.stats.multitest.multipletests(..., method="holm")
    assert holm([0.01, 0.04, 0.03, 0.005, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.5])
    assert holm([]) == []

"""Products and sums of tables in every semiring, setting by setting."""

import numpy as np
import pytest
from graph_tables import STATES, drawn, visited
from numpy.testing import assert_allclose, assert_array_equal

from bythebook.models.graphs.factors import (
    BOOLEAN,
    MAX_PRODUCT,
    MAX_SUM,
    MIN_SUM,
    SUM_PRODUCT,
    Factor,
    Semiring,
    best,
    clamp,
    condition,
    keep,
    normalised,
    product,
    scope,
    sizes,
    sum_out,
)

RINGS = {
    "sum-product": SUM_PRODUCT,
    "max-product": MAX_PRODUCT,
    "max-sum": MAX_SUM,
    "min-sum": MIN_SUM,
}


@pytest.mark.parametrize("ring", RINGS.values(), ids=RINGS)
@pytest.mark.parametrize("names", ["", "b", "cb", "dab"])
def test_a_product_summed_out_is_the_sum_over_every_setting(ring: Semiring, names: str) -> None:
    factors = drawn(np.random.default_rng(1), "ab", "cb", "d", "dca")
    answer = keep(product(factors, ring), tuple(names), ring)
    assert answer.variables == tuple(names)
    assert_allclose(answer.table, visited(factors, names, ring), rtol=1e-12)


def test_truth_tables_say_whether_a_formula_can_hold() -> None:
    rng = np.random.default_rng(2)
    drawn_tables = drawn(rng, "ac", "ce", "ea")
    found = set()
    for cut in (0.7, 1.4, 1.9):
        clauses = [Factor(f.variables, f.table > cut) for f in drawn_tables]
        answer = keep(product(clauses, BOOLEAN), (), BOOLEAN)
        assert bool(answer.table) == bool(visited(clauses, "", BOOLEAN))
        found.add(bool(answer.table))
    assert found == {True, False}


@pytest.mark.parametrize("ring", [*RINGS.values(), BOOLEAN], ids=[*RINGS, "boolean"])
def test_a_semiring_distributes_and_its_units_change_nothing(ring: Semiring) -> None:
    values = [False, True] if ring is BOOLEAN else [0.0, 0.3, 1.0, 2.5]
    for a in values:
        assert ring.times(a, ring.one) == a
        assert ring.plus(a, ring.zero) == a
        for b in values:
            for c in values:
                left = ring.plus(ring.times(a, b), ring.times(a, c))
                assert left == pytest.approx(ring.times(a, ring.plus(b, c)))


def test_an_observed_variable_is_taken_out_or_clamped() -> None:
    factors = drawn(np.random.default_rng(3), "ab", "bd")
    given = {"b": 2}
    taken = keep(product([condition(f, given) for f in factors]), "ad")
    assert_allclose(taken.table, visited(factors, "adb")[..., 2])
    clamped = keep(product(clamp(factors, given)), "adb").table
    assert_allclose(clamped[..., 2], taken.table)
    assert_array_equal(clamped[..., :2], 0)


def test_a_sum_over_nothing_leaves_the_factor_as_it_is() -> None:
    (factor,) = drawn(np.random.default_rng(4), "ab")
    assert sum_out(factor, []).variables == ("a", "b")
    assert_array_equal(sum_out(factor, []).table, factor.table)
    assert sum_out(factor, "a").variables == ("b",)


def test_tables_are_laid_over_other_variables_by_name() -> None:
    (factor,) = drawn(np.random.default_rng(5), "ab")
    assert_array_equal(factor.over("bca"), factor.table.T[:, None, :])


def test_what_there_is() -> None:
    factors = drawn(np.random.default_rng(6), "da", "ab")
    assert scope(factors) == ("d", "a", "b")
    assert sizes(factors) == {name: STATES[name] for name in "dab"}
    whole = product(factors)
    assert normalised(whole).table.sum() == pytest.approx(1)
    top = best(whole)
    assert whole.table[top["d"], top["a"], top["b"]] == whole.table.max()
    assert best(Factor(("a",), np.array([1.0, 1.0]))) == {"a": 0}
    assert product([]).table == 1.0

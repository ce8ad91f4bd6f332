"""Expectation propagation on tables against the formulas of PRML 10.7.2, written as matrices."""

import numpy as np
from graph_tables import drawn
from numpy.testing import assert_allclose

from bythebook.models.graphs.propagation import factor_graph
from bythebook.models.graphs.refinement import (
    approximation,
    factor_belief,
    message,
    nearest_product,
    random_terms,
    refine,
)

FACTORS = drawn(np.random.default_rng(1), "ab", "bc", "bd")
GRAPH = factor_graph(FACTORS)
TERMS = random_terms(GRAPH, np.random.default_rng(2))


def shared(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum()


def test_a_refined_factor_is_the_two_messages() -> None:
    f = FACTORS[1].table
    new = refine(GRAPH, TERMS, 1)
    assert_allclose(new[1, "b"], shared(f.sum(1)))  # 10.234
    assert_allclose(new[1, "c"], shared((TERMS[0, "b"] * TERMS[2, "b"]) @ f))  # 10.235
    assert_allclose(message(GRAPH, TERMS, 1, "c"), new[1, "c"])
    assert all(new[k, x] is TERMS[k, x] for k, x in TERMS if k != 1)
    only = refine(GRAPH, TERMS, 1, ["c"])
    assert only[1, "b"] is TERMS[1, "b"]
    assert_allclose(only[1, "c"], new[1, "c"])


def test_as_printed_the_old_term_is_in_the_product() -> None:
    old = TERMS[0, "b"] * TERMS[1, "b"] * TERMS[2, "b"]
    right = shared(old @ FACTORS[1].table)
    assert_allclose(message(GRAPH, TERMS, 1, "c", printed=True), right)


def test_beliefs_are_products_of_terms() -> None:
    q = approximation(GRAPH, TERMS)
    assert_allclose(q["b"], shared(TERMS[0, "b"] * TERMS[1, "b"] * TERMS[2, "b"]))
    assert_allclose(approximation(GRAPH, TERMS, 1)["c"], np.full(2, 0.5))
    own = TERMS[0, "b"] * TERMS[2, "b"]
    assert_allclose(factor_belief(GRAPH, TERMS, 1), shared(own[:, None] * FACTORS[1].table))


def test_the_nearest_product_has_the_marginals() -> None:
    joint = shared(np.random.default_rng(3).uniform(0.1, 1, (2, 3)))
    found = nearest_product(joint)
    assert_allclose(found[0], joint.sum(1), atol=1e-5)
    assert_allclose(found[1], joint.sum(0), atol=1e-5)

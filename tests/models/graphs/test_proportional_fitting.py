"""Fits against closed forms, an independent optimiser, and SciPy's Gaussians."""

from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.graphs import proportional_fitting as ipf


def tables(N: int, count: int = 3) -> np.ndarray:
    return ipf.normalised(np.random.default_rng(1).gamma(1.0, size=(count, *[2] * N)), N)


def fitted(target: np.ndarray, graph: str, N: int, sweeps: int) -> np.ndarray:
    *_, potentials = islice(ipf.sweeps(target, ipf.cliques(graph), N), sweeps + 1)
    return ipf.normalised(ipf.product(potentials, target), N)


def test_cliques_are_words_of_letters() -> None:
    assert ipf.cliques("AB BC CA") == [(0, 1), (1, 2), (0, 2)]
    assert ipf.graph_cliques([(0, 1), (1, 2), (0, 2)], 4) == [(0, 1, 2), (3,)]
    assert ipf.graph_cliques([(0, 1), (1, 2)], 3) == [(0, 1), (1, 2)]


def test_a_chain_is_fitted_by_conditionals() -> None:
    p = tables(3)
    ab, bc, b = p.sum(3), p.sum(1), p.sum((1, 3))
    right = ab[..., None] * bc[:, None] / b[:, None, :, None]
    assert_allclose(fitted(p, "AB BC", 3, 1), right, rtol=1e-12)


def test_a_cycle_has_marginals_right_and_no_interaction_beyond_its_links() -> None:
    p = tables(3)
    q = fitted(p, "AB BC CA", 3, 200)
    for axes in (1, 2, 3):
        assert_allclose(q.sum(axes), p.sum(axes), atol=1e-12)
    signs = np.prod(2.0 * np.indices((2, 2, 2)) - 1, axis=0)
    assert np.abs((np.log(q) * signs).sum((1, 2, 3))).max() < 1e-10  # of all three together


@pytest.mark.parametrize(
    ("graph", "separators"),
    [("AB BC CD", [(), (1,), (2,)]), ("ABC BCD", [(), (1, 2)]), ("AB CD BC", [(), (1,), (2,)])],
)
def test_perfect_orders(graph: str, separators: list[tuple[int, ...]]) -> None:
    order = ipf.perfect_order(ipf.cliques(graph))
    assert order is not None
    assert [separator for _, separator in order] == separators


def test_a_cycle_has_no_perfect_order() -> None:
    assert ipf.perfect_order(ipf.cliques("AB BC CD DA")) is None


def test_newton_finds_the_weights_that_made_a_table() -> None:
    features = ipf.interactions(ipf.cliques("AB BC"), 3).reshape(-1, 8)
    assert features.shape == (5, 8)
    theta = np.array([0.3, -0.5, 0.2, 0.8, -1.1])
    assert_allclose(ipf.newton(ipf.log_linear(features, theta), features), theta, atol=1e-9)


def test_passes_are_counted_up_to_the_best() -> None:
    features, target = ipf.pair_features(3), tables(3, 1).ravel()
    assert features.shape == (6, 8)
    best = float(target @ np.log(ipf.log_linear(features, ipf.newton(target, features))))
    scaling = ipf.scaling_passes(target, features, best, 1e-6, 5000)
    assert 1 < ipf.gradient_passes(target, features, best, 1e-6) < scaling < 5000
    assert ipf.scaling_passes(target, features, best, 10.0, 5000) == 1
    assert ipf.scaling_passes(target, features, best + 1, 1e-6, 7) == 7


def test_gaps_are_those_of_the_sums_of_each_clique() -> None:
    p, target = np.random.default_rng(3).dirichlet(np.ones(8), (2, 4)).reshape(2, 4, 2, 2, 2)
    gaps = ipf.margin_gaps(p, target, [(0, 1), (2,)], 3)
    assert_allclose(gaps[:, :4], (p - target).sum(-1).reshape(4, 4), atol=1e-15)
    assert_allclose(gaps[:, 4:], (p - target).sum((1, 2)), atol=1e-15)

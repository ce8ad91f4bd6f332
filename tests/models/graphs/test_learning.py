"""Scores of structures against data taken one by one, and searches on artificial scores."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.graphs.learning import (
    PRIORS,
    climbed,
    family_predictions,
    family_scores,
    masks,
    neighbours,
    of_structures,
    posterior,
    pseudo_counts,
    sampled,
)
from bythebook.models.graphs.structure import Dag, all_dags, dag, stated
from bythebook.models.types import Floats, Ints

DATA = np.random.default_rng(8).integers(0, 2, (12, 3))
GRAPHS = list(all_dags(3))


def counted(data: Ints) -> Floats:
    counts = np.zeros((1, 2, 2, 2))
    for point in data:
        counts[0][tuple(point)] += 1
    return counts


def one_by_one(graph: Dag, data: Ints, prior: str) -> Iterator[float]:
    """P(next point | those before), by the rule of succession in each row."""
    for k, point in enumerate(data):
        chance = 1.0
        for node, parents in enumerate(graph):
            a = pseudo_counts(prior, 2, 2 ** len(parents))
            like = [p for p in data[:k] if all(p[i] == point[i] for i in parents)]
            same = sum(p[node] == point[node] for p in like)
            chance *= (same + a) / (len(like) + 2 * a)
        yield chance


@pytest.mark.parametrize("prior", PRIORS)
def test_evidence_is_the_product_of_predictions(prior: str) -> None:
    found = of_structures(family_scores(counted(DATA), prior), masks(GRAPHS))[0]
    predicted = of_structures(family_predictions(counted(DATA[:-1]), prior), masks(GRAPHS))[0]
    last = np.ravel_multi_index(tuple(DATA[-1]), (2, 2, 2))
    for k in range(0, 25, 4):
        steps = list(one_by_one(GRAPHS[k], DATA, prior))
        assert_allclose(found[k], np.log(steps).sum(), rtol=1e-12)
        assert_allclose(np.exp(predicted[k, last]), steps[-1], rtol=1e-12)
    assert_allclose(np.exp(predicted).sum(1), 1)


def test_classes_share_a_score_only_if_their_priors_agree() -> None:
    chain, fork, collider = (
        dag(3, [(0, 1), (1, 2)]),
        dag(3, [(1, 0), (1, 2)]),
        dag(3, [(0, 1), (2, 1)]),
    )
    assert stated(chain) == stated(fork)
    for prior, same in zip(PRIORS, (False, True), strict=True):
        scores = of_structures(family_scores(counted(DATA), prior), masks([chain, fork, collider]))
        assert bool(abs(scores[0, 0] - scores[0, 1]) < 1e-12) is same
        assert abs(scores[0, 0] - scores[0, 2]) > 1e-3


def test_no_node_is_its_own_parent() -> None:
    assert np.isneginf(family_scores(counted(DATA), "uniform")[0, 1, 0b010])


def test_neighbours_differ_in_one_link() -> None:
    near = neighbours(GRAPHS)
    assert (near == near.T).all()
    empty, full = GRAPHS.index(dag(3, [])), GRAPHS.index(dag(3, [(0, 1), (0, 2), (1, 2)]))
    assert near[empty].sum() == 6  # one arrow, either way, for each of three pairs
    # Of a triangle: three links can go, two can be turned; the long one would close a circle.
    assert near[full].sum() == 5
    assert not near[empty, full]


def test_a_climb_ends_at_the_first_top() -> None:
    line = np.array([[False, True, False], [True, False, True], [False, True, False]])
    assert climbed(np.array([0.0, 1.0, 2.0]), line, 0) == 2
    assert climbed(np.array([1.0, 0.0, 2.0]), line, 0) == 0
    assert climbed(np.array([1.0, 1.0, 1.0]), line, 0) == 0  # an equal score is no increase


def test_chains_visit_structures_as_often_as_they_are_probable() -> None:
    # Four states of 1, 2 or 3 neighbours: without their numbers the chain would be wrong.
    near = np.zeros((4, 4), dtype=bool)
    for i, j in ((0, 1), (1, 2), (1, 3), (2, 3)):
        near[i, j] = near[j, i] = True
    scores = np.log([[0.4, 0.1, 0.3, 0.2]] * 40)
    visits = sampled(scores, near, 0, 1000, np.random.default_rng(1))
    assert (visits.sum(1) == 1000).all()
    assert_allclose(visits.mean(0) / 1000, posterior(scores)[0], atol=0.015)
    assert_allclose(posterior(scores + 700)[0], [0.4, 0.1, 0.3, 0.2])
    assert_allclose(posterior(np.log([[[1.0, 3.0]], [[2.0, 2.0]]])), [[[0.25, 0.75]], [[0.5, 0.5]]])


def test_priors_count_as_one_each_or_as_one_in_all() -> None:
    assert pseudo_counts("uniform", 3, 4) == 1
    assert 3 * 4 * pseudo_counts("one observation", 3, 4) == pytest.approx(1)

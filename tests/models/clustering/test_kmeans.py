"""K-means against naive loops, scikit-learn, all partitions, and the trace of PRML Figure 9.2."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.stats import chisquare
from sklearn.cluster import KMeans

from bythebook.models.clustering import kmeans as module
from bythebook.models.clustering import mixture
from bythebook.models.clustering.kmeans import (
    assign,
    distortion,
    kmeans,
    kmeans_plus_plus,
    one_pass,
    one_pass_compiled,
    random_in_box,
    random_points,
)
from bythebook.models.compiled import threads
from bythebook.models.convergence import NotConverged
from bythebook.models.datasets import load


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture
def blobs(rng):
    return np.concatenate([rng.normal(c, 1.0, size=(30, 3)) for c in (0.0, 2.0, 5.0)])


@pytest.fixture(scope="module")
def faithful():
    X = load("old-faithful").matrix
    return (X - X.mean(0)) / X.std(0)


def lloyd(X, mu, max_iter=300):
    """One restart, point by point and cluster by cluster; the J of every half step."""
    mu, old, J = mu.copy(), None, []
    for _ in range(max_iter):
        labels = [min(range(len(mu)), key=lambda k: ((x - mu[k]) ** 2).sum()) for x in X]
        J.append(sum(((x - mu[k]) ** 2).sum() for x, k in zip(X, labels, strict=True)))
        for k in range(len(mu)):
            members = [x for x, label in zip(X, labels, strict=True) if label == k]
            if members:
                mu[k] = np.mean(members, axis=0)
        J.append(sum(((x - mu[k]) ** 2).sum() for x, k in zip(X, labels, strict=True)))
        if labels == old:
            break
        old = labels
    return mu, labels, J


def test_every_restart_of_a_batch_equals_the_naive_loop(blobs, rng):
    start = random_points(blobs, 4, rng, 6)
    fit = kmeans(blobs, start)
    assert fit.converged.all()
    assert len(set(fit.iterations)) > 1  # they stop one after the other
    for r in range(6):
        mu, labels, J = lloyd(blobs, start[r])
        assert fit.iterations[r] == len(J) // 2
        np.testing.assert_allclose(fit.distortion[r, : len(J)], J, rtol=1e-12)
        assert np.isnan(fit.distortion[r, len(J) :]).all()
        np.testing.assert_allclose(fit.centres[r], mu, rtol=1e-12)
        np.testing.assert_array_equal(fit.labels[r], labels)
        np.testing.assert_allclose(fit.final[r], J[-1], rtol=1e-12)
    assert fit.best == np.argmin(fit.final)


def test_scikit_learn_ends_at_the_same_place(blobs, rng):
    start = random_points(blobs, 3, rng, 3)
    fit = kmeans(blobs, start)
    for r in range(3):
        other = KMeans(3, init=start[r], n_init=1, tol=0, algorithm="lloyd").fit(blobs)
        np.testing.assert_array_equal(fit.labels[r], other.labels_)
        np.testing.assert_allclose(fit.centres[r], other.cluster_centers_, rtol=1e-10)
        np.testing.assert_allclose(fit.final[r], other.inertia_, rtol=1e-10)


def test_the_best_of_many_starts_is_the_best_of_all_partitions(rng):
    X = rng.normal(size=(9, 2))
    smallest = np.inf
    for label in itertools.product((False, True), repeat=9):
        one, other = X[np.array(label)], X[~np.array(label)]
        if len(one) and len(other):
            J = ((one - one.mean(0)) ** 2).sum() + ((other - other.mean(0)) ** 2).sum()
            smallest = min(smallest, J)
    fit = kmeans(X, random_points(X, 2, rng, 200))
    np.testing.assert_allclose(fit.final.min(), smallest, rtol=1e-12)
    assert np.all(fit.final >= smallest * (1 - 1e-12))
    assert fit.final.max() > smallest * 1.01  # and not every start finds it


def test_prml_figure_9_2_on_old_faithful(faithful):
    """Nine panels are four cycles, the last without a change; the start is chosen, not printed."""
    fit = kmeans(faithful, np.array([[[-1.75, 1.75], [1.75, -0.75]]]))
    J = [1404.64, 414.85, 183.75, 79.63, 79.61, 79.58, 79.58, 79.58]
    np.testing.assert_allclose(fit.distortion[0], J, atol=0.005)
    assert fit.iterations[0] == 4
    assert fit.distortion[0, 5] == fit.distortion[0, 6] == fit.distortion[0, 7]
    assert sorted(np.bincount(fit.labels[0])) == [98, 174]


@pytest.mark.parametrize("redrawn", [False, True])
def test_no_half_step_raises_the_distortion(blobs, rng, redrawn):
    low, high = blobs.min(0) - 5, blobs.max(0) + 5  # wide, so that clusters do become empty
    start = random_in_box(low, high, 10, rng, 50)
    redraw = (lambda n: rng.uniform(low, high, size=(n, 3))) if redrawn else None
    fit = kmeans(blobs, start, redraw=redraw)
    assert fit.converged.all()
    counts = (fit.labels[..., None] == np.arange(10)).sum(1)
    assert (counts == 0).any() or redrawn
    for J, iterations in zip(fit.distortion, fit.iterations, strict=True):
        J = J[: 2 * iterations]
        assert np.all(np.diff(J) <= 1e-12 * J[:-1])
        assert J[-1] == J[-2] == J[-3] if iterations > 1 else True


def test_an_empty_cluster_keeps_its_centre():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    fit = kmeans(X, np.array([[[0.0], [12.0], [500.0]]]))
    np.testing.assert_array_equal(fit.centres[0], [[0.5], [10.5], [500.0]])
    np.testing.assert_array_equal(fit.labels[0], [0, 0, 1, 1])


def test_an_empty_cluster_is_redrawn_on_request():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    requested = []

    def redraw(n):
        requested.append(n)
        return np.full((n, 1), 11.2)

    fit = kmeans(X, np.array([[[0.0], [12.0], [500.0]], [[0.0], [10.0], [11.0]]]), redraw=redraw)
    assert requested == [1]  # once, for the one cluster of one restart that was empty
    np.testing.assert_array_equal(fit.centres[0], [[0.5], [10.0], [11.0]])


def test_a_redraw_in_vain_does_not_go_on_for_ever():
    X = np.array([[0.0], [1.0]])
    places = iter([[[98.0]], [[97.0]]])
    fit = kmeans(X, np.array([[[0.5], [99.0]]]), redraw=lambda n: np.array(next(places)))
    assert fit.iterations.tolist() == [2]
    assert fit.converged.all()
    assert fit.centres[0, 1, 0] == 98.0  # not redrawn in the last cycle


def test_equal_centres_leave_all_points_to_the_first(blobs):
    fit = kmeans(blobs, np.zeros((1, 2, 3)), max_iter=1)
    assert not fit.labels.any()
    np.testing.assert_allclose(fit.centres[0, 0], blobs.mean(0), rtol=1e-12)
    assert not fit.centres[0, 1].any()


def test_as_many_clusters_as_points_leave_no_distortion(blobs):
    fit = kmeans(blobs, blobs[None] + 1e-3)
    assert fit.final[0] == 0.0


def test_the_order_of_the_centres_does_not_matter(blobs, rng):
    start = random_points(blobs, 4, rng, 5)
    order = np.array([2, 0, 3, 1])
    one, other = kmeans(blobs, start), kmeans(blobs, start[:, order])
    np.testing.assert_array_equal(one.centres[:, order], other.centres)
    np.testing.assert_array_equal(one.labels, order[other.labels])


def test_blocks_of_rows_change_nothing(blobs, rng, monkeypatch):
    start = random_points(blobs, 3, rng, 4)
    whole = kmeans(blobs, start)
    monkeypatch.setattr(mixture, "_BLOCK", 1)
    assert len(list(mixture.row_blocks(len(blobs), 12))) > 1
    cut = kmeans(blobs, start)
    np.testing.assert_array_equal(whole.labels, cut.labels)
    np.testing.assert_allclose(whole.distortion, cut.distortion, rtol=1e-12)


def test_a_restart_has_the_same_bits_alone_and_in_a_batch(faithful, rng):
    start = random_points(faithful, 3, rng, 150)  # more than fit into one block
    together = kmeans(faithful, start)
    for r in (0, 149):
        alone = kmeans(faithful, start[r : r + 1])
        np.testing.assert_array_equal(alone.centres[0], together.centres[r])
        np.testing.assert_array_equal(alone.final[0], together.final[r])


def test_one_pass_by_hand():
    X = np.array([[0.0], [1.0], [3.0], [4.0]])
    labels = np.array([[7, 7, 7, 7], [0, 0, 0, 2]])  # the first row is another restart's
    done = one_pass(X, np.array([[[0.0], [2.0], [9.0]]]), labels, np.array([1]))
    assert labels.tolist() == [[7, 7, 7, 7], [0, 0, 1, 1]]  # the second is as far from both
    assert done.moved.tolist() == [2]
    assert done.J.tolist() == [0 + 1 + 1 + 4]
    assert done.gain.tolist() == [(9 - 1) + (25 - 4)]
    assert done.counts.tolist() == [[2, 2, 0]]
    assert done.sums[..., 0].tolist() == [[1, 7, 0]]


@pytest.mark.parametrize(("N", "D", "K", "R"), [(1, 1, 1, 1), (128, 2, 3, 4), (700, 5, 9, 2)])
def test_the_compiled_pass_is_the_plain_one(rng, monkeypatch, N, D, K, R):
    monkeypatch.setattr(module, "_ROWS", 300)  # neither tiles nor blocks divide the rows
    X = rng.integers(4, size=(N, D)).astype(float)  # small whole numbers: many ties
    X += 1e-3 * rng.normal(size=D)
    centres = random_in_box(X.min(0) - 1, X.max(0) + 1, K, rng, R)
    centres[:, : K // 2] = X[:1]
    before = rng.integers(K, size=(R + 1, N))
    which = np.arange(R, 0, -1)
    for old in (np.full_like(before, -1), before):
        mine, theirs = old.copy(), old.copy()
        plain, fast = (
            one_pass(X, centres, mine, which),
            one_pass_compiled(X, centres, theirs, which),
        )
        np.testing.assert_array_equal(theirs, mine)
        np.testing.assert_array_equal(mine[0], old[0])
        np.testing.assert_array_equal(fast.counts, plain.counts)
        np.testing.assert_array_equal(fast.moved, plain.moved)
        np.testing.assert_array_equal(plain.moved, (mine != old).sum(axis=1)[which])
        np.testing.assert_allclose(fast.sums, plain.sums, rtol=1e-12)
        np.testing.assert_allclose(fast.J, plain.J, rtol=1e-12)
        np.testing.assert_allclose(fast.gain, plain.gain, rtol=1e-12)
    J_before = distortion(X, centres, before[which])
    np.testing.assert_allclose(plain.J + plain.gain, J_before, rtol=1e-12)


def test_large_data_take_the_compiled_pass_to_the_same_end(blobs, rng, monkeypatch):
    start = random_points(blobs, 4, rng, 6)
    plain = kmeans(blobs, start)
    monkeypatch.setattr(module, "_LARGE", 6 * 4 * len(blobs))
    monkeypatch.setattr(module, "one_pass", None)
    monkeypatch.setattr(module, "_ROWS", 20)
    with threads(1):
        one = kmeans(blobs, start)
    with threads(4):
        four = kmeans(blobs, start)
    np.testing.assert_array_equal(one.distortion, four.distortion)  # to the bit
    np.testing.assert_array_equal(one.centres, four.centres)
    np.testing.assert_array_equal(one.labels, plain.labels)
    np.testing.assert_allclose(one.distortion, plain.distortion, rtol=1e-12)
    np.testing.assert_allclose(one.centres, plain.centres, rtol=1e-12)


def test_snapshots_are_the_centres_after_each_cycle(blobs, rng):
    start = random_points(blobs, 4, rng, 3)
    fit = kmeans(blobs, start, snapshots=(0, 1, 2, 99))
    np.testing.assert_array_equal(fit.snapshots[0], start)
    for cycles in (1, 2):
        shorter = kmeans(blobs, start, max_iter=cycles)
        np.testing.assert_array_equal(fit.snapshots[cycles], shorter.centres)
    np.testing.assert_array_equal(fit.snapshots[99], fit.centres)


def test_the_limit_of_cycles_is_kept(blobs, rng):
    fit = kmeans(blobs, random_points(blobs, 4, rng, 3), max_iter=1)
    assert fit.iterations.tolist() == [1, 1, 1]
    assert not fit.converged.any()
    assert fit.distortion.shape == (3, 2)
    np.testing.assert_allclose(fit.final, distortion(blobs, fit.centres, fit.labels), rtol=1e-12)
    with pytest.raises(ValueError, match="at least one"):
        kmeans(blobs, blobs[None, :2], max_iter=0)


def test_a_restart_that_ends_before_the_limit_has_nothing_after_its_end(blobs, rng):
    slow = random_points(blobs, 4, rng, 20)
    limit = int(kmeans(blobs, slow).iterations.max()) - 1
    settled = kmeans(blobs, slow).centres
    fit = kmeans(blobs, np.concatenate([settled[:1], slow]), max_iter=limit)
    assert limit > 2
    assert fit.converged[0]
    assert not fit.converged.all()
    assert fit.distortion.shape[1] == 2 * limit
    assert np.isnan(fit.distortion[0, 2 * fit.iterations[0] :]).all()


def test_assign_and_distortion_by_hand():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    centres = np.array([[[0.0, 1.0], [3.0, 3.0]], [[3.0, 4.0], [0.0, 0.0]]])
    labels = assign(X, centres)
    np.testing.assert_array_equal(labels, [[0, 1], [1, 0]])
    np.testing.assert_array_equal(distortion(X, centres, labels), [2.0, 0.0])


@pytest.mark.parametrize("centres", [[3.0], [3.0, 99.0], [99.0, 3.0]])
def test_a_first_cycle_that_leaves_all_points_to_one_centre_is_a_cycle(centres):
    """However few labels there are to change: the mean is two, and only the second finds it so."""
    X, start = np.array([[0.0], [1.0], [5.0]]), np.reshape(centres, (1, -1, 1))
    taker = centres.index(3.0)
    fit = kmeans(X, start)
    assert fit.distortion.tolist() == [[9 + 4 + 4, 4 + 1 + 9, 14, 14]]
    assert fit.iterations.tolist() == [2]
    assert fit.converged.tolist() == [True]
    assert fit.centres[0, taker] == 2.0
    assert fit.labels.tolist() == assign(X, start).tolist() == [[taker] * 3]
    first = kmeans(X, start, max_iter=1)
    assert first.distortion.tolist() == [[17, 14]]
    assert first.converged.tolist() == [False]


def test_random_points_are_different_points_of_the_data(rng):
    X = np.arange(7.0)[:, None]
    start = random_points(X, 7, rng, 20)
    np.testing.assert_array_equal(np.sort(start[..., 0], axis=1), np.tile(np.arange(7.0), (20, 1)))
    assert len(np.unique(start[..., 0], axis=0)) > 1


def test_random_in_box_fills_the_box(rng):
    low, high = np.array([-5.0, 2.0]), np.array([5.0, 3.0])
    start = random_in_box(low, high, 3, rng, 1000)
    assert start.shape == (1000, 3, 2)
    assert np.all((start >= low) & (start <= high))
    np.testing.assert_allclose(start.mean((0, 1)), [0.0, 2.5], atol=0.3)


def test_kmeans_plus_plus_draws_with_the_squared_distance(rng):
    x = np.array([0.0, 1.0, 3.0, 7.0])
    index = {value: n for n, value in enumerate(x)}
    draws = 20000
    start = kmeans_plus_plus(x[:, None], 3, rng, draws)[..., 0]
    counts = np.zeros((4, 4, 4))
    for triple in start:
        counts[tuple(index[value] for value in triple)] += 1
    expected = np.zeros((4, 4, 4))
    for i, j, k in itertools.permutations(range(4), 3):
        first = (x - x[i]) ** 2
        second = np.minimum(first, (x - x[j]) ** 2)
        expected[i, j, k] = first[j] / first.sum() * second[k] / second.sum() / 4
    np.testing.assert_allclose(expected.sum(), 1.0, rtol=1e-12)
    assert not counts[expected == 0].any()
    possible = expected > 0
    assert chisquare(counts[possible], draws * expected[possible]).pvalue > 1e-4


def test_kmeans_plus_plus_survives_more_centres_than_different_points(rng):
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    start = kmeans_plus_plus(X, 4, rng, 3)
    assert np.all(np.isin(start, [0.0, 1.0]))


def test_starts_that_have_not_converged_are_reported(blobs):
    start = blobs[None, [0, 1, 2]]
    with pytest.warns(NotConverged, match="K-means stopped at the limit of 1 iterations in 1 fit"):
        assert not kmeans(blobs, start, max_iter=1).converged.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kmeans(blobs, start).converged.all()

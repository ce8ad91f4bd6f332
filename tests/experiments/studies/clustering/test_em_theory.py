"""EM's bound and passes against plain loops, its limit against K-means, and log likelihoods."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.cluster import KMeans

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.studies.clustering.em_theory import EmTheory
from bythebook.models.em_examples import EXAMPLES

START = [[-1.5, 1.0], [1.5, -1.0]]
LINE = {"data": None, "standardise": False, "centres": [[-1.0], [1.5]]}


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": None, "centres": [[0.0]], "n_each": 3, "k": 4}, "there are 3 points"),
        ({"start": [[0.0], [1.0]]}, "needs 2 numbers"),
        ({"start": [[0.0, 0.0]]}, "study.start has 1 entries"),
        ({"weights": [[0.5, 0.6]]}, "sum to one"),
        ({"weights": [[1.0, 0.0]]}, "numbers > 0"),
        ({"epsilons": [0.0]}, "study.epsilons"),
        ({"models": ["oracle"]}, "study.models"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, complaint):
    with pytest.raises(InputError, match=complaint):
        EmTheory(**knobs)


def moments(X, gamma):
    N = gamma.sum(0)
    mu = gamma.T @ X / N[:, None]
    Sigma = np.stack(
        [(g[:, None] * (X - m)).T @ (X - m) / g.sum() for g, m in zip(gamma.T, mu, strict=True)]
    )
    return N / len(X), mu, Sigma


def densities(X, pi, mu, Sigma):
    return np.column_stack(
        [p * multivariate_normal(m, S).pdf(X) for p, m, S in zip(pi, mu, Sigma, strict=True)]
    )


def test_bound_and_divergence_of_one_iteration(run):
    study = EmTheory(**LINE, n_each=4, start=[[-1.0], [1.0]], iterations=1)
    outcome = run(study)
    X = study.points(make_rng(0))
    p = densities(X, [0.5, 0.5], np.array(study.start), np.ones((2, 1, 1)))
    q = p / p.sum(1, keepdims=True)
    new = densities(X, *moments(X, q))
    posterior = new / new.sum(1, keepdims=True)
    pairs = [(n, k) for n in range(len(X)) for k in range(2)]
    expected = {
        "log_likelihood": [np.log(p.sum(1)).sum(), np.log(new.sum(1)).sum()],
        "bound": [np.log(p.sum(1)).sum(), sum(q[i] * np.log(new[i] / q[i]) for i in pairs)],
        "divergence": [0, sum(q[i] * np.log(q[i] / posterior[i]) for i in pairs)],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(outcome[name].values, [values], rtol=1e-9, atol=1e-12)


def test_the_bound_along_em(run):
    outcome = run(EmTheory(**LINE, iterations=30))
    L, bound, divergence = (outcome[n].values for n in ("log_likelihood", "bound", "divergence"))
    np.testing.assert_array_equal(L[1:, 0], L[:-1, 1])  # an E step leaves it
    np.testing.assert_allclose(bound[:, 0], L[:, 0], rtol=1e-12)
    np.testing.assert_allclose(bound + divergence, L, rtol=1e-10)
    assert (bound[:, 1] > bound[:, 0]).all()
    assert (divergence[:, 1] > 0).all()


def test_passes_against_plain_loops(run):
    study = EmTheory(
        orders=2,
        iterations=25,
        data=None,
        standardise=False,
        n_each=15,
        spread=0.8,
        centres=[[-2.0, 0.0], [2.0, 0.0]],
        start=[[-1.0, 1.0], [1.0, -1.0]],
        close=1e-2,
    )
    outcome = run(study)
    X = study.points(make_rng(0))
    level = outcome["maximum"].item - study.close
    start = np.array([0.5, 0.5]), np.array(study.start), np.stack([np.eye(2)] * 2)

    theta, batch = start, [np.log(densities(X, *start).sum(1)).sum()]
    point, one_by_one = start, [batch[0]]
    p = densities(X, *start)
    gamma = p / p.sum(1, keepdims=True)
    for _ in range(study.iterations):
        p = densities(X, *theta)
        theta = moments(X, p / p.sum(1, keepdims=True))
        batch.append(np.log(densities(X, *theta).sum(1)).sum())
        for n in range(len(X)):  # the order of the file, everything from scratch
            p = densities(X[n : n + 1], *point)
            gamma[n] = p / p.sum()
            point = moments(X, gamma)
        one_by_one.append(np.log(densities(X, *point).sum(1)).sum())
    assert outcome["batch_passes"].item == int(np.argmax(np.array(batch) >= level))
    expected = int(np.argmax(np.array(one_by_one) >= level))
    assert outcome["incremental_passes"].values[0] == expected
    found = outcome["incremental_log_likelihood"].values[0]
    np.testing.assert_allclose(found, one_by_one[: len(found)], rtol=1e-8)
    assert outcome["smallest_gain"].item >= -1e-9


def test_failure_to_come_close_is_counted_as_more_than_all_passes(run):
    outcome = run(EmTheory(start=[[-1.5, 1.0], [1.5, -1.0]], orders=1, iterations=2))
    assert outcome["batch_passes"].item == 3
    last = outcome["incremental_log_likelihood"].values[:, -1]
    assert (last < outcome["maximum"].item - 1e-3).all()


def test_differences_against_a_plain_loop(run):
    study = EmTheory(start=START, epsilons=[0.5, 0.05], weights=[[0.7, 0.3]], fixed_weights=True)
    outcome = run(study)
    X = study.points(np.random.default_rng(0))
    centres = KMeans(2, init=np.array(START), n_init=1, tol=0).fit(X).cluster_centers_
    r = (((X[:, None] - centres) ** 2).sum(2).argmin(1)[:, None] == np.arange(2)).astype(float)
    for epsilon in study.epsilons:
        mu = np.array(START)
        for _ in range(200):
            weight = np.array([0.7, 0.3]) * np.exp(-((X[:, None] - mu) ** 2).sum(2) / (2 * epsilon))
            gamma = weight / weight.sum(1, keepdims=True)
            mu = gamma.T @ X / gamma.sum(0)[:, None]
        expected = {
            "difference": np.abs(mu - centres).max(),
            "responsibilities_off_labels": np.abs(gamma - r).max(),
            "weights_off_fractions": np.abs([0.7, 0.3] - r.mean(0)).max(),  # they are held
        }
        for name, value in expected.items():
            found = outcome[name].sel(epsilon=epsilon, weighting=0).item
            assert found == pytest.approx(value, rel=1e-4), name


def test_the_limit(run):
    study = EmTheory(start=START, epsilons=[0.1, 1e-5], weights=[[0.5, 0.5], [0.99, 0.01]])
    outcome = run(study)
    for name in ("difference", "responsibilities_off_labels", "weights_off_fractions"):
        assert outcome[name].sel(epsilon=1e-5).values.max() < 1e-9, name
        assert outcome[name].sel(epsilon=0.1).values.max() > 1e-4, name
    assert outcome["path_difference"].values.max() < 1e-9
    J = outcome["distortion"].values
    X = study.points(np.random.default_rng(0))
    assert J[-1] == pytest.approx(KMeans(2, init=np.array(START), n_init=1, tol=0).fit(X).inertia_)
    assert (np.diff(J) <= 1e-9).all()


def test_no_model_ever_falls(run):
    L = run(EmTheory(models=list(EXAMPLES), restarts=3, iterations=15))["climb"]
    assert L.values.shape == (len(EXAMPLES), 3, 16)
    for name in EXAMPLES:
        climbs = L.sel(model=name).values
        assert np.diff(climbs).min() >= -1e-9 * np.abs(climbs).max()
        assert (climbs[:, -1] > climbs[:, 0]).all()


def test_a_model_does_not_depend_on_its_company(run):
    alone = run(EmTheory(models=["ppca"], restarts=2, iterations=5))
    both = run(EmTheory(models=["mixture", "ppca"], restarts=2, iterations=5))
    curves = [outcome["climb"].sel(model="ppca") for outcome in (alone, both)]
    np.testing.assert_array_equal(*curves)


def test_a_fall_is_seen_and_an_end_is_held(run, monkeypatch):
    falling = np.array([[-5.0, -4.0, -4.1], [-5.0, -4.0, np.nan]])
    monkeypatch.setitem(EXAMPLES, "ppca", lambda *_: falling)
    outcome = run(EmTheory(models=["ppca"], restarts=2))
    np.testing.assert_array_equal(outcome["climb"].values[0], [[-5, -4, -4.1], [-5, -4, -4]])

"""Regression posteriors: against scipy.stats, differences, scikit-learn and conjugacy."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats
from sklearn.linear_model import LogisticRegression

from bythebook.models.classification.logistic import (
    RESPONSES,
    Posterior,
    gradient,
    hessian,
    log_g,
    newton_raphson,
    predict,
    quadrature,
)
from bythebook.models.datasets import DataError, load, originals_in
from bythebook.models.regression import bayesian_regression

BYTHEBOOK_DATA = os.environ.get("BYTHEBOOK_DATA")


def example(response: str, n: int = 25) -> Posterior:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((n, 2))
    a = X @ [0.7, -0.4]
    t = {
        "binary": (rng.random(n) < 1 / (1 + np.exp(-a))).astype(float),
        "counts": rng.poisson(np.exp(a)).astype(float),
        "real": a + rng.standard_normal(n),
    }
    return Posterior(X, t[response], 3.0, response)


def chapter_4(directory: str | None = None) -> Posterior:
    with originals_in(directory):
        matrix = load("fcml-logistic").matrix
    return Posterior(matrix[:, :-1], matrix[:, -1], 10.0)


@pytest.mark.parametrize("response", RESPONSES)
def test_log_g_is_likelihood_times_prior(response: str) -> None:
    posterior = example(response)
    w = np.array([[0.3, 1.2], [-2.0, 0.1]])
    for point, found in zip(w, log_g(posterior, w), strict=True):
        a = posterior.X @ point
        likelihood = {
            "binary": lambda a=a: stats.bernoulli(1 / (1 + np.exp(-a))).logpmf(posterior.t),
            "counts": lambda a=a: stats.poisson(np.exp(a)).logpmf(posterior.t),
            "real": lambda a=a: stats.norm(a, 1).logpdf(posterior.t),
        }[response]().sum()
        prior = stats.norm(0, np.sqrt(3.0)).logpdf(point).sum()
        assert_allclose(found, likelihood + prior, rtol=1e-12)


@pytest.mark.parametrize("response", RESPONSES)
def test_derivatives_are_those_of_log_g(response: str) -> None:
    posterior = example(response)
    w, h = np.array([0.4, -0.9]), 1e-5
    for i, step in enumerate(h * np.eye(2)):
        slope = (log_g(posterior, w + step) - log_g(posterior, w - step)) / (2 * h)
        assert_allclose(gradient(posterior, w)[i], slope, rtol=1e-7)
        turn = (gradient(posterior, w + step) - gradient(posterior, w - step)) / (2 * h)
        assert_allclose(hessian(posterior, w)[i], turn, rtol=1e-7)


def test_the_maximum_is_that_of_scikit_learn() -> None:
    posterior = chapter_4()
    climb = newton_raphson(posterior, np.zeros((1, 2)), tol=1e-16)
    ridge = LogisticRegression(C=10.0, fit_intercept=False, tol=1e-10)
    expected = ridge.fit(posterior.X, posterior.t).coef_[0]
    assert climb.converged.all()
    assert_allclose(climb.path[-1, 0], expected, rtol=1e-5)


def test_starts_in_a_batch_go_their_own_ways() -> None:
    posterior = example("counts")
    starts = np.array([[0.0, 0.0], [1.5, -1.0], [-0.5, 0.2]])
    together = newton_raphson(posterior, starts, tol=1e-3)  # loose: a done start must stay put
    for k, start in enumerate(starts):
        alone = newton_raphson(posterior, start[None], tol=1e-3)
        steps = int(alone.steps[0])
        assert together.steps[k] == steps == len(alone.path) - 1
        assert_allclose(together.path[: steps + 1, k], alone.path[:, 0], rtol=1e-9)
        assert_allclose(together.path[-1, k], alone.path[-1, 0], rtol=1e-9)


def test_a_linear_regression_takes_one_step() -> None:
    """The parabola is its own approximation: the second update changes nothing."""
    posterior = example("real")
    climb = newton_raphson(posterior, np.array([[30.0, -20.0]]), tol=1e-12)
    zero, prior = np.zeros(2), 3.0 * np.eye(2)
    exact = bayesian_regression.posterior(posterior.X, posterior.t, 1.0, zero, prior)
    assert climb.steps.tolist() == [2]
    assert_allclose(climb.path[1, 0], exact.mean, rtol=1e-10)


def test_too_few_steps_are_not_convergence() -> None:
    climb = newton_raphson(chapter_4(), np.zeros((1, 2)), max_steps=3)
    assert not climb.converged.any()
    assert climb.path.shape == (4, 1, 2)


def test_quadrature_gives_the_conjugate_posterior_and_evidence() -> None:
    posterior = example("real")
    zero, prior = np.zeros(2), 3.0 * np.eye(2)
    exact = bayesian_regression.posterior(posterior.X, posterior.t, 1.0, zero, prior)
    found = quadrature(posterior, exact.mean, 10 * np.sqrt(np.diag(exact.covariance)))
    assert_allclose(found.probability @ found.w, exact.mean, rtol=1e-10)
    covariance = np.eye(25) + 3.0 * posterior.X @ posterior.X.T
    expected = stats.multivariate_normal(np.zeros(25), covariance).logpdf(posterior.t)
    assert_allclose(found.log_evidence, expected, rtol=1e-10)


def test_quadrature_predicts_as_adaptive_integration_does() -> None:
    posterior, x = example("binary"), np.array([1.5, -2.0])
    grid = quadrature(posterior, np.zeros(2), np.array([7.0, 7.0]), 121)

    def g(w2: float, w1: float) -> float:
        return float(np.exp(log_g(posterior, np.array([w1, w2])) + 10.0))

    def times_sigmoid(w2: float, w1: float) -> float:
        return g(w2, w1) / (1 + np.exp(-(w1 * x[0] + w2 * x[1])))

    above, below = (integrate.dblquad(f, -7, 7, -7, 7, epsabs=1e-9)[0] for f in (times_sigmoid, g))
    assert_allclose(grid.predict(x[None]), [above / below], rtol=1e-6)


def test_predictions_are_averages_of_the_sigmoid() -> None:
    w, X = np.array([[1.0, 2.0], [-0.5, 0.3]]), np.array([[0.2, -1.0], [3.0, 1.0], [0.0, 0.0]])
    expected = [np.mean([1 / (1 + np.exp(-(v @ x))) for v in w]) for x in X]
    assert_allclose(predict(w, X), expected, rtol=1e-12)


def test_nine_iterations_with_the_stand_in_too() -> None:
    # FCML 4.3, from (0, 0) with sigma^2 = 10
    assert newton_raphson(chapter_4(), np.zeros((1, 2))).steps.tolist() == [9]


@pytest.mark.skipif(
    not BYTHEBOOK_DATA, reason="the authors' original files are not here (BYTHEBOOK_DATA)"
)
def test_the_original_files_of_chapter_4(tmp_path: Path) -> None:
    assert BYTHEBOOK_DATA is not None
    posterior = chapter_4(BYTHEBOOK_DATA)
    climb = newton_raphson(posterior, np.zeros((1, 2)))
    assert climb.steps.tolist() == [9]  # FCML 4.3
    assert_allclose(climb.path[-1, 0], [1.63986, 1.99984], atol=1e-5)  # computed apart
    assert posterior.t.tolist() == [0.0] * 20 + [1.0] * 20
    with originals_in(BYTHEBOOK_DATA):
        data = load("fcml-logistic")
    assert (data.grade, list(data.columns)) == ("original", ["x1", "x2", "t"])
    folder = tmp_path / "fcml" / "logregdata"
    shutil.copytree(Path(BYTHEBOOK_DATA) / "fcml" / "logregdata", folder)
    (folder / "t.csv").write_text("1\n" * 40)
    with originals_in(tmp_path), pytest.raises(DataError, match="damaged or not the right one"):
        load("fcml-logistic")


def test_the_stand_in_has_the_shape_of_the_files() -> None:
    data = load("fcml-logistic")
    assert data.grade == "stand-in"
    assert list(data.columns) == ["x1", "x2", "t"]
    assert data.matrix.shape == (40, 3)
    assert data.columns["t"].tolist() == [0.0] * 20 + [1.0] * 20


def test_without_a_limit_of_ones_own_it_is_a_hundred_steps() -> None:
    climb = newton_raphson(chapter_4(), np.zeros((1, 2)), tol=0.0)
    assert (climb.steps.tolist(), climb.converged.tolist(), len(climb.path)) == (
        [100],
        [False],
        101,
    )

"""Variational mixtures and evidence maximisation against scikit-learn, to the same factors.

Both take the same number of steps from the same initial values, on one thread, which is the fastest
setting of the peer for such small matrices. The peer does not check its input.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.case import Case, Contest
from benchmarks.mixtures import alone, clouds, faithful, quiet
from bythebook.models.approximation import variational_mixture
from bythebook.models.approximation.variational_mixture import Prior
from bythebook.models.regression import evidence
from bythebook.models.regression.evidence import Precisions
from bythebook.models.types import Floats

STEPS, LARGE_STEPS = 25, 10  # of the mixtures
RE_ESTIMATES = 30
ROUNDING = "Precisions that grow without end carry the rounding of 30 steps along."


def _labels(rows: int, K: int, restarts: int) -> Floats:
    """Responsibilities of one component for each row, (restarts, rows, K)."""
    drawn = np.random.default_rng(1).integers(K, size=(restarts, rows))
    return np.asarray(drawn[..., None] == np.arange(K), dtype=np.float64)


def _variational_of_scikit_learn(
    X: Floats, starts: Floats, prior: Prior, steps: int
) -> dict[str, Any]:
    from sklearn.mixture import BayesianGaussianMixture

    class FromResponsibilities(BayesianGaussianMixture):
        """Set the initial values; the peer has no argument for them."""

        def _initialize_parameters(self, X: Floats, random_state: Any, xp: Any = None) -> None:
            self._initialize(X, self.start)

    fits = []
    with quiet():
        for start in starts:
            model = FromResponsibilities(
                n_components=start.shape[1],
                tol=0,
                reg_covar=0,
                max_iter=steps,
                weight_concentration_prior_type="dirichlet_distribution",
                weight_concentration_prior=prior.alpha0,
                mean_precision_prior=prior.beta0,
                mean_prior=prior.m0,
                degrees_of_freedom_prior=prior.nu0,
                covariance_prior=prior.W0_inv,
            )
            model.start = start
            fits.append(model.fit(X))
    return {
        "alpha": [fit.weight_concentration_ for fit in fits],
        "m": [fit.means_ for fit in fits],
        "covariance": [fit.covariances_ for fit in fits],
        "nu": [fit.degrees_of_freedom_ for fit in fits],
    }


def _variational(X: Floats, starts: Floats, prior: Prior, steps: int) -> dict[str, Any]:
    theta = variational_mixture.fit(X, starts, prior, tol=-np.inf, max_iter=steps).theta
    return {
        "alpha": theta.alpha,
        "m": theta.m,
        "covariance": variational_mixture.expected_covariance(theta),
        "nu": theta.nu,
    }


def _mixtures(X: Floats, K: int, restarts: int, steps: int) -> Contest:
    D = X.shape[1]
    prior = Prior(1.0, 1.0, np.zeros(D), np.eye(D), float(D))
    given = X, _labels(len(X), K, restarts), prior, steps
    return alone(partial(_variational, *given), partial(_variational_of_scikit_learn, *given))


def restarts(count: int) -> Contest:
    return _mixtures(faithful(), 2, count, STEPS)


def rows(count: int) -> Contest:
    return _mixtures(clouds(count), 10, 1, LARGE_STEPS)


def _sets(count: int) -> tuple[Floats, Floats]:
    """Data sets of 25 points of a sine, nine Gaussian functions and a constant."""
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 1, (count, 25))
    bumps = np.exp(-((x[..., None] - np.linspace(0, 1, 9)) ** 2) / (2 * 0.1**2))
    Phi = np.concatenate([np.ones((count, 25, 1)), bumps], axis=-1)
    return Phi, np.sin(2 * np.pi * x) + 0.3 * rng.standard_normal(x.shape)


def _regressions(
    count: int, *, shared: bool, make: Callable[[], Any], tolerance: float = 1e-8, why: str = ""
) -> Contest:
    Phi, t = _sets(count)
    _, _, M = Phi.shape
    start = Precisions(np.ones((count, M)), 1 / t.var(-1), np.ones((count, M), dtype=bool))

    def ours() -> dict[str, Any]:
        limits: dict[str, Any] = {"tol": -np.inf, "max_iter": RE_ESTIMATES}
        fit = evidence.maximise(Phi, t, start, "direct", shared=shared, known_noise=False, **limits)
        m = evidence.posterior(Phi, t, fit.at).m
        return {"weights": m, "beta": fit.at.beta}

    def peer() -> dict[str, Any]:
        with quiet():
            fits = [make().fit(*one) for one in zip(Phi, t, strict=True)]
        return {"weights": [fit.coef_ for fit in fits], "beta": [fit.alpha_ for fit in fits]}

    return replace(alone(ours, peer), tolerance=tolerance, why=why)


def _flat() -> dict[str, Any]:
    """Without hyperpriors and without early stopping."""
    none = dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), 0.0)
    return {**none, "fit_intercept": False, "tol": 0.0, "max_iter": RE_ESTIMATES}


def shared(count: int) -> Contest:
    from sklearn.linear_model import BayesianRidge

    return _regressions(count, shared=True, make=lambda: BayesianRidge(**_flat()))


def each(count: int) -> Contest:
    from sklearn.linear_model import ARDRegression

    def make() -> Any:
        return ARDRegression(threshold_lambda=evidence.REMOVED, **_flat())

    return _regressions(count, shared=False, make=make, tolerance=1e-6, why=ROUNDING)


CASES: list[Case] = [
    Case(
        "variational Gaussian mixture, many starts",
        "scikit-learn BayesianGaussianMixture in a loop",
        goal=20,
        make=restarts,
        size=200,
        unit=f"starts of {STEPS} steps on 272 x 2, K = 2",
        package="sklearn",
        sizes=(100, 200, 400, 800),
    ),
    Case(
        "variational Gaussian mixture, many rows",
        "scikit-learn BayesianGaussianMixture",
        goal=2,
        make=rows,
        size=1_000_000,
        unit=f"rows x 8, K = 10, {LARGE_STEPS} steps",
        package="sklearn",
        sizes=(12_500, 25_000, 50_000, 100_000),
        rounds=3,
        peer_size=100_000,
    ),
    Case(
        "evidence maximisation, many data sets",
        "scikit-learn BayesianRidge in a loop",
        goal=100,
        make=shared,
        size=1000,
        unit=f"data sets of 25 points, 10 weights, {RE_ESTIMATES} steps",
        package="sklearn",
        sizes=(500, 1000, 2000, 4000),
    ),
    Case(
        "automatic relevance determination, many data sets",
        "scikit-learn ARDRegression in a loop",
        goal=100,
        make=each,
        size=1000,
        unit=f"data sets of 25 points, 10 weights, {RE_ESTIMATES} steps",
        package="sklearn",
        sizes=(500, 1000, 2000, 4000),
        peer_size=200,
    ),
]

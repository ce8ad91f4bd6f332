"""Regression: leave-one-out over orders and penalties, bias and variance over data sets.

The design matrices of the peers are built before the timing, those of our polynomials within it.
Each answer is the mean squared leave-one-out error of every order or penalty, or the two parts of
the loss at every penalty.
"""

from collections.abc import Callable

import numpy as np
from numpy.polynomial.legendre import legvander

from benchmarks.case import Answer, Case, Contest
from benchmarks.timing import Floor
from bythebook.models.compiled import compiled
from bythebook.models.datasets import load
from bythebook.models.regression.bias_variance import decompose, gaussian_basis, ridge_predictions
from bythebook.models.regression.polynomials import loo_by_order
from bythebook.models.regression.ridge import loo_by_penalty
from bythebook.models.types import Floats

TOP = 10  # the largest polynomial order


def _points(n: int) -> tuple[Floats, Floats]:
    """The winning times of FCML chapter 1, or another number of points in the same years."""
    if n == 27:
        return load("olympics-100m-men").xt
    rng = np.random.default_rng(0)
    x = rng.uniform(1896, 2008, n)
    return x, np.sin(x / 9) + rng.normal(size=n)


def _legendre(x: Floats) -> list[Floats]:
    """The design matrix of every order, in Legendre polynomials on the range of x."""
    V = legvander((2 * x - x.min() - x.max()) / np.ptp(x), TOP)
    return [V[:, : order + 1] for order in range(TOP + 1)]


@compiled
def _nothing(x: Floats, t: Floats, loss: Floats) -> None:
    """The time of a call."""


def _by_order(n: int, error: Callable[[Floats, Floats], float]) -> Contest:
    x, t = _points(n)
    designs, rows = _legendre(x), (x[np.newaxis], t[np.newaxis], np.empty((1, TOP + 1)))
    call = Floor("a compiled call with the same arrays that does nothing", lambda: _nothing(*rows))
    return Contest(
        floor=call if n == 27 else None,
        ours=lambda: {"loo": loo_by_order(x, t, TOP)},
        peer=lambda: {"loo": [error(Phi, t) for Phi in designs]},
    )


def by_refitting(n: int) -> Contest:
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import LeaveOneOut, cross_val_score

    model, scoring = LinearRegression(fit_intercept=False), "neg_mean_squared_error"

    def error(Phi: Floats, t: Floats) -> float:
        return float(-cross_val_score(model, Phi, t, cv=LeaveOneOut(), scoring=scoring).mean())

    return _by_order(n, error)


def _press(Phi: Floats, t: Floats) -> float:
    from statsmodels.regression.linear_model import OLS

    return float(np.mean(OLS(t, Phi).fit().get_influence().resid_press ** 2))


def by_influence(n: int) -> Contest:
    return _by_order(n, _press)


def many_by_influence(n_sets: int) -> Contest:
    x, _ = _points(27)
    t = np.random.default_rng(1).normal(size=(n_sets, 27))
    designs = _legendre(x)
    return Contest(
        ours=lambda: {"loo": loo_by_order(x, t, TOP)},
        peer=lambda: {"loo": [[_press(Phi, row) for Phi in designs] for row in t]},
    )


def by_ridge_cv(n: int) -> Contest:
    from sklearn.linear_model import RidgeCV

    # A zero penalty is not allowed; the smallest squared singular value is near n / (2 TOP + 1).
    model = RidgeCV(alphas=[1e-12 * n], fit_intercept=False, store_cv_results=True)
    return _by_order(n, lambda Phi, t: float(model.fit(Phi, t).cv_results_.mean()))


def _along_the_path(Phi: Floats, t: Floats, n_penalties: int) -> Contest:
    from sklearn.linear_model import RidgeCV

    penalties = np.geomspace(1e-6, 1e3, n_penalties)
    model, slopes = RidgeCV(alphas=penalties, store_cv_results=True), Phi[:, 1:]
    return Contest(
        ours=lambda: {"loo": loo_by_penalty(Phi, t, penalties, penalise_bias=False)},
        peer=lambda: {"loo": model.fit(slopes, t).cv_results_.mean(0)},
    )


def small_path(n_penalties: int) -> Contest:
    x, t = _points(27)
    return _along_the_path(_legendre(x)[8], t, n_penalties)


def large_path(n_penalties: int) -> Contest:
    rng = np.random.default_rng(2)
    Phi = np.column_stack([np.ones(1000), rng.normal(size=(1000, 20))])
    t = Phi @ rng.normal(size=21) + rng.normal(size=1000)
    return _along_the_path(Phi, t, n_penalties)


def _fits(n_sets: int, peer: Callable[[Floats, Floats, Floats, float], Floats]) -> Contest:
    """PRML Figure 3.5: 25 points of a sinusoid, 24 Gaussians and a constant."""
    x, grid = np.linspace(0, 1, 25), np.linspace(0, 1, 101)
    Phi, Phi_grid = gaussian_basis(x, 24, 0.1), gaussian_basis(grid, 24, 0.1)
    rng, sd = np.random.default_rng(3), 0.3
    t = np.sin(2 * np.pi * x) + rng.normal(0, sd, (n_sets, len(x)))
    h, lambdas = np.sin(2 * np.pi * grid), np.exp(np.linspace(-3, 3, 50))

    def parts(y: Floats) -> Answer:
        found = decompose(y, h, sd**2)
        return {"bias2": found.bias2, "variance": found.variance}

    return Contest(
        ours=lambda: parts(ridge_predictions(Phi, t, Phi_grid, lambdas)),
        peer=lambda: parts(np.array([peer(Phi, t, Phi_grid, lam) for lam in lambdas])),
    )


def fit_by_fit(n_sets: int) -> Contest:
    from sklearn.linear_model import Ridge

    def peer(Phi: Floats, t: Floats, Phi_grid: Floats, lam: float) -> Floats:
        model = Ridge(alpha=lam, fit_intercept=False)
        return np.array([model.fit(Phi, row).predict(Phi_grid) for row in t])

    return _fits(n_sets, peer)


def all_at_once(n_sets: int) -> Contest:
    from sklearn.linear_model import Ridge

    def peer(Phi: Floats, t: Floats, Phi_grid: Floats, lam: float) -> Floats:
        found: Floats = Ridge(alpha=lam, fit_intercept=False).fit(Phi, t.T).predict(Phi_grid).T
        return found

    return _fits(n_sets, peer)


SMALL = {"size": 27, "unit": "points", "sizes": (27, 270, 2700, 27_000)}
LARGE = {"size": 100_000, "unit": "points", "sizes": (12_500, 25_000, 50_000, 100_000, 200_000)}
SETS = {"size": 1000, "unit": "data sets", "sizes": (250, 500, 1000, 2000)}
PENALTIES = {"size": 1000, "unit": "penalties", "sizes": (250, 500, 1000, 2000, 4000)}
SKLEARN, STATSMODELS = {"package": "sklearn"}, {"package": "statsmodels"}
CALL = (
    "Half of our time is the call from Python, which the exponent shows too: the loop takes 2.5 µs,"
    " as it does for each of many data sets."
)
SHARED = "Possible only where all data sets have the same inputs."

CASES: list[Case] = [
    Case(
        "LOOCV, orders 0-10, 27 points",
        "scikit-learn cross_val_score",
        500,
        by_refitting,
        **SMALL,
        **SKLEARN,
    ),
    Case(
        "LOOCV, orders 0-10, 27 points",
        "statsmodels OLS influence",
        500,
        by_influence,
        note=CALL,
        **SMALL,
        **STATSMODELS,
    ),
    Case(
        "LOOCV, orders 0-10, 27 points, many data sets",
        "statsmodels OLS influence, one by one",
        500,
        many_by_influence,
        peer_size=10,
        **SETS,
        **STATSMODELS,
    ),
    Case(
        "LOOCV, orders 0-10, many points",
        "scikit-learn RidgeCV",
        2,
        by_ridge_cv,
        **LARGE,
        **SKLEARN,
    ),
    Case(
        "LOOCV, orders 0-10, many points",
        "statsmodels OLS influence",
        2,
        by_influence,
        **LARGE,
        **STATSMODELS,
    ),
    Case(
        "ridge path with exact LOO, 27 points, order 8",
        "scikit-learn RidgeCV",
        5,
        small_path,
        **PENALTIES,
        **SKLEARN,
    ),
    Case(
        "ridge path with exact LOO, 1,000 points, 20 slopes",
        "scikit-learn RidgeCV",
        5,
        large_path,
        **PENALTIES,
        **SKLEARN,
    ),
    Case(
        "bias-variance, 50 lambdas",
        "scikit-learn Ridge, fit by fit",
        100,
        fit_by_fit,
        peer_size=10,
        **SETS,
        **SKLEARN,
    ),
    Case(
        "bias-variance, 50 lambdas",
        "scikit-learn Ridge, data sets as targets",
        1,
        all_at_once,
        note=SHARED,
        **SETS,
        **SKLEARN,
    ),
]

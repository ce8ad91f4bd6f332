"""Ridge against a numerical minimiser, refits without the point, limits and scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from bythebook.models.regression import ridge
from bythebook.models.regression.ridge import kfold_by_penalty, loo_by_penalty, ridge_path
from bythebook.models.types import Floats

PENALTIES = np.array([0.0, 1e-3, 0.1, 4.0, 1e3])


def powers(x: Floats, order: int) -> Floats:
    return x[:, None] ** np.arange(order + 1)


@pytest.fixture
def data() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 12)
    return powers(x, 4), np.sin(3 * x) + 2 + rng.normal(0, 0.2, (3, 12))  # three target vectors


@pytest.mark.parametrize("penalise_bias", [True, False])
def test_weights_minimise_the_penalised_loss(
    data: tuple[Floats, Floats], penalise_bias: bool
) -> None:
    Phi, t = data
    path = ridge_path(Phi, t, PENALTIES, penalise_bias=penalise_bias)
    penalised = np.array([penalise_bias, 1, 1, 1, 1])
    for i, lam in enumerate(PENALTIES):
        for row in range(3):

            def loss(w: Floats, lam: float = lam, row: int = row) -> tuple[float, Floats]:
                e = Phi @ w - t[row]
                return e @ e + lam * penalised @ w**2, 2 * (Phi.T @ e + lam * penalised * w)

            best = minimize(loss, np.zeros(5), jac=True, method="BFGS", options={"gtol": 1e-9})
            assert_allclose(path.weights[i, row], best.x, rtol=1e-5, atol=1e-6)
            assert loss(path.weights[i, row])[0] <= best.fun * (1 + 1e-12)
            assert_allclose(path.fitted[i, row], Phi @ path.weights[i, row], rtol=1e-10)


@pytest.mark.parametrize("penalise_bias", [True, False])
@pytest.mark.parametrize("block", [1, 80, 2**15])  # one, two and all penalties at a time
def test_losses_without_the_fits_are_those_of_refits(
    data: tuple[Floats, Floats],
    penalise_bias: bool,
    block: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Phi, t = data
    monkeypatch.setattr(ridge, "_BLOCK", block)
    found = loo_by_penalty(Phi, t, PENALTIES, penalise_bias=penalise_bias)
    errors = np.empty((len(PENALTIES), *t.shape))
    for n in range(len(Phi)):
        others = np.arange(len(Phi)) != n
        refit = ridge_path(Phi[others], t[:, others], PENALTIES, penalise_bias=penalise_bias)
        errors[..., n] = t[:, n] - refit.weights @ Phi[n]
    assert_allclose(found, np.mean(errors**2, axis=-1), rtol=1e-8)
    single = loo_by_penalty(Phi, t[0], PENALTIES, penalise_bias=penalise_bias)
    assert_allclose(single, found[:, 0], rtol=1e-12)


@pytest.mark.parametrize("penalise_bias", [True, False])
def test_degrees_of_freedom_are_those_of_the_hat_matrix(
    data: tuple[Floats, Floats], penalise_bias: bool
) -> None:
    Phi, _ = data
    path = ridge_path(Phi, np.eye(len(Phi)), PENALTIES, penalise_bias=penalise_bias)
    H = path.fitted  # (L, N, N): the fit of unit vector n is column n of H
    assert_allclose(path.dof, np.trace(H, axis1=1, axis2=2), rtol=1e-10)
    assert np.all(np.diff(path.dof) < 0)


def test_free_bias_agrees_with_scikit_learn(data: tuple[Floats, Floats]) -> None:
    Phi, t = data
    path = ridge_path(Phi, t[0], PENALTIES, penalise_bias=False)
    for lam, w in zip(PENALTIES, path.weights, strict=True):
        model = Ridge(alpha=lam).fit(Phi[:, 1:], t[0])
        assert_allclose(w, [model.intercept_, *model.coef_], rtol=1e-8)


def test_limits(data: tuple[Floats, Floats]) -> None:
    Phi, t = data
    ends = np.array([0.0, 1e-12, 1e15])
    path = ridge_path(Phi, t, ends)
    exact = np.linalg.lstsq(Phi, t.T, rcond=None)[0].T
    assert_allclose(path.weights[0], exact, rtol=1e-10)
    assert_allclose(path.weights[1], exact, rtol=1e-8)
    assert_allclose(path.weights[2], 0, rtol=0, atol=1e-12)
    free = ridge_path(Phi, t, ends, penalise_bias=False)
    assert_allclose(free.weights[0], exact, rtol=1e-10)
    assert_allclose(free.fitted[2], np.tile(t.mean(-1)[:, None], 12), rtol=1e-10)
    assert_allclose(free.dof[[0, 2]], [5, 1], rtol=1e-10)


def test_a_point_that_fixes_itself_has_no_leave_one_out_loss() -> None:
    x = np.linspace(0, 1, 6)
    t = np.random.default_rng(3).normal(size=6)
    loss = loo_by_penalty(powers(x, 5), t, np.array([0.0, 1e-2]))
    assert np.isinf(loss[0])
    assert np.isfinite(loss[1])


def test_an_undetermined_direction_gets_weight_zero_without_penalty() -> None:
    Phi = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])  # rank one
    path = ridge_path(Phi, np.array([2.0, 4.0, 6.0]), np.array([0.0]))
    assert_allclose(path.weights[0], [1, 1], rtol=1e-12)
    assert_allclose(path.dof, [1], rtol=1e-12)


def test_a_free_bias_needs_a_constant_column() -> None:
    with pytest.raises(ValueError, match="constant first column"):
        ridge_path(np.eye(3), np.ones(3), PENALTIES, penalise_bias=False)


@pytest.mark.parametrize("penalise_bias", [True, False])
def test_folds_left_out_are_refits_with_penalties_of_their_own(
    data: tuple[Floats, Floats], penalise_bias: bool
) -> None:
    Phi, t = data
    folds = [np.arange(5), np.arange(5, 12)]
    totals = [7 * PENALTIES, 5 * PENALTIES]
    found = kfold_by_penalty(Phi, t, totals, folds, penalise_bias=penalise_bias)
    for i in range(1, len(PENALTIES)):
        expected = np.zeros(3)
        for total, fold in zip(totals, folds, strict=True):
            rest = np.setdiff1d(np.arange(12), fold)
            penalty = total[i] * np.diag([float(penalise_bias), 1, 1, 1, 1])
            w = np.linalg.solve(Phi[rest].T @ Phi[rest] + penalty, Phi[rest].T @ t[:, rest].T)
            expected += np.sum((t[:, fold].T - Phi[fold] @ w) ** 2, axis=0) / 12
        assert_allclose(found[i], expected, rtol=1e-8)


@pytest.mark.parametrize("lam", PENALTIES)
def test_only_a_free_bias_follows_the_origin_of_the_targets(
    data: tuple[Floats, Floats], lam: float
) -> None:
    """Notes 2.1.3. With all weights penalised the fit follows by the ridge fit of a constant."""
    Phi, t = data
    both = np.stack([t[0], t[0] + 1])
    free = ridge_path(Phi, both, np.array([lam]), penalise_bias=False).fitted[0]
    assert_allclose(free[1] - free[0], 1, rtol=1e-12)
    penalised = ridge_path(Phi, both, np.array([lam])).fitted[0]
    constant = Phi @ np.linalg.solve(Phi.T @ Phi + lam * np.eye(5), Phi.T @ np.ones(12))
    assert_allclose(penalised[1] - penalised[0], constant, rtol=0, atol=1e-10)
    assert (np.abs(constant - 1).max() > 1e-6) == (lam > 0)

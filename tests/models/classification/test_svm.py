"""Support vector machines against scikit-learn, SLSQP, the optimality conditions, a closed form."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC

from bythebook.models.classification import svm
from bythebook.models.classification.kernels import gaussian, linear
from bythebook.models.convergence import NotConverged


@pytest.fixture
def problems():
    rng = np.random.default_rng(40)
    t = np.tile(np.repeat([-1.0, 1.0], 12), (6, 1))
    return rng.standard_normal((6, 24, 2)) + 1.2 * t[..., None], t


def dual_objective(fit, t):
    return fit.alpha.sum(1) - (fit.alpha * t * fit.output).sum(1) / 2


def primal_objective(fit, t):
    slack = np.maximum(0, 1 - t * (fit.output + fit.bias[:, None]))
    return (fit.alpha * t * fit.output).sum(1) / 2 + fit.C * slack.sum(1)


def test_two_points_have_a_closed_form():
    X, t = np.array([[[0.0, 0.0], [3.0, 4.0]]]), np.array([[-1.0, 1.0]])
    fit = svm.solve(linear(X, X), t)
    # w = 2 d / |d|^2 and alpha = 2 / |d|^2 with d = (3, 4)
    np.testing.assert_allclose(fit.alpha, 2 / 25, rtol=1e-9)
    np.testing.assert_allclose(svm.weights(fit, X, t), [[6 / 25, 8 / 25]], rtol=1e-9)
    np.testing.assert_allclose(fit.bias, -1, rtol=1e-9)


@pytest.mark.parametrize("C", [0.02, 1.0, 30.0])
def test_soft_margins_of_scikit_learn(problems, C):
    X, t = problems
    fit = svm.solve(linear(X, X), t, C)
    for r in range(len(X)):
        theirs = SVC(kernel="linear", C=C, tol=1e-9).fit(X[r], t[r])
        w = svm.weights(fit, X, t)[r]
        np.testing.assert_allclose(w, theirs.coef_[0], rtol=1e-4, atol=1e-6)  # theirs: float32
        if (fit.alpha[r] > 0).any() and ((fit.alpha[r] > 0) & (fit.alpha[r] < C)).any():
            np.testing.assert_allclose(fit.bias[r], theirs.intercept_[0], rtol=1e-4, atol=1e-5)


def test_gaussian_kernel_of_scikit_learn(problems):
    X, t = problems
    K = np.stack([gaussian(points, points, 0.5) for points in X])
    fit = svm.solve(K, t, 2.0)
    for r in range(len(X)):
        theirs = SVC(gamma=0.5, C=2.0, tol=1e-9).fit(X[r], t[r])
        ours = fit.output[r] + fit.bias[r]
        np.testing.assert_allclose(ours, theirs.decision_function(X[r]), rtol=1e-4, atol=1e-5)


def test_dual_optimum_by_a_general_solver(problems):
    X, t = problems[0][:1], problems[1][:1]
    C, Q = 0.7, linear(X, X)[0] * np.outer(t[0], t[0])
    found = minimize(
        lambda a: (a @ Q @ a / 2 - a.sum(), Q @ a - 1),
        np.full(24, C / 2),
        jac=True,
        method="SLSQP",
        bounds=[(0, C)] * 24,
        constraints={"type": "eq", "fun": lambda a: a @ t[0], "jac": lambda a: t[0]},
        options={"ftol": 1e-13, "maxiter": 500},
    )
    fit = svm.solve(linear(X, X), t, C)
    np.testing.assert_allclose(dual_objective(fit, t)[0], -found.fun, rtol=1e-8)
    assert dual_objective(fit, t)[0] >= -found.fun * (1 - 1e-9)


def test_optimality_conditions_and_primal(problems):
    X, t = problems
    C = 0.3
    fit = svm.solve(linear(X, X), t, C)
    np.testing.assert_allclose((fit.alpha * t).sum(1), 0, atol=1e-12)
    assert (fit.alpha >= 0).all()
    assert (fit.alpha <= C).all()
    edge = t * (fit.output + fit.bias[:, None])
    bound = fit.alpha >= C * (1 - 1e-9)
    free = fit.support & ~bound
    assert free.any()
    assert bound.any()
    np.testing.assert_allclose(edge[free], 1, atol=1e-8)
    assert (edge[bound] <= 1 + 1e-8).all()
    assert (edge[~fit.support] >= 1 - 1e-8).all()
    dual = dual_objective(fit, t)
    np.testing.assert_allclose(primal_objective(fit, t), dual, rtol=1e-7)
    assert svm.line(fit, X, t)[0].tolist() == [*svm.weights(fit, X, t)[0], fit.bias[0]]


def test_a_narrow_hard_margin_is_found_exactly():
    # Pairs of points alone would take many thousand steps here.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3, 60, 2))
    t = np.where(X @ [1.0, 2.0] > 0.3, 1.0, -1.0)
    assert all(svm.separable(points, labels) for points, labels in zip(X, t, strict=True))
    fit = svm.solve(linear(X, X), t, max_iter=1000)
    assert fit.gap.max() < 1e-8
    w = svm.weights(fit, X, t)
    edge = t * (fit.output + fit.bias[:, None])
    np.testing.assert_allclose(edge.min(1), 1, rtol=1e-6)
    # no other line has a wider margin: the duality gap of the hard problem is zero
    np.testing.assert_allclose((w**2).sum(1) / 2, dual_objective(fit, t), rtol=1e-6)
    assert not svm.separable(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, -1.0, 1.0]))


def test_bias_rules_differ_only_where_points_are_at_the_bound(problems):
    X, t = problems
    X = X + 3 * t[..., None]
    hard = svm.solve(linear(X, X), t)
    for rule in svm.RULES:
        np.testing.assert_allclose(svm.bias(hard, t, rule), hard.bias, rtol=1e-6)
    X = problems[0]
    soft = svm.solve(linear(X, X), t, 0.02)
    rest = t - soft.output
    top = [max(np.flatnonzero(soft.support[r]), key=lambda n: soft.output[r, n]) for r in range(6)]
    np.testing.assert_allclose(svm.bias(soft, t, "highest"), rest[np.arange(6), top], rtol=1e-12)
    mean = [rest[r][soft.support[r]].mean() for r in range(6)]
    np.testing.assert_allclose(svm.bias(soft, t, "mean"), mean, rtol=1e-12)
    assert np.abs(svm.bias(soft, t, "mean") - soft.bias).max() > 1e-3


def test_what_counts_as_a_support_vector():
    """Influence relative to the largest of its own problem."""
    alpha = np.array([[1.0, 2e-6, 5e-7, 0.0], [1e-3, 2e-9, 5e-10, 1e-3], [0.0, 0.0, 0.0, 0.0]])
    nothing = np.zeros((3, 4))
    fit = svm.Svm(alpha, nothing, nothing[:, 0], nothing[:, 0], 1.0)
    expected = [[1, 1, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0]]
    np.testing.assert_array_equal(fit.support, np.array(expected, dtype=bool))


def test_without_free_points_the_bias_is_mid_way_in_its_range():
    X, t = np.array([[[0.0], [3.0]]]), np.array([[-1.0, 1.0]])
    fit = svm.solve(linear(X, X), t, 0.01)
    np.testing.assert_allclose(fit.alpha, 0.01)  # w = 0.03; f = b and 0.09 + b
    np.testing.assert_allclose(fit.bias, (-1 + 0.91) / 2)
    ends = [primal_objective(fit._replace(bias=np.array([b])), t)[0] for b in (-1.0, 0.91)]
    beyond = [primal_objective(fit._replace(bias=np.array([b])), t)[0] for b in (-1.1, 1.01)]
    np.testing.assert_allclose(ends, dual_objective(fit, t)[0])
    assert min(beyond) > ends[0] + 5e-4


@pytest.mark.parametrize("C", [0.4, 3.0, np.inf])
@pytest.mark.parametrize("doubled", [False, True])
def test_a_step_of_all_free_points_reaches_their_optimum(C, doubled):
    """From any feasible point; with coinciding points the objective has flat lines."""
    rng = np.random.default_rng(12)
    for _ in range(20):
        X = rng.standard_normal((12, 2))
        X = np.concatenate([X[:6], X[:6]]) if doubled else X
        t = np.tile([-1.0, 1.0], 6)
        K = linear(X[None], X[None])[0] + (0 if doubled else np.eye(12))
        alpha = np.repeat(rng.uniform(0.05, 0.35, 6), 2)  # a pair each: (5.14) holds
        alpha[rng.integers(6) * 2 + np.array([0, 1])] = 0.0
        before = alpha.copy()
        after = svm._ascend(K, t, alpha, C)
        objective = lambda a, K=K, t=t: a.sum() - (a * t) @ K @ (a * t) / 2  # noqa: E731
        np.testing.assert_array_equal(alpha, before)
        assert after.min() >= 0
        assert after.max() <= C
        assert abs(after @ t) < 1e-9
        assert objective(after) >= objective(before) - 1e-12
        assert (after[before == 0] == 0).all()
        free = (after > 0) & (after < C)
        slope = (t - K @ (after * t))[free]
        if free.sum() > 1 and not (doubled and np.inf == C):
            assert np.ptp(slope) < 1e-7  # no ascent direction remains
        # No other feasible point with the same free points is better.
        for _ in range(20):
            v = np.where(free, rng.standard_normal(12), 0.0)
            v[free] -= v[free].mean() if free.any() else 0.0
            other = after + 1e-3 * v * t
            if other.min() >= 0 and other.max() <= C and not (doubled and np.inf == C):
                assert objective(other) <= objective(after) + 1e-9


def test_few_steps_are_needed(problems):
    """Pairs of the largest gain, and all free points at once: hundreds, not thousands."""
    X, t = problems
    K = np.stack([gaussian(points, points, 0.5) for points in X])
    for C, steps in ((0.3, 250), (30.0, 450)):
        assert svm.solve(K, t, C, max_iter=steps).gap.max() < 1e-9


def test_a_solution_before_the_optimum_is_reported(problems):
    X, t = problems
    with pytest.warns(NotConverged, match="stopped at the limit of 5 iterations"):
        svm.solve(linear(X, X), t, 1.0, max_iter=5)


def test_a_bias_before_the_optimum_is_the_mean_of_the_free_points():
    """There they need not agree: b is their mean, here of 1, 2 and 6, not mid-way in a range."""
    alpha, t = np.array([[0.5, 0.25, 0.75, 1.0, 0.0]]), np.array([[-1.0, 1.0, -1.0, 1.0, -1.0]])
    rest = np.array([[1.0, 2.0, 6.0, 9.0, 20.0]])
    np.testing.assert_allclose(svm._free_bias(alpha, rest, t, 1.0), [3.0], rtol=1e-12)

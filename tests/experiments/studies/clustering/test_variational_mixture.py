"""Study `variational_mixture`: invalid settings, separate clusters, and recorded iterations."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.clustering.variational_mixture import VariationalMixture

Run = Callable[..., Outcome]
PLAIN: dict[str, Any] = {
    "data": None,
    "centres": [[-5.0, 0.0], [5.0, 0.0]],
    "n_each": 20,
    "restarts": 6,
    "iterations": 60,
}


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"nu0": 1.0}, "allowed: > 1"),
        ({"alpha0": [0.0], "splits": 2}, "needs a Dirichlet"),
        ({"k": [21]}, "at most half"),
    ],
)
def test_invalid_settings_are_refused(knobs: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        VariationalMixture(**{**PLAIN, **knobs})


def test_two_separate_clusters_are_left(run: Run) -> None:
    found = run(VariationalMixture(**PLAIN, k=[4], splits=1))
    taken = found["points_taken"].values[0, 0]
    np.testing.assert_allclose(taken.sum(-1), 40)
    best = found["bound"].values[0, 0].argmax()
    assert np.sort(taken[best])[-2:] == pytest.approx([20, 20], abs=0.01)
    assert found["components_left"].values[0, 0, best] == 2
    assert found["held_out"].values.shape == (2, 1, 1)


def test_components_with_less_than_a_point_are_not_left(run: Run) -> None:
    found = run(VariationalMixture(**PLAIN, k=[2, 4], alpha0=[0.001, 5.0]))
    taken = found["points_taken"].values
    np.testing.assert_array_equal(found["components_left"].values, (taken >= 1).sum(-1))
    assert (taken[:, 0, :, 2:] == 0).all()  # there are two components only


@pytest.mark.parametrize("alpha0", [0.001, 0.0])
def test_the_history_is_that_of_the_best_start_of_the_largest_k(run: Run, alpha0: float) -> None:
    found = run(VariationalMixture(**PLAIN, k=[2, 4], alpha0=[alpha0, 1.0]))
    bound, steps, history = (found[n].values for n in ("bound", "iterations", "history"))
    assert history[-1] == bound[0, 1].max()
    assert np.diff(history).min() >= -1e-9 * abs(history[-1])
    assert len(history) == steps[0, 1].max() + 1
    # It stays at its last value until every start has ended.
    assert (history[steps[0, 1, bound[0, 1].argmax()] :] == history[-1]).all()


def test_the_components_of_each_iteration_have_the_moments_of_the_points(run: Run) -> None:
    """(10.61) and (10.62) summed over k, where responsibilities add up to one and m_0 is zero."""
    study = VariationalMixture(k=[2, 6], restarts=4, w0=0.5, beta0=2, nu0=3, snapshots=[0, 7, 30])
    found = run(study)
    X, pi = found["points"].values, found["component_weight"].values
    m, S = found["component_mean"].values, found["component_covariance"].values
    np.testing.assert_allclose(pi.sum(-1), 1)
    N = (6 * 0.001 + len(X)) * pi - 0.001  # 10.69, as corrected
    beta, nu = 2 + N, 3 + N
    # The points are standardised, so their sum is zero.
    np.testing.assert_allclose(np.einsum("sk,skd->sd", beta, m), 0, atol=1e-9)
    second = np.einsum("sk,skde->sde", nu, S) + np.einsum("sk,skd,ske->sde", beta, m, m)
    expected = X.T @ X + 6 / 0.5 * np.eye(2)
    np.testing.assert_allclose(second, np.tile(expected, (3, 1, 1)))


def test_old_faithful_is_standardised() -> None:
    """Reference: cor(faithful) in R."""
    X = VariationalMixture().points(np.random.default_rng(0))
    np.testing.assert_allclose(X.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(X.T @ X / len(X), [[1, 0.9008112], [0.9008112, 1]], atol=1e-7)

"""Labelled estimates: counts by hand, moments by NumPy, and nothing near them more likely."""

import numpy as np
import pytest

from bythebook.models.chains import baum_welch as bw
from bythebook.models.chains.baum_welch_starts import perturb
from bythebook.models.chains.casino import casino
from bythebook.models.chains.labelled import Data, complete_log_likelihood, labelled, squared_errors
from bythebook.models.chains.named_starts import make_data


def test_counts_by_hand() -> None:
    truth = bw.CategoricalHMM(*(part[None] for part in casino()))
    data = Data(np.array([5, 5, 0, 1]), np.array([0, 1, 1, 0]), truth)
    fit = labelled(data)
    np.testing.assert_allclose(fit.A[0], [[0, 1], [0.5, 0.5]], rtol=1e-15)
    np.testing.assert_allclose(fit.B[0, 1], [0.5, 0, 0, 0, 0, 0.5], rtol=1e-15)
    off = np.array([[0.95, 0.95], [0.4, 0.4]]) ** 2
    assert squared_errors(data)[0] == pytest.approx(off.mean(), rel=1e-12)
    joint = [0.5, 1 / 6, 0.05, 0.5, 0.9, 0.1, 0.1, 1 / 6]  # pi, and B and A by turns
    assert complete_log_likelihood(truth, data) == pytest.approx(np.log(joint).sum(), rel=1e-12)


def test_moments_are_the_most_likely() -> None:
    rng = np.random.default_rng(0)
    (data,) = make_data("lilypad", 400, 1, rng)
    fit = labelled(data)
    here = data.x[data.states == 2]
    np.testing.assert_allclose(fit.Sigma[0, 2], np.cov(here.T, bias=True), rtol=1e-10)
    top = complete_log_likelihood(fit, data)
    assert all(complete_log_likelihood(perturb(fit, rng, 0.1), data) < top for _ in range(20))
    offs = fit.mu[0] - data.truth.mu[0]
    errors = [
        off * np.linalg.solve(S, off) for off, S in zip(offs, data.truth.Sigma[0], strict=True)
    ]
    assert squared_errors(data)[1] == pytest.approx(np.mean(errors), rel=1e-12)


def test_squared_errors_by_hand() -> None:
    """Four rolls: transitions off by 0.95 and 0.4, faces by what three counts leave."""
    truth = bw.CategoricalHMM(*(part[None] for part in casino()))
    data = Data(np.array([5, 5, 0, 1]), np.array([0, 1, 1, 0]), truth)
    fair = [-1 / 6, 1 / 3, -1 / 6, -1 / 6, -1 / 6, 1 / 3]
    loaded = [0.4, -0.1, -0.1, -0.1, -0.1, 0.0]
    faces = sum(off**2 for off in (*fair, *loaded)) / 12
    found = squared_errors(data)
    np.testing.assert_allclose(found, [(2 * 0.95**2 + 2 * 0.4**2) / 4, faces], rtol=1e-12)

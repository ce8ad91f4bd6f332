"""The bound along EM against loops over points and labels."""

import numpy as np
import pytest
from scipy.stats import norm

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.em_bound import BoundPath, EmBound, bound_path, bound_statements


def test_more_components_than_points_are_refused() -> None:
    with pytest.raises(BadInput, match="there are 3 points"):
        EmBound(data=None, centres=[[0.0]], n_each=3, k=4)


def test_bound_and_divergence_by_loops() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=7)
    thetas = [([0.4, 0.6], [-1.0, 1.0], [1.0, 0.7]), ([0.5, 0.5], [-0.5, 0.8], [0.9, 0.8])]
    joint = np.array(
        [
            [
                [np.log(p) + norm(m, s).logpdf(value) for p, m, s in zip(*theta, strict=True)]
                for value in x
            ]
            for theta in thetas
        ]
    )
    found = bound_path(joint)
    evidence = np.exp(joint).sum(axis=2)  # (2, N)
    q = np.exp(joint[0]) / evidence[0][:, None]
    after_m = sum(q[n, k] * (joint[1, n, k] - np.log(q[n, k])) for n in range(7) for k in range(2))
    new = np.exp(joint[1]) / evidence[1][:, None]
    kl = sum(q[n, k] * np.log(q[n, k] / new[n, k]) for n in range(7) for k in range(2))
    np.testing.assert_allclose(found.log_likelihood, np.log(evidence).sum(axis=1), rtol=1e-12)
    assert found.after_m[0] == pytest.approx(after_m, rel=1e-12)
    assert found.kl_after_m[0] == pytest.approx(kl, rel=1e-9)
    assert found.after_e[0] == pytest.approx(found.log_likelihood[0], rel=1e-12)
    assert found.kl_after_e[0] == pytest.approx(0, abs=1e-12)


def test_statements_hold_along_em() -> None:
    study = EmBound(data=None, standardise=False, centres=[[-1.0], [1.5]], iterations=30)
    outcome = study.run(generator(study.name, 0))
    statements = [value for value in outcome.metrics.values() if isinstance(value, bool)]
    assert len(statements) == 10
    assert all(statements)
    gap = outcome.arrays["log_likelihood"][0] - outcome.arrays["random_bounds"]
    np.testing.assert_allclose(gap, outcome.arrays["random_gaps"], rtol=1e-9)
    assert list(study.draw(outcome)) == ["bound", "any_q"]


def test_statements_can_be_false() -> None:
    zero = np.zeros(2)
    falling = BoundPath(
        np.array([-3.0, -4.0, -5.0]),
        np.array([-3.1, -4.0]),
        np.array([-3.5, -4.5]),
        zero + 1,
        zero - 1,
    )
    found = bound_statements(falling)
    true = {name for name, value in found.items() if value}
    assert true == {"kl_reopens_in_m_step"}  # nothing moves upwards, so nothing is asked

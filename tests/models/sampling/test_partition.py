"""Partition functions against quadrature in two dimensions, and estimates against them."""

import numpy as np
from numpy.testing import assert_allclose

from bythebook.models.sampling.partition import Model, chained, direct

MODEL = Model(2, 2.0, 1.0)


def test_partitions_on_a_grid() -> None:
    x = np.linspace(-8, 8, 321)
    plane = np.stack(np.meshgrid(x, x), axis=-1)
    for alpha in (0.0, 0.3, 1.0):
        total = np.exp(-MODEL.energy(plane, alpha)).sum() * 0.05**2
        assert_allclose(MODEL.log_partition(alpha), np.log(total), rtol=1e-6, atol=1e-6)
    assert_allclose(MODEL.log_partition(0.0), np.log(2 * np.pi), rtol=1e-9)
    assert_allclose(MODEL.energy(np.array([2.0, 0.0]), 1.0), 2 * (9 + 1))


def test_direct_estimates_and_their_variance() -> None:
    rng = np.random.default_rng(0)
    exact = MODEL.log_partition(1.0) - MODEL.log_partition(0.0)
    ratios = np.exp(direct(MODEL, 500, 400, rng).log_ratio - exact)
    logs = [MODEL.log_partition(alpha) for alpha in (0.0, 1.0, 2.0)]
    spread = np.sqrt(np.expm1(logs[0] + logs[2] - 2 * logs[1]) / 500)  # Z_0 Z_2 / Z_1^2 - 1
    assert_allclose(ratios.mean(), 1, atol=5 * spread / 20)
    assert_allclose(ratios.std(), spread, rtol=0.2)
    assert_allclose(direct(MODEL, 500, 400, rng).apparent_error.mean(), spread, rtol=0.1)


def test_chained_estimates() -> None:
    rng = np.random.default_rng(0)
    exact = MODEL.log_partition(1.0) - MODEL.log_partition(0.0)
    for carried in (True, False):
        found = chained(MODEL, 3, 900, 60, rng, carried=carried).log_ratio
        assert_allclose(found.mean(), exact, atol=0.1)
    one = chained(MODEL, 1, 400, 50, rng, carried=True).log_ratio
    assert_allclose(one.mean(), exact, atol=0.1)

"""Chains on known targets: knob rules, and the outcome against what is known of the target."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.sampling.sampler import Sampler

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"targets": {"a": [[1.0, 1.0, 1.0, 2.0, 1.0]]}}, "positive definite"),
        ({"targets": {"a": [[1.0, 1.0]]}}, "five numbers"),
        ({"targets": {"flat": []}}, "flat; it needs study.starts"),
        (
            {"targets": {"a": [], "b": [[0, 0, 1, 0, 1.0]]}, "starts": [[0.0, 0.0]]},
            "a flat density among others",
        ),
        ({"starts": [[0.0, 0.0], [1.0, 1.0]]}, "as many as study.step_variances"),
        ({"starts": [[0.0]]}, "points in the plane"),
        ({"samples": 100, "look_at": [1000]}, "study.look_at"),
        ({"samples": 50, "lags": [50]}, "study.lags"),
        ({"samples": 100_000, "chains": 2000}, "samples times"),
        ({"step_variances": [0.0]}, "study.step_variances"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Sampler(**knobs)  # type: ignore[arg-type]


def test_the_moments_are_those_of_the_target(run: Run) -> None:
    found = run(Sampler(samples=2000, chains=200, start_distance=2.5, look_at=[10]))
    here = {"target": "gaussian", "step_variance": 1.0}
    means = found["chain_mean"].sel(**here, length=2000).values
    assert_allclose(means.mean(0), [1, 1], atol=0.06)
    covariance = found["chain_covariance"].sel(**here, length=2000)
    # biased down by few samples
    assert_allclose(covariance.sel(entry="11").values.mean(), 3.0, atol=0.15)
    assert_allclose(covariance.sel(entry="12").values.mean(), 0.4, atol=0.1)
    # a Gaussian in the plane has 1 - exp(-r^2 / 2) within r standard deviations
    rings, edges = found["samples_in_ring"].sel(**here).values, np.arange(9)
    assert_allclose(rings / 400_000, -np.diff(np.exp(-edges / 2)), atol=0.02)  # they depend
    R = found["scale_reduction"].sel(**here)
    assert R.sel(length=10).values.max() > 1.5 > 1.02 > R.sel(length=2000).values.max()


def test_a_chain_moves_where_it_accepts(run: Run) -> None:
    found = run(Sampler(samples=50, chains=3, look_at=[10]))
    w, proposed, kept = (found[name].values[0, 0] for name in ("path", "proposed", "accepted"))
    assert (np.diff(w, axis=0) != 0).any(axis=-1).tolist() == kept.tolist()
    assert_allclose(w[1:][kept], proposed[kept])
    assert found["rejected"].sel(length=10).values[0, 0, 0] == 9 - kept[:9].sum()
    assert found["rejected"].sel(length=50).values[0, 0, 0] == 49 - kept.sum()


def test_chains_that_start_inside_need_no_burn_in(run: Run) -> None:
    inside = run(Sampler(samples=100, chains=10, start_distance=1))
    assert inside["burn_in"].values.ravel().tolist() == [0] * 10
    far = run(Sampler(samples=100, chains=10, start_distance=20))
    assert far["burn_in"].values.min() > 5


def test_acceptance_is_the_average_ratio(run: Run) -> None:
    """Of a stationary chain: E{min(1, p(w + e) / p(w))}, here by plain Monte Carlo."""
    study = Sampler({"a": [[0, 0, 1, 0.9, 1]]}, step_variances=[0.09, 1.0], samples=2000, chains=40)
    rejected = run(study)["rejected"].sel(target="a", length=2000)
    rng = np.random.default_rng(1)
    precision = np.linalg.inv([[1.0, 0.9], [0.9, 1.0]])
    w = rng.multivariate_normal([0, 0], [[1.0, 0.9], [0.9, 1.0]], 200_000)
    for variance in (0.09, 1.0):
        moved = w + np.sqrt(variance) * rng.standard_normal(w.shape)
        change = ((w @ precision) * w).sum(-1) - ((moved @ precision) * moved).sum(-1)
        expected = np.exp(np.minimum(change / 2, 0)).mean()
        share = rejected.sel(step_variance=variance).values.mean() / 1999
        assert_allclose(1 - share, expected, atol=0.01)


def test_modes_that_are_close_are_both_found(run: Run) -> None:
    def visited(apart: float, variance: float) -> list[int]:
        parts = [[0, 0, variance, 0, variance], [apart, 0, variance, 0, variance]]
        study = Sampler({"two": parts}, step_variances=[0.25], samples=500, chains=5)
        return run(study)["modes_visited"].values.ravel().tolist()  # type: ignore[no-any-return]

    assert visited(1.0, 0.25) == [2] * 5
    assert visited(9.0, 0.09) == [1] * 5


def test_a_flat_target_is_a_random_walk(run: Run) -> None:
    study = Sampler(
        {"flat": []},
        starts=[[0.0, 0.0], [2.0, 2.0]],
        step_variances=[0.1, 2.0],
        samples=10,
        chains=4000,
    )
    found = run(study)
    for variance in (0.1, 2.0):  # two directions
        here = found["squared_step"].sel(target="flat", step_variance=variance)
        assert_allclose(here.values.mean(), 2 * variance, rtol=0.03)
    assert found["path"].sel(target="flat", sample=0).values.tolist() == [[0, 0], [2, 2]]
    assert found["rejected"].values.max() == 0
    assert {"burn_in", "height"}.isdisjoint(found)


def test_the_height_of_a_density(run: Run) -> None:
    found = run(Sampler({"two": [[0, 1, 1, 0.5, 2], [4, -1, 1, 0, 1]]}, samples=10, chains=2))
    height = found["height"]
    w = np.stack(np.meshgrid(height.coord("w1"), height.coord("w2")), axis=-1)
    parts = (([0, 1], [[1, 0.5], [0.5, 2]]), ([4, -1], np.eye(2)))
    density = sum(stats.multivariate_normal(*part).pdf(w) for part in parts)
    peak = sum(stats.multivariate_normal(*part).pdf([4, -1]) for part in parts)
    assert_allclose(height.values[0], density / peak, rtol=1e-9)

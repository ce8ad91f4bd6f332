"""Kernels: each leaves its target invariant, and agrees with closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.stats import norm

from bythebook.models.sampling import targets
from bythebook.models.sampling.kernels import (
    leapfrog,
    named,
    needs,
    walk,
)
from bythebook.models.sampling.targets import Target
from bythebook.models.sampling.uniformity import all_even

ALL = [
    "metropolis 1",
    "gibbs",
    "over-relaxed -0.7",
    "slice 1",
    "slice 20",
    "unextended slice 2",
    "hamiltonian 0.6 3",
    "flow 2",
]


@pytest.mark.parametrize("name", ALL)
def test_a_kernel_leaves_its_target_and_moves(name: str) -> None:
    target, rng = targets.correlated(0.7), np.random.default_rng(5)
    start = target.draw(1500, rng)
    found = walk(target, [named(name)] * 1500, start, 4, rng)
    assert found.path.shape == (5, 1500, 2)
    assert all_even(target.uniforms(found.path[-1])) > 0.001
    assert np.mean(found.path[-1] != start) > 0.8


@pytest.mark.parametrize("name", ["metropolis 2", "slice 1", "slice 15", "hamiltonian 0.5 4"])
def test_two_bumps_are_left_too(name: str) -> None:
    target, rng = targets.bumps(2.0), np.random.default_rng(2)
    found = walk(target, [named(name)] * 2000, target.draw(2000, rng), 5, rng)
    assert all_even(target.uniforms(found.path[-1])) > 0.001


def test_a_coarse_step_without_its_test_is_off() -> None:
    target, rng = targets.gaussian(1.0, 3.0), np.random.default_rng(0)
    kernel = [named("unadjusted 1.5 3")] * 1500
    found = walk(target, kernel, target.draw(1500, rng), 20, rng)
    assert all_even(target.uniforms(found.path[-1])) < 1e-6
    # leapfrog keeps z^2 (1 - e^2 / 4) + r^2: the variance of z is 1 / (1 - e^2 / 4), near e = 1.5
    assert 1.9 < found.path[-1][:, 0].var() < 3.0


def test_chains_of_a_family_have_numbers_of_their_own() -> None:
    target, rng = targets.gaussian(1.0, 1.0), np.random.default_rng(0)
    kernels = [named("metropolis 0.1")] * 50 + [named("metropolis 8")] * 50
    found = walk(target, kernels, np.zeros((100, 2)), 60, rng)
    assert found.accepted[:50].min() > 0.8
    assert found.accepted[50:].max() < 0.4
    assert (found.evaluations == 1).all()


def test_metropolis_is_accepted_as_the_closed_form_says() -> None:
    rng = np.random.default_rng(0)
    target = targets.gaussian(2.0)
    found = walk(target, [named("metropolis 3")] * 4000, target.draw(4000, rng), 20, rng)
    assert_allclose(found.accepted.mean(), 2 / np.pi * np.arctan(4 / 3), atol=0.01)
    target = targets.gaussian(1.0, 4.0)
    found = walk(target, [named("metropolis 2")] * 2000, target.draw(2000, rng), 20, rng)
    a, b = np.meshgrid(*[np.linspace(-12, 12, 401)] * 2)  # steps, kept with 2 Phi(-|d| / 2)
    kept = 2 * norm.cdf(-np.hypot(a, b / 4) / 2) * norm.pdf(a, 0, 2) * norm.pdf(b, 0, 2)
    assert_allclose(found.accepted.mean(), kept.sum() * 0.06**2, atol=0.01)


@pytest.mark.parametrize("alpha", [-0.9, -0.5, 0.5])
def test_over_relaxed_updates_cross_the_mean(alpha: float) -> None:
    target, rng = targets.gaussian(1.0, 2.0), np.random.default_rng(0)
    start = target.draw(20_000, rng)
    found = walk(target, [named(f"over-relaxed {alpha}")] * 20_000, start, 1, rng)
    crossed = (found.path[0] * found.path[1] < 0).mean(0)
    assert_allclose(crossed, 0.5 - np.arcsin(alpha) / np.pi, atol=0.015)


def test_kernels_of_a_walk_are_of_one_family_and_cost() -> None:
    target, rng = targets.gaussian(1.0), np.random.default_rng(0)
    for names in (["metropolis 1", "slice 1"], ["hamiltonian 0.5 2", "hamiltonian 0.5 3"]):
        with pytest.raises(ValueError, match="one family and one cost"):
            walk(target, [named(name) for name in names], np.zeros((2, 1)), 3, rng)
    with pytest.raises(ValueError, match="1 kernels for 2 starts"):
        walk(target, [named("metropolis 1")], np.zeros((2, 1)), 3, rng)


def test_leapfrog_follows_the_equations_of_motion() -> None:
    def force(z: np.ndarray) -> np.ndarray:
        return -(z**3) - 0.5 * z[..., ::-1]

    z, r = np.array([0.7, -0.3]), np.array([0.2, 0.5])
    path = solve_ivp(
        lambda _, y: np.r_[y[2:], force(y[:2])], (0, 1), np.r_[z, r], rtol=1e-10, atol=1e-12
    )
    end = np.r_[leapfrog(force, z, r, 0.001, 1000)]
    assert_allclose(np.ravel(end), path.y[:, -1], atol=1e-6)


def test_slices_count_what_they_evaluate() -> None:
    """The counted evaluations are those of a plain loop's stepping out and shrinking."""
    calls = [0]
    target = targets.gaussian(1.0)

    def counted(z: np.ndarray) -> np.ndarray:
        calls[0] += z.size
        return target.log_p(z)

    rng = np.random.default_rng(0)
    watched: Target = target._replace(log_p=counted)
    found = walk(watched, [named("unextended slice 3")] * 200, target.draw(200, rng), 10, rng)
    # one call at the start, and one for the level of each slice, are not counted
    assert calls[0] == 200 + 10 * 200 + round(found.evaluations.sum() * 10)
    narrow = walk(target, [named("slice 0.2")] * 200, target.draw(200, rng), 10, rng)
    # a slice at ln u below the top is 2 sqrt(2 e) long for e ~ Exp(1) + z^2 / 2: 2 E|N| in chi_3
    mean_length = 2 * 2 * np.sqrt(2 / np.pi)
    assert_allclose(narrow.evaluations.mean(), mean_length / 0.2 + 2.3, rtol=0.06)


@pytest.mark.parametrize("name", ["metro 1", "metropolis", "over-relaxed 1", "slice x", "gibbs 2"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(ValueError, match="allowed"):
        named(name)


@pytest.mark.parametrize(
    "name",
    [
        "metropolis 0",
        "slice 0",
        "over-relaxed -1",
        "hamiltonian 0 3",
        "hamiltonian 1 0.5",
        "hamiltonian 1 10000",
        "unadjusted 1 10000",
        "flow 0",
    ],
)
def test_numbers_at_a_bound_are_none(name: str) -> None:
    with pytest.raises(ValueError, match="one between"):
        named(name)


@pytest.mark.parametrize("name", ["hamiltonian 0.5 8.7", "unadjusted 1 1.5"])
def test_leapfrog_steps_are_whole(name: str) -> None:
    with pytest.raises(ValueError, match="a whole number of leapfrog steps"):
        named(name)


def test_costs_and_needs() -> None:
    assert [named(n).cost for n in ("gibbs", "slice 2", "hamiltonian 0.1 7")] == [1, 10, 7]
    assert needs(named("gibbs"), targets.bumps(1.0)) == "conditional distributions"
    assert needs(named("hamiltonian 1 1"), targets.two_squares()) == "a gradient"
    assert needs(named("flow 1"), targets.bumps(1.0)) == "a Gaussian"
    assert not needs(named("slice 1"), targets.two_squares())

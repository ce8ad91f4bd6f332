"""The bootstrap particle filter on stochastic volatility (Pitt and Shephard 1999), 100 steps.

    z_n = mu + rho (z_{n-1} - mu) + sigma v_n,    x_n ~ N(0, exp z_n)

Both filters resample systematically if at most half of the particles are effective, and both give
the means at every step.
"""

import numpy as np
from numpy.random import Generator

from benchmarks.case import Answer, Case, Contest
from benchmarks.timing import Floor
from bythebook.models.state_space.particle_filter import StateSpace, bootstrap_filter
from bythebook.models.types import Floats

STEPS = 100
MU, RHO, SIGMA = -1.02, 0.9702, 0.178
STATIONARY = SIGMA / np.sqrt(1 - RHO**2)


def series() -> Floats:
    """Returns drawn from the model."""
    rng = np.random.default_rng(0)
    z = [MU + STATIONARY * rng.standard_normal()]
    for _ in range(STEPS - 1):
        z.append(MU + RHO * (z[-1] - MU) + SIGMA * rng.standard_normal())
    return np.exp(np.array(z) / 2) * rng.standard_normal(STEPS)


def stochastic_volatility(x: Floats) -> StateSpace:
    def initial(shape: tuple[int, ...], rng: Generator) -> Floats:
        return np.asarray(MU + STATIONARY * rng.standard_normal((*shape, 1)))

    def propagate(n: int, z: Floats, rng: Generator) -> Floats:
        return np.asarray((MU - RHO * MU) + RHO * z + SIGMA * rng.standard_normal(z.shape))

    def log_weight(n: int, z: Floats) -> Floats:
        level = -0.5 * np.log(2 * np.pi)
        return np.asarray(level - 0.5 * (z + x[n] ** 2 * np.exp(-z)))[..., 0]

    return StateSpace(initial, propagate, log_weight)


def bootstrap(n_particles: int) -> Contest:
    from particles import SMC
    from particles.collectors import Moments
    from particles.state_space_models import Bootstrap, StochVol

    x = series()
    model = stochastic_volatility(x)
    theirs = Bootstrap(ssm=StochVol(mu=MU, rho=RHO, sigma=SIGMA), data=x)

    def ours() -> Answer:
        found = bootstrap_filter(model, STEPS, n_particles, np.random.default_rng(1))
        return {"log_c": found.log_c, "mean": found.mean[:, 0]}

    def peer() -> Answer:
        np.random.seed(1)  # noqa: NPY002 - it uses the global generator
        smc = SMC(
            fk=theirs,
            N=n_particles,
            resampling="systematic",
            ESSrmin=0.5,
            collect=[Moments(mom_func=lambda W, X: np.average(X, weights=W))],
        )
        smc.run()
        found = smc.summaries
        return {"log_c": np.diff(found.logLts, prepend=0.0), "mean": np.array(found.moments)}

    def draw() -> None:
        rng = np.random.default_rng(1)
        for _ in range(STEPS):
            rng.standard_normal((n_particles, 1))

    return Contest(
        ours,
        peer,
        floor=Floor("the normal numbers that it draws", draw),
        tolerance=8 / np.sqrt(n_particles),
        why="Both estimate from draws of their own: of 100 steps the one with the largest"
        " difference has some 3 / sqrt(particles) of the scale, rarely more than 6.",
    )


CASES: list[Case] = [
    Case(
        "bootstrap particle filter, 100 steps",
        "particles SMC",
        3,
        bootstrap,
        size=100_000,
        unit="particles",
        package="particles",
        sizes=(12_500, 25_000, 50_000, 100_000, 200_000),
    )
]

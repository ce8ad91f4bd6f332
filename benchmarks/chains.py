"""Markov chains: Metropolis in two dimensions, hybrid Monte Carlo in 100 dimensions.

Both functions of a case run the same transitions for the same number of steps on the same target.
The autocorrelation times are part of the compared answers, so equal steps are equal effective work.
Peers that compile do so before the timing.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.case import Answer, Case, Contest
from benchmarks.timing import Floor
from bythebook.models.sampling.chain_summaries import autocorrelation_time, known_autocorrelation
from bythebook.models.sampling.kernels import named, walk
from bythebook.models.sampling.targets import Target, correlated, gaussian_of
from bythebook.models.types import Floats

CHAINS, SCALE, RHO = 1000, 1.0, 0.8
TENTH = 10  # every tenth chain is used for the answers
WIDE, DIMENSIONS, SIZE, LEAPS = 100, 100, 0.6, 20


def _summarise(target: Target, path: Floats, accepted: float) -> Answer:
    """Moments along the extreme axes of the target and autocorrelation time (every 10th chain)."""
    x = target.principal(path[:, ::TENTH])
    times = [autocorrelation_time(known_autocorrelation(x[..., e])) for e in range(2)]
    moments = [*x.mean((0, 1)), *(x**2).mean((0, 1)), (x[..., 0] * x[..., 1]).mean()]
    return {"moments": moments, "accepted": accepted, "time": max(times)}


def metropolis(steps: int, peer: str) -> Contest:
    """Chains on a Gaussian of correlation 0.8, with Gaussian proposals."""
    target = correlated(RHO)
    starts = target.draw(CHAINS, np.random.default_rng(0))
    kernels = [named(f"metropolis {SCALE}")] * CHAINS

    def ours() -> Answer:
        found = walk(target, kernels, starts, steps, np.random.default_rng(1))
        return _summarise(target, found.path, float(found.accepted.mean()))

    def drawn() -> None:
        rng = np.random.default_rng(1)
        for _ in range(steps):
            rng.standard_normal((CHAINS, 2))
            rng.random(CHAINS)

    theirs = _emcee(target, starts, steps) if peer == "emcee" else _random_walk(starts, steps)
    return Contest(
        ours,
        lambda: _summarise(target, *theirs()),
        tolerance=0.1,
        floor=Floor("the random numbers that it draws", drawn),
        why="Both estimate from draws of their own; of the answers, all of a tenth of the chains,"
        " the autocorrelation time is the least certain, known to some 2 %.",
    )


def hybrid(steps: int) -> Contest:
    """Chains on a Gaussian in 100 dimensions, deviations from 1 to 5 in random directions."""
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.standard_normal((DIMENSIONS, DIMENSIONS)))[0]
    target = gaussian_of(np.geomspace(1, 5, DIMENSIONS), directions)
    starts = target.draw(WIDE, rng)
    kernels = [named(f"hamiltonian {SIZE} {LEAPS}")] * WIDE

    def ours() -> Answer:
        found = walk(target, kernels, starts, steps, np.random.default_rng(1))
        return _summarise(target, found.path, float(found.accepted.mean()))

    precision = (directions / target.deviations**2) @ directions.T

    def products() -> None:
        z, room = starts, np.empty_like(starts)
        for _ in range(steps * (LEAPS + 1)):
            np.matmul(z, precision, out=room)

    theirs = _hamiltonian(precision, starts, steps)
    return Contest(
        ours,
        lambda: _summarise(target, *theirs()),
        tolerance=0.25,
        floor=Floor("the products with the precision matrix", products),
        why="Both estimate from draws of their own, of ten chains: the autocorrelation time is"
        " known to some 7 %.",
    )


def _emcee(target: Target, starts: Floats, steps: int) -> Callable[[], tuple[Floats, float]]:
    import emcee

    def run() -> tuple[Floats, float]:
        sampler = emcee.EnsembleSampler(
            CHAINS, 2, target.log_p, vectorize=True, moves=emcee.moves.GaussianMove(SCALE**2)
        )
        sampler.random_state = np.random.RandomState(1).get_state()
        sampler.run_mcmc(starts, steps)
        return sampler.get_chain(), float(sampler.acceptance_fraction.mean())

    return run


def _random_walk(starts: Floats, steps: int) -> Callable[[], tuple[Floats, float]]:
    import blackjax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    precision = jnp.asarray(np.linalg.inv([[1.0, RHO], [RHO, 1.0]]))

    def log_density(z: Any) -> Any:
        return -z @ precision @ z / 2

    kernel = blackjax.additive_step_random_walk(
        log_density, blackjax.mcmc.random_walk.normal(jnp.full(2, SCALE))
    )

    def one(states: Any, key: Any) -> Any:
        states, info = jax.vmap(kernel.step)(jax.random.split(key, CHAINS), states)
        return states, (states.position, info.is_accepted)

    return _scanned(one, jax.vmap(kernel.init)(jnp.asarray(starts)), steps)


def _hamiltonian(
    precision: Floats, starts: Floats, steps: int
) -> Callable[[], tuple[Floats, float]]:
    import blackjax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    given, mass = jnp.asarray(precision), jnp.ones(DIMENSIONS)
    transition = blackjax.hmc.build_kernel()

    def log_density(z: Any) -> Any:
        return -z @ given @ z / 2

    def single(key: Any, state: Any) -> Any:
        first, second = jax.random.split(key)
        size = SIZE * jax.random.uniform(first, minval=0.9, maxval=1.1)
        return transition(second, state, log_density, size, mass, LEAPS)

    def one(states: Any, key: Any) -> Any:
        states, info = jax.vmap(single)(jax.random.split(key, WIDE), states)
        return states, (states.position, info.is_accepted)

    init = jax.vmap(lambda z: blackjax.hmc.init(z, log_density))
    return _scanned(one, init(jnp.asarray(starts)), steps)


def _scanned(one: Any, states: Any, steps: int) -> Callable[[], tuple[Floats, float]]:
    """All steps in one compiled loop."""
    import jax

    compiled = jax.jit(lambda key: jax.lax.scan(one, states, jax.random.split(key, steps))[1])

    def run() -> tuple[Floats, float]:
        path, accepted = jax.block_until_ready(compiled(jax.random.key(1)))
        return np.asarray(path, dtype=float), float(accepted.mean())

    run()
    return run


CASES: list[Case] = [
    Case(
        "Metropolis, 1,000 chains",
        "emcee, Gaussian moves",
        5,
        partial(metropolis, peer="emcee"),
        size=10_000,
        unit="steps",
        package="emcee",
        sizes=(1250, 2500, 5000, 10_000),
        rounds=3,
    ),
    Case(
        "Metropolis, 1,000 chains",
        "blackjax, compiled",
        1,
        partial(metropolis, peer="blackjax"),
        size=10_000,
        unit="steps",
        package="blackjax",
        rounds=3,
    ),
    Case(
        "hybrid Monte Carlo, 100 dimensions, 100 chains",
        "blackjax, compiled",
        1,
        hybrid,
        size=500,
        unit="steps of 20 leaps",
        package="blackjax",
        sizes=(125, 250, 500, 1000),
        rounds=3,
    ),
]

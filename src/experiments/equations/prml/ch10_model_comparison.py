"""Equations of PRML 10.1.4, a posterior over models and their latent variables."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import softmax

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


class _Case(NamedTuple):
    """Models with latent variables of different sizes, and a distribution over all of them."""

    prior: Floats  # (M,) p(m)
    joint: list[Floats]  # p(Z, X | m) for the states of Z
    q_m: Floats  # (M,) q(m)
    q_z: list[Floats]  # q(Z | m)


def _case(rng: Generator) -> _Case:
    M = int(rng.integers(2, 5))
    sizes = rng.integers(2, 9, M)
    joint = [rng.gamma(0.7, size=n) * rng.uniform(0.01, 0.3) + 1e-3 for n in sizes]
    q_z = [rng.dirichlet(np.full(n, 0.8)) for n in sizes]
    return _Case(rng.dirichlet(np.full(M, 2.0)), joint, rng.dirichlet(np.full(M, 1.5)), q_z)


def _joint_bound(case: _Case) -> float:
    """The bound (10.35), a sum over all models and their latent variables."""
    q = np.concatenate([share * q for share, q in zip(case.q_m, case.q_z, strict=True)])
    p = np.concatenate([share * p for share, p in zip(case.prior, case.joint, strict=True)])
    return float((q * np.log(p / q)).sum())


@equation(
    "10.34, 10.35",
    section="10.1.4",
    latex=r"\ln p(\mathbf{X}) = \mathcal{L}_m - \sum_m \sum_{\mathbf{Z}} q(\mathbf{Z}|m)q(m) \ln"
    r" \left\{ \frac{p(\mathbf{Z}, m|\mathbf{X})}{q(\mathbf{Z}|m)q(m)} \right\}, \quad"
    r" \mathcal{L}_m = \sum_m \sum_{\mathbf{Z}} q(\mathbf{Z}|m)q(m) \ln \left\{ \frac{p(\mathbf{Z},"
    r" \mathbf{X}, m)}{q(\mathbf{Z}|m)q(m)} \right\}",
)
def model_decomposition(rng: Generator) -> Sides:
    """The log probability of the data as a bound and a divergence over models."""
    case = _case(rng)
    evidence = sum(share * p.sum() for share, p in zip(case.prior, case.joint, strict=True))
    bound = divergence = 0.0
    for m, q_m in enumerate(case.q_m):
        q = case.q_z[m] * q_m
        p = case.joint[m] * case.prior[m]
        bound = bound + (q * np.log(p / q)).sum()
        divergence = divergence - (q * np.log(p / evidence / q)).sum()
    return Sides(truth=np.log(evidence), printed=bound + divergence)


@equation(
    "10.36",
    section="10.1.4",
    latex=r"q(m) \propto p(m) \exp\{\mathcal{L}_m\}, \quad \mathcal{L}_m \text{ of (10.35)}",
    corrected=r"q(m) \propto p(m) \exp \left\{ \sum_{\mathbf{Z}} q(\mathbf{Z}|m) \ln"
    r" \frac{p(\mathbf{Z}, \mathbf{X}|m)}{q(\mathbf{Z}|m)} \right\}",
    cause="one-symbol-for-two-bounds",
    within=1e-6,
)
def model_probabilities(rng: Generator) -> Sides:
    """The q(m) that maximises the bound (10.35), by a search over the simplex."""
    case = _case(rng)

    def loss(values: Floats) -> float:
        return -_joint_bound(case._replace(q_m=softmax(values)))

    start = np.zeros(len(case.prior))
    best = minimize(loss, start, method="BFGS", options={"gtol": 1e-9}, jac="3-point").x
    own = [(q * np.log(p / q)).sum() for p, q in zip(case.joint, case.q_z, strict=True)]
    printed = case.prior * np.exp(_joint_bound(case))
    corrected = case.prior * np.exp(own)
    return Sides(
        truth=softmax(best),
        printed=printed / printed.sum(),
        corrected=corrected / corrected.sum(),
    )

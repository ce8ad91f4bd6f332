r"""The variational bound of a model with a known posterior: Bayesian linear regression (FCML 7.4).

    w ~ N(0, I),   t | w ~ N(Phi w, sigma^2 I),   Q(w) = N(m, V)

    L(Q) = <log p(t | w)> + <log p(w)> - <log Q(w)>                                   (7.6)

The bound is the log evidence less the divergence of Q from the posterior, (7.7): they are equal for
Q = p(w | t) and for no other Q (exercise 7.1).
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.probability.gaussian import log_density
from bythebook.models.regression.bayesian_regression import posterior
from bythebook.models.types import Floats


def bound(Phi: Floats, t: Floats, sigma2: float, m: Floats, V: Floats) -> float:
    """L(Q) for design (N, D), targets (N,) and Q = N(m, V)."""
    N, D = Phi.shape
    residual = t - Phi @ m
    spread = np.einsum("nd,de,ne->", Phi, V, Phi)  # Tr(Phi V Phi^T)
    likelihood = -(N * np.log(2 * np.pi * sigma2) + (residual @ residual + spread) / sigma2) / 2
    prior = -(D * np.log(2 * np.pi) + m @ m + np.trace(V)) / 2
    entropy = (D * (1 + np.log(2 * np.pi)) + np.linalg.slogdet(V)[1]) / 2
    return float(likelihood + prior + entropy)  # (7.6)


class Example(NamedTuple):
    """A regression drawn from the model, with its posterior and log evidence."""

    Phi: Floats  # (N, D)
    t: Floats  # (N,)
    sigma2: float
    m: Floats  # (D,) E[w | t]
    V: Floats  # (D, D) cov[w | t]
    log_evidence: float  # ln p(t)

    def bound(self, m: Floats, V: Floats) -> float:
        """L(Q) for Q = N(m, V)."""
        return bound(self.Phi, self.t, self.sigma2, m, V)


def example(N: int, D: int, sigma2: float, rng: np.random.Generator) -> Example:
    """N observations with standard normal inputs, weights from their prior."""
    Phi = rng.standard_normal((N, D))
    t = Phi @ rng.standard_normal(D) + np.sqrt(sigma2) * rng.standard_normal(N)
    m, V = posterior(Phi, t, sigma2, np.zeros(D), np.eye(D))
    evidence = log_density(t[None], np.zeros(N), sigma2 * np.eye(N) + Phi @ Phi.T)[0]
    return Example(Phi, t, sigma2, m, V, float(evidence))

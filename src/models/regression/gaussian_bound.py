r"""The variational bound of a model with a known posterior: Bayesian linear regression (FCML 7.4).

    w ~ N(0, I),   t | w ~ N(Phi w, sigma^2 I),   Q(w) = N(m, V)

    L(Q) = <log p(t | w)> + <log p(w)> - <log Q(w)>                                   (7.6)

The bound is the log evidence less the divergence of Q from the posterior, (7.7): they are equal for
Q = p(w | t) and for no other Q (exercise 7.1).
"""

import numpy as np

from models.types import Floats


def bound(Phi: Floats, t: Floats, sigma2: float, m: Floats, V: Floats) -> float:
    """L(Q) for design (N, D), targets (N,) and Q = N(m, V)."""
    N, D = Phi.shape
    residual = t - Phi @ m
    spread = np.einsum("nd,de,ne->", Phi, V, Phi)  # Tr(Phi V Phi^T)
    likelihood = -(N * np.log(2 * np.pi * sigma2) + (residual @ residual + spread) / sigma2) / 2
    prior = -(D * np.log(2 * np.pi) + m @ m + np.trace(V)) / 2
    entropy = (D * (1 + np.log(2 * np.pi)) + np.linalg.slogdet(V)[1]) / 2
    return float(likelihood + prior + entropy)  # (7.6)

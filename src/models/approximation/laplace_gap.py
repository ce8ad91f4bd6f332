r"""The integral of likelihood times prior by Laplace and by a sum, for two weights.

Laplace's is exact where the product is a Gaussian in w. The prior is N(0, I); likelihoods are
`gaussian` (targets with noise of variance one) and `sigmoid` (labels).
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from bythebook.models.types import Floats

LIKELIHOODS = ("gaussian", "sigmoid")


def log_product(w: Floats, Phi: Floats, t: Floats, likelihood: str) -> Floats:
    """Log of likelihood times prior for weights (..., 2); labels are the signs of targets t."""
    a = w @ Phi.T
    if likelihood == "gaussian":
        log_l = -((t - a) ** 2 + np.log(2 * np.pi)).sum(-1) / 2
    else:
        log_l = -np.logaddexp(0, -np.sign(t) * a).sum(-1)
    return np.asarray(log_l - (w**2).sum(-1) / 2 - np.log(2 * np.pi))


def integrals(Phi: Floats, t: Floats, likelihood: str) -> tuple[float, float]:
    """The log integral by Laplace, and by a fine sum over the plane, for Phi (N, 2)."""

    def height(w: Floats) -> float:
        return -float(log_product(w, Phi, t, likelihood))

    best = minimize(height, np.zeros(2), method="BFGS", options={"gtol": 1e-9}).x
    h, eye = 1e-3, np.eye(2)
    corners = np.array([[(a + b, a - b, b - a, -a - b) for b in h * eye] for a in h * eye])
    A = -log_product(best + corners, Phi, t, likelihood) @ [1, -1, -1, 1] / (4 * h**2)
    laplace = -height(best) + np.log(2 * np.pi) - np.linalg.slogdet(A).logabsdet / 2
    side = np.linspace(-9, 9, 401)  # no posterior is wider than the prior
    plane = best + np.stack(np.meshgrid(side, side), axis=-1)
    total = logsumexp(log_product(plane, Phi, t, likelihood))
    return float(laplace), float(total + 2 * np.log(side[1] - side[0]))
